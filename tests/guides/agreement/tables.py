"""Figures that the documents for programs state: the design document, the workbook and the tables."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from tests.guides.agreement.figures import Statement, plain_name, stage_key
from tests.guides.agreement.finished import DESIGN, WORKBOOK, Finished
from tests.guides.agreement.printed import Span, chance, count, exactly, in_unit, rounded

# Cells of the summary sheet: label, figure, reading.
_COUNTS = {name: name for name in ("GPU servers", "GPUs")} | {"Racks": "racks", "Storage nodes": "storage nodes"}
_QUANTITIES = {
    "Usable capacity": "usable capacity",
    "Rack units": "rack units",
    "Power, maximum": "maximum power",
    "Power, typical": "typical power",
}
_COLUMNS = {"ports used": "Ports used", "ports free": "Ports free", "end points": "End points"}
_SWITCHES = ("Leaves", "Spines", "Cores", "Gateways")


def listed(found: Finished) -> Iterator[Statement]:
    """Every figure that they state."""
    if found.design:
        yield from _design(found.design)
    if found.sheets:
        yield from _summary_sheet(found)
        yield from _networks_sheet(found.sheets["Networks"])
    for name in found.tables:
        yield from {"bom.csv": _bill, "cables.csv": _cables, "addresses.csv": _addresses}[name](found)


Fact = tuple[str, str, Any, str]  # figure, key, value, what it is of
_OF_THE_DESIGN = {
    "GPU servers": "n_servers",
    "GPUs": "n_gpus",
    "rack units": "rack_units",
    "maximum power": "power_max_w",
    "typical power": "power_typical_w",
    "confidence": "probability",
    "storage nodes": "storage_nodes",
    "usable capacity": "usable_bytes",
}
_ENDS = {"rate": "value", "rate, lower end": "low", "rate, upper end": "high"}


def _design(document: dict[str, Any]) -> Iterator[Statement]:
    facts = chain(_whole(document), *map(_workload, document["design"]["workloads"]))
    for figure, where, value, of in facts:
        if value is not None:
            printed = value if isinstance(value, str) else exactly(float(value))
            yield Statement(figure, of, printed, DESIGN, where, str(value))


def _whole(document: dict[str, Any]) -> Iterator[Fact]:
    design, bill, plan = document["design"], document["bill"], document["plan"]
    for figure, key in _OF_THE_DESIGN.items():
        if design[key] != 0:
            yield figure, f"design.{key}", design[key], ""
    for number, tier in enumerate(design["tiers"], 1):
        of = "" if len(design["tiers"]) == 1 else f"tier {number}"
        yield "usable capacity", f"design.tiers.{number}.usable_bytes", tier["usable_bytes"], of
    yield "GPUs", "design.n_servers × gpus_per_server", design["n_servers"] * design["gpus_per_server"], ""
    bound = "at least" if design["unknown_power"] else "complete"
    yield "power is a lower bound", "design.unknown_power", bound, ""
    yield "racks", "plan.racks", len(plan["racks"]), ""
    yield "racks", "design.racks", design["racks"], ""
    there = sum(rack["is_existing"] for rack in plan["racks"])
    yield "racks", "design.new_racks and existing ones", design["new_racks"] + there, ""
    for figure, key in (("maximum power", "power_max_w"), ("typical power", "power_typical_w")):
        yield figure, f"plan.racks[].{key}", sum(rack[key] for rack in plan["racks"]), ""
    yield "cables", "plan.links", sum(plan["links"].values()), ""
    for item, number in plan["cable_items"].items():
        yield "cables of a kind", f"plan.cable_items.{item}", number, item
    for item in plan["cable_items"]:
        lines = [line for line in bill["lines"] if line["item"] == item and line["group"] == "cluster"]
        if lines:
            where = " and ".join(f"bill line {line['line']}" for line in lines)
            yield "cables of a kind", where, sum(line["quantity"] for line in lines), item
    yield "lines to be quoted", "bill.unpriced", len(bill["unpriced"]), ""
    yield "assumptions", "assumptions", len(document["assumptions"]), ""
    for net in design["networks"]:
        for figure in ("ports_used", "ports_free", "end_points"):
            of = plain_name(net["name"])
            yield figure.replace("_", " "), f"networks.{net['name']}.{figure}", net[figure], of


def _workload(one: dict[str, Any]) -> Iterator[Fact]:
    name, where = one["name"], f"workloads.{one['name']}"
    for figure, key in _ENDS.items():
        yield figure, f"{where}.samples_per_s.{key}", one["samples_per_s"][key], name
    yield "confidence of a workload", f"{where}.probability", one["probability"], name
    yield "bottleneck", f"{where}.bottleneck", one["bottleneck"], name
    if one["time"] is not None:
        yield "time to train", f"{where}.time.total_s", one["time"]["total_s"]["value"], name
    for key, stage in one["stages"].items():
        at, of = f"{where}.stages.{key}", f"{name}: {key}"
        yield "capacity", f"{at}.capacity_samples_per_s", stage["capacity_samples_per_s"]["value"], of
        if stage["capacity_samples_per_s"]["value"] is not None:
            yield "utilization", f"{at}.load_fraction", stage["load_fraction"], of


def _summary_sheet(found: Finished) -> Iterator[Statement]:
    for row_number, row in enumerate(found.sheets["Summary"], 1):
        label, value, unit, note = (str(row[i] or "") if i < len(row) else "" for i in range(4))

        def say(figure: str, printed: Span | str, of: str = "", column: str = "B", label: str = label) -> Statement:
            cell = f"sheet Summary, cell {column}{row_number}"  # noqa: B023
            text = note if column == "D" else f"{value} {unit}".strip()  # noqa: B023
            return Statement(figure, of, printed, WORKBOOK, cell, f"{label}: {text}")

        what, _, workload = label.partition(", ")
        if label in _COUNTS and value != "none":
            yield say(_COUNTS[label], count(value))
        elif label in _QUANTITIES:
            yield say(_QUANTITIES[label], in_unit(value, unit))
            if what == "Power":
                bound = "at least" if note.startswith("at least; ") else "complete"
                yield say("power is a lower bound", bound, column="D")
        elif what == "Throughput":
            yield say("rate", in_unit(value, unit), workload)
            span, _, stage = note.partition("; bottleneck: ")
            yield say("bottleneck", stage_key(stage), workload, "D")
            low, high = span.removeprefix("90 % interval ").split(" to ")
            yield say("rate, lower end", rounded(low), workload, "D")
            yield say("rate, upper end", rounded(high), workload, "D")
        elif what == "Time to train":
            yield say("time to train", in_unit(value, unit), workload)
        elif what == "Target" and "%" in note:
            yield say(
                "confidence of a workload", chance(note.partition("probability of meeting it: ")[2]), workload, "D"
            )


def _networks_sheet(rows: list[list[Any]]) -> Iterator[Statement]:
    head = next(i for i, row in enumerate(rows) if row[0] == "Network")
    switches = 0
    for number, row in enumerate(rows[head + 1 :], head + 2):
        if not row[0]:
            break
        cells = dict(zip(rows[head], row, strict=False))
        for figure, column in _COLUMNS.items():
            where = f"sheet Networks, row {number}, {column}"
            quote = f"{row[0]}: {cells[column]}"
            yield Statement(figure, plain_name(str(row[0])), exactly(cells[column]), WORKBOOK, where, quote)
        switches += sum(int(cells[column] or 0) for column in _SWITCHES)
    yield Statement(
        "switches and gateways", "", exactly(switches), WORKBOOK, "sheet Networks", f"{switches} switches and gateways"
    )


def _bill(found: Finished) -> Iterator[Statement]:
    rows = found.tables["bom.csv"]
    servers = [row for row in rows if row["Description"].startswith("GPU server:")]
    total = sum(int(row["Qty"]) for row in servers)
    if servers:
        lines = " and ".join(row["Line"] for row in servers)
        yield Statement("GPU servers", "", exactly(total), "bom.csv", f"line {lines}", f"Qty {total}")


def _cables(found: Finished) -> Iterator[Statement]:
    rows = found.tables["cables.csv"]
    yield Statement("cables", "", exactly(len(rows)), "cables.csv", "all rows", f"{len(rows)} cables")
    ends = {(row[f"{end}-Node Name"], row[f"{end}-Port"]) for row in rows for end in "AZ"}
    hosts = {node for node, _ in ends if node.startswith("gpu-")}
    if hosts:
        quote = f"{len(hosts)} names of GPU servers"
        yield Statement("GPU servers", "", exactly(len(hosts)), "cables.csv", "all rows", quote)


def _addresses(found: Finished) -> Iterator[Statement]:
    hosts = {row["Device"] for row in found.tables["addresses.csv"] if row["Device"].startswith("gpu-")}
    if hosts:
        quote = f"{len(hosts)} names of GPU servers"
        yield Statement("GPU servers", "", exactly(len(hosts)), "addresses.csv", "all rows", quote)
