"""Commands that answer one question: the answer for machines, options that go before the request, and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

EXAMPLES = data_dir("examples")
QUESTIONS = EXAMPLES / "questions"
VERDICT, INGEST, GROW, FAILURES, RENT, TEAM, SCALE, OWNERSHIP = (
    QUESTIONS / f"{name}.toml"
    for name in (
        "do-we-need-a-cluster",
        "how-long-to-fill",
        "images-grow-tenfold",
        "one-server-may-fail",
        "rent-or-buy",
        "forty-data-scientists",
        "scale-up-or-out",
        "cost-of-ownership",
    )
)


def answer(*arguments: object) -> dict[str, Any]:
    """What a command prints for machines."""
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


PLAIN = '[[workload]]\ndnn = "resnet50"\ntarget = { gpus_busy = 8 }\n'
TEN_YEARS = GROW.read_text(encoding="utf-8").replace("years = 2", "years = 10\ndata = 10")


@pytest.mark.parametrize(
    ("text", "command", "status", "words"),
    [
        (PLAIN + '[data]\ningest = "usb"\n', ["ingest"], 2, ["data.ingest"]),
        (PLAIN, ["grow"], 2, ["growth is missing", "[growth]"]),
        (TEN_YEARS, ["grow"], 2, ["of growth", "dataset_bytes"]),  # beyond every catalogue: the year is named
        (EXAMPLES / "small-team.toml", ["team"], 2, ["has no [team]", "wait_s"]),
        (SCALE, ["scale", "--gpus", "8;16"], 2, ["'8;16' is not a number of GPUs"]),
        (SCALE, ["scale", "--gpus", "0"], 2, ["the number of GPUs is 0; allowed are 1 to 10000"]),
        (FAILURES, ["failures", "--without", "serv"], 2, ["--without", "serv", "did you mean 'server'"]),
        (EXAMPLES / "small-team.toml", ["failures", "--without", "storage-node"], 4, ["HNAS", "survives the loss"]),
        (EXAMPLES / "dgx1-f800-resnet50.toml", ["rent"], 2, ["no [rental] table", "--rate"]),
        (RENT, ["rent", "--rate", "0"], 2, ["per_gpu_hour", "greater than 0"]),
        (RENT, ["rent", "--rate", "1e5"], 2, ["per_gpu_hour", "is not a price"]),
        (RENT, ["rent", "--use", "1.5"], 2, ["utilization_fraction"]),
        (EXAMPLES / "small-team.toml", ["ownership"], 2, ["no [ownership] table", "--years"]),
        (OWNERSHIP, ["ownership", "--years", "0"], 2, ["ownership.years", "between 1 and 15"]),
        (OWNERSHIP, ["ownership", "--electricity", "nan"], 2, ["electricity_per_kwh", "is not a price"]),
        (OWNERSHIP, ["ownership", "--electricity", "-1"], 2, ["electricity_per_kwh", "is not a price"]),
        *((None, [name], 2, ["none.toml"]) for name in ("verdict", "failures", "rent", "ownership")),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(
    tmp_path: Path, text: str | Path | None, command: list[str], status: int, words: list[str]
) -> None:
    request = text if isinstance(text, Path) else tmp_path / ("none.toml" if text is None else "request.toml")
    if isinstance(text, str):
        request.write_text(text, encoding="utf-8")
    refused(run(command[0], request, *command[1:]), status, *words)


def test_ingest() -> None:
    """22.2 TB x 1.7 and ten checkpoints of 204.8 MB; 40 Gbit/s of source; 1 GB/s is the only published write rate."""
    found = answer("ingest", INGEST)
    assert found["capacity"]["must_fit_bytes"] == 22.2e12 * 1.7 + 10 * 8 * 25.6e6
    ways = {entry["key"]: entry for entry in found["ingest"]["ways"]}
    assert found["ingest"]["chosen"] == "gateway"
    assert (ways["gateway"]["least_s"], ways["gateway"]["published_s"]) == (4440, 22_200)
    assert ways["head-node"]["least_s"] == 17_760
    assert found["local_copies"][0]["break_even_epoch"] is None
    assert found["local_copies"][0]["fits"] is False


def test_grow() -> None:
    plan = answer("grow", GROW)
    (platform,) = plan["platforms"]
    assert (plan["years_covered"], plan["stops"]) == (2, None)
    assert [year["owned"] for year in platform["best"]["years"]] == [
        {"servers": 9, "storage_nodes": 4},
        {"servers": 9, "storage_nodes": 8},
    ]
    assert platform["best"]["years"][1]["bought"]["isilon-f800"] == 1  # a chassis of four nodes
    assert platform["best"]["cost"]["amount"] == "1341000.00"  # nine DGX-1 at USD 149,000 (tweaktown-gtc17)
    assert plan["asked"][1]["workloads"][0]["sample_bytes"] > 1.29e6


def test_rent_to_the_cent() -> None:
    """One DGX-1 at 149,000 (price book), 10 % a year; 210,240 GPU-hours x 60 % x 2.48 = 312,837.12."""
    found = answer("rent", RENT)
    buying = found["buying"]
    assert (buying["purchase"], buying["care"]) == ("149000.00", "44700.00")
    assert buying["missing"] == ["prices"]  # every draw is known or assumed
    assert found["renting"]["total"] == "312959.62"  # 0.1448 TB x 36 x 23.5 = 122.50
    assert float(buying["energy"]) - buying["energy_kwh"] * 0.145 < 0.006
    known = sum(float(buying[key]) for key in ("purchase", "renewals", "care", "energy"))
    # Lines await a quote: a budget for them in place of a total.
    assert buying["total"] is found["break_even_fraction"] is None
    assert 0 < float(found["open_prices_at_most"]) < 312_959.62 - known
    text = run("rent", RENT).stdout
    # Whatever the quotes say: the year's care, energy and the least price cost more than 312,959.62.
    assert " ".join(text.splitlines()[:2]).endswith("buying costs USD 0.44 to 1.7 million: rent.")
    assert max(map(len, text.splitlines())) <= 110
    # Twice the rate, half the hours.
    assert answer("rent", RENT, "--rate", "4.96", "--use", "0.3")["renting"]["total"] == "312959.62"
    assert run("rent", EXAMPLES / "dgx1-f800-resnet50.toml", "--rate", 3).returncode == 0


def test_ownership_to_the_cent() -> None:
    """Two DGX-1 at 149,000; 10 % of 298,000 a year; energy and space from the draw and the units of the design."""
    found = answer("ownership", OWNERSHIP)
    kinds = found["by_kind"]
    # Lines await a quote, and what rests on them has no amount.
    assert kinds["purchase"] is kinds["support"] is kinds["care"] is found["by_year"][0]["total"] is None
    assert abs(float(kinds["energy"]) - found["energy_kwh"] * 0.20) < 0.006
    known = 298_000 + 5 * 29_800 + float(kinds["energy"]) + float(kinds["space"])
    # No total, but a range above what is known.
    assert found["missing"] == ["prices"]
    assert found["total"] is found["cost_per_hour_used"] is found["runs"][0]["cost"] is None
    assert known <= found["interval"]["low"] < found["interval"]["expected"] < found["interval"]["at_confidence"]
    assert max(map(len, run("ownership", OWNERSHIP).stdout.splitlines())) <= 110
    cheaper = answer("ownership", OWNERSHIP, "--years", 3, "--electricity", "0.40")
    assert len(cheaper["by_year"]) == 3
    assert abs(float(cheaper["by_kind"]["energy"]) - cheaper["energy_kwh"] * 0.40) < 0.006


def test_a_customers_copy_has_the_same_amounts_and_the_same_interval() -> None:
    ours, theirs = (answer("ownership", OWNERSHIP, *more) for more in ((), ("--customer-copy",)))
    assert ours["interval"] is not None
    assert ours == theirs
