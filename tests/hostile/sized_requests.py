"""Requests at the edges of their schema, sized with all files: ``python -m tests.hostile.sized_requests NUMBER COUNT``.

A request that the schema takes is answered or refused with a sentence, in bounded time and memory, whatever its numbers
are. Each begins as a plausible one of some kind of work; a few fields of the schema are then set to their least or
most, next to it, or anywhere between. What failed is kept in the folder ``sized`` beside this file.
"""

import json
import math
import random
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sizer import InfeasibleError, SizingRequest, size
from sizer.base.errors import RequestError
from sizer.calibrate.calibration import stored_calibration
from sizer.documents import USUAL, document
from sizer.guide.pdf.render import guide_page
from sizer.guide.profile import Edition
from sizer.sizing.stages.gpu_memory import resolved
from tests.differential.drawn import request_data
from tests.hostile.harness import Ended, Entry, Limits, command, run
from tests.hostile.warm import CATALOG

KEPT = Path(__file__).with_name("sized")
LIMITS = Limits(cpu_s=60, most_bytes=1_500_000_000, wait_s=1_500)
# Of one PDF in a few only: typesetting takes longer than everything else, and its pages are made of every request.
_PDF_EVERY = 12
_PDFS: tuple[Any, ...] = ("engineer", "summary", "pdf")
_FORMS: dict[str, Any] = {"engineer": "engineer", "summary": "summary"}
QUESTIONS = ("scale", "team", "ownership", "rent", "verdict", "ingest", "grow", "failures", "goodput")
# Most requests that the schema or the catalogue refuses are drawn again: other entries are about refusals.
_REFUSED_SHARE = 0.98
# Tables without which most of their fields mean nothing.
_TABLES: dict[str, dict[str, Any]] = {
    "team": {
        "wait_s": "30 min",
        "data_scientists": 5,
        "job": [
            {"name": "trainings", "gpus": 2, "jobs_a_day": 5, "duration_s": "2 h"},
            {"name": "notebooks", "kind": "notebook", "gpus": 1, "always_running": 3},
        ],
    },
    "growth": {"years": 3, "data": 1.5},
    "rental": {"per_gpu_hour": "2.5"},
    "ownership": {"years": 5, "electricity_per_kwh": "0.2"},
    "data": {"checkpoint_every_s": "1 h", "working_set_bytes": "50 TB", "daily_ingest_bytes": "2 TB"},
    "existing": {"racks": [{"name": "A1", "free_u": 20, "power_w": 8000}]},
    "quote": {"line": [{"description": "Training", "unit_price": "100", "category": "service", "quantity": 1}]},
}
_PARTS = {
    "dnn": CATALOG.dnns,
    "like": CATALOG.dnns,
    "version_of": CATALOG.dnns,
    "stack": CATALOG.stacks,
    "dataset": CATALOG.datasets,
    "recipe": CATALOG.recipes,
    "servers": CATALOG.servers,
    "forbidden_servers": CATALOG.servers,
    "gpus": CATALOG.gpus,
    "gpu": CATALOG.gpus,
    "generations": CATALOG.generations,
    "storage": CATALOG.storage,
    "forbidden_storage": CATALOG.storage,
    "storage_nodes": CATALOG.storage,
    "capacity_tier": CATALOG.storage,
    "fabrics": CATALOG.links,
    "switches": CATALOG.switches,
    "rack": CATALOG.racks,
    "pdu": CATALOG.pdus,
    "network_pdu": CATALOG.pdus,
}
_SERVED = ("llama-3-8b", "llama-3-70b", "mixtral-8x7b", "qwen3-32b", "llama-3.1-405b", "gpt-oss-120b", "deepseek-v3")
_SERVING_SERVERS = ("dgx-h100", "dgx-b200", "xe9680", "sys-821ge-tnhr", "xe9680-mi300x", "r760xa", "dgx-a100")
# Keys whose texts a person writes, and others that the base sets.
_LEFT = ("schema_version", "customer", "currency", "exchange_rate_usd", "maximum", "published_in")


@cache
def _schema() -> dict[str, Any]:
    return SizingRequest.model_json_schema()


def _node(node: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to; of several kinds of value the first that is not null."""
    while "$ref" in node or "anyOf" in node:
        if "$ref" in node:
            node = _schema()["$defs"][node["$ref"].rpartition("/")[2]]
        else:
            node = next(one for one in node["anyOf"] if one.get("type") != "null")
    return node


def _fields(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every field of the request that is no table: its keys and its part of the schema."""
    node = _node(node)
    if "properties" in node:
        for key, inner in node["properties"].items():
            yield from _fields(inner, (*path, key))
    elif node.get("type") == "array" and "properties" in _node(node["items"]):
        yield from _fields(node["items"], path)
    elif path[-1] not in _LEFT:
        yield path, node


def _edge(rng: random.Random, low: float, high: float) -> float:
    """A number of a range: least, most, next to them, nothing or nearly nothing where that is allowed, or between."""
    least = max(low, 1e-300)
    between = math.exp(rng.uniform(math.log(least if low else 1e-6), math.log(high)))
    edges = [low, high, math.nextafter(high, 0), low * (1 + 1e-12), between, between, between]
    return rng.choice([*edges, 5e-324, 1e-12] if low == 0 else edges)


def _value(rng: random.Random, key: str, node: dict[str, Any]) -> Any:
    node = _node(node)
    kind = node.get("type")
    if "enum" in node:
        return rng.choice(node["enum"])
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("number", "integer"):
        if "minimum" not in node and "maximum" not in node:  # money, which a text writes
            return rng.choice(("0", "0.01", "100", "33.33", "9999999999", "99.99"))
        low, high = max(node["minimum"], node.get("ge", -math.inf)), min(node["maximum"], node.get("le", math.inf))
        number = _edge(rng, low, high)
        return int(number) if kind == "integer" else number
    if kind == "array":
        return [_value(rng, key, node["items"]) for _ in range(rng.choice((1, 1, 2, 4)))]
    if kind == "object":  # counts by part
        return {
            _value(rng, key, {"type": "string"}): rng.choice((1, 2, 50, 100_000)) for _ in range(rng.choice((1, 2)))
        }
    if node.get("format") == "date":
        return rng.choice(("2000-01-01", "2026-11-21", "2100-12-31", "2019-03-01"))
    if key in _PARTS:
        return rng.choice(sorted(_PARTS[key]))
    longest = node.get("maxLength", 60)
    return rng.choice(("x", "W" * longest, "A name, and more"[:longest]))


def _base(seed: str, number: int, rng: random.Random) -> dict[str, Any]:
    """A plausible request of some kind of work."""
    if rng.random() < 0.6:
        return request_data(seed, number)
    task = rng.choice(("serving", "serving", "generation"))
    target: Any = rng.choice(({"requests_per_s": rng.choice((0.1, 5, 80))}, {"tokens_per_s": 5e4}, {"gpus_busy": 8}))
    if task == "serving" and rng.random() < 0.4:
        target = rng.choice(({"concurrent_requests": 64}, {"active_users": 200}, {"users": 5_000}))
    work = {"name": "model", "task": task, "dnn": rng.choice(_SERVED), "target": target}
    if task == "serving":
        work["use"] = rng.choice(("chat", "rag", "code", "summary", "reasoning"))
    return {
        "date": "2026-11-28",
        "workload": [work],
        "platforms": {"servers": rng.sample(_SERVING_SERVERS, rng.choice((1, 2)))},
    }


def _set(data: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set a field, with the tables around it; of a list of tables that of its first."""
    place: Any = data
    for depth, key in enumerate(path[:-1]):
        inner = place.get(key)
        if not isinstance(inner, dict | list) or not inner:
            inner = place[key] = json.loads(json.dumps(_TABLES.get(key, {}))) if depth == 0 else {}
        place = inner[0] if isinstance(inner, list) else inner
        if not isinstance(place, dict):
            return
    if path[-2:-1] == ("target",):
        place.clear()
    place[path[-1]] = value


def drawn(seed: str, number: int) -> dict[str, Any]:
    """A request that the schema takes: the same for the same seed and number."""
    fields = list(_fields(_schema()))
    tables: dict[str, list[Any]] = {}
    for path, node in fields:
        tables.setdefault(path[0] if len(path) > 1 else "", []).append((path, node))
    rng = random.Random(f"sized {seed} {number}")
    while True:
        data = _base(seed, number, rng)
        for _ in range(rng.choice((1, 2, 3, 5))):
            # Half by table, so that small tables are drawn as well as the large one of the work.
            choices = tables[rng.choice(sorted(tables))] if rng.random() < 0.5 else fields
            path, node = rng.choice(choices)
            _set(data, path, _value(rng, path[-1], node))
        data = json.loads(json.dumps(data))
        try:
            resolved(SizingRequest.from_dict(data), CATALOG, stored_calibration())
        except RequestError:
            if rng.random() < _REFUSED_SHARE:
                continue
        return data


def sized_with_all_files(argument: tuple[dict[str, Any], bool, str]) -> None:
    """Size a request, make its files, and answer one question about it."""
    data, with_pdf, question = argument
    from sizer.sizing.customer_copy import customer_copy

    result = size(SizingRequest.from_dict(data), CATALOG)
    for kind in USUAL:
        if kind in _FORMS and not with_pdf:
            guide_page(result, CATALOG, Edition(_FORMS[kind]))
        elif kind != "pdf" or with_pdf:
            document(result, CATALOG, kind)
    customer_copy(result)
    Path("request.json").write_text(json.dumps(data), encoding="utf-8")
    try:
        command((question, "request.json"))
    except (InfeasibleError, RequestError) as error:  # a question that this request does not have
        sys.stderr.write(f"{question}: {error}\n")


def entry(name: str, data: dict[str, Any], number: int) -> Entry:
    question = QUESTIONS[number % len(QUESTIONS)]
    return Entry(name, sized_with_all_files, (data, number % _PDF_EVERY == 0, question), leaves=("request.json",))


def fault(ended: Ended) -> str:
    """What is wrong with how an entry ended; "" where it was answered or refused with a sentence."""
    refusals = {error.exit_status for error in (RequestError, InfeasibleError)}
    if "Traceback" in ended.stderr or 'File "' in ended.stderr or ended.status not in (0, *refusals):
        return f"status {ended.status}: {ended.stderr[-3000:]}"
    return "" if ended.status == 0 or ended.stderr.strip() else "refused without a sentence"


def kept() -> list[tuple[str, dict[str, Any]]]:
    """Requests that failed before."""
    return [(path.stem, json.loads(path.read_text("utf-8"))) for path in sorted(KEPT.glob("*.json"))]


def failing(seed: int, count: int) -> dict[int, str]:
    """What is wrong with some drawn requests, by their numbers; those that are right are left out."""
    ended = {number: run(entry(str(number), drawn(str(seed), number), number), LIMITS) for number in range(count)}
    return {number: wrong for number, one in ended.items() if (wrong := fault(one))}


def main() -> None:
    """Size so many drawn requests from a number on; keep those that fail."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    failed = 0
    for number in range(first, first + count):
        data = drawn("sized", number)
        begun = time.monotonic()
        wrong = fault(ended := run(entry(str(number), data, number), LIMITS))
        sys.stdout.write(
            f"{number}: status {ended.status}, {time.monotonic() - begun:.0f} s, {ended.cpu_s:.1f} s of a "
            f"processor, {ended.peak_bytes / 1e6:.0f} MB{'; FAILED: ' + wrong if wrong else ''}\n"
        )
        sys.stdout.flush()
        if wrong:
            failed += 1
            KEPT.mkdir(exist_ok=True)
            (KEPT / f"{number}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{count} requests that the schema takes, {failed} of them failed\n")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
