"""Which write rate of the storage pays for itself: GPU time that it saves compared with the storage that it takes.

Both are amounts in price bands, which rank and are never quoted: only their ratio is an answer.
"""

import math
from dataclasses import dataclass
from enum import Enum

from sizer.base.quantities import by_count, grouped, si, significant
from sizer.bom.prices import PriceBook, prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.capacity import counts_nodes, node_limits, nodes_per_unit
from sizer.present.availability import share_text
from sizer.present.plain_table import table_text
from sizer.present.tables import Field, Table, record_table
from sizer.questions.failures.goodput import GoodputAnswer, GoodputQuestion, goodput_answer
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.storage_rates import node_write_rates, write_rate_is_unknown

# Years over which servers and storage are written off. A choice of ours, the middle of the usual three to five.
YEARS = 4.0
_WEEKS_A_YEAR = 365.25 / 7
_HOURS_A_WEEK = 7 * 24
_FACTORS = (1, 2, 3, 4, 6, 8)
_LITTLE = 0.01


class Pays(Enum):
    """Whether storage pays for itself by the GPU time that it saves."""

    YES = "yes"  # at the lowest price of GPU time and the highest of storage
    OPEN = "open"
    NO = "no"
    IS_PLANNED = "planned"


_VERDICTS = {Pays.YES: "yes", Pays.OPEN: "depends on the quotes", Pays.NO: "no", Pays.IS_PLANNED: "planned"}


@dataclass(frozen=True)
class MoreStorage:
    """Another number of storage nodes for the same job."""

    nodes: int
    write_bytes_per_s: float
    goodput: float
    gpu_hours_per_week: float  # gained over the nodes planned
    ratio: tuple[float, float] | None  # GPU time saved over storage bought, low and high; None: of the nodes planned
    pays: Pays


@dataclass(frozen=True)
class StorageWorth:
    """More storage nodes, and the most of them that pay for themselves for certain."""

    rows: tuple[MoreStorage, ...]

    @property
    def pays_up_to(self) -> MoreStorage:
        """The fastest storage of which every price in its band says that it pays, or what is planned."""
        sure = [row for row in self.rows if row.pays in (Pays.YES, Pays.IS_PLANNED)]
        return max(sure, key=lambda row: row.nodes)


def storage_worth(evaluated: EvaluatedDesign, question: GoodputQuestion) -> StorageWorth | None:
    """More nodes of the storage of a design, with what each saves; None where nodes, rates or prices are not known."""
    design, catalog = evaluated.result.design, evaluated.catalog
    platform = design.platform
    if not counts_nodes(platform.storage) or not design.storage_nodes or write_rate_is_unknown(platform.storage):
        return None
    costs = _costs(design, catalog, prices_for(evaluated.result.request, catalog))
    if costs is None:
        return None
    of_gpu_hour, of_node = costs
    each, most = node_write_rates(platform)[0], node_limits(platform.storage)[1]
    here = goodput_answer(question)
    rows = [
        MoreStorage(design.storage_nodes, question.write_bytes_per_s, here.plan.goodput[0], 0.0, None, Pays.IS_PLANNED)
    ]
    for factor in _FACTORS[1:]:
        nodes = design.storage_nodes * factor
        if nodes > most:
            break
        rows.append(_row(question, here, nodes, nodes * each, nodes - design.storage_nodes, of_gpu_hour, of_node))
    return StorageWorth(tuple(rows))


def _row(
    question: GoodputQuestion,
    here: GoodputAnswer,
    nodes: int,
    write: float,
    added: int,
    of_gpu_hour: tuple[float, float],
    of_node: tuple[float, float],
) -> MoreStorage:
    faster = GoodputQuestion(**{**vars(question), "write_bytes_per_s": write})
    gained = goodput_answer(faster).plan.goodput[0]
    hours = max(gained - here.plan.goodput[0], 0.0) * question.gpus * _HOURS_A_WEEK
    saved = [hours * _WEEKS_A_YEAR * YEARS * price for price in of_gpu_hour]
    spent = [added * price for price in of_node]
    ratio = (saved[0] / spent[1] if spent[1] else math.inf, saved[1] / spent[0] if spent[0] else math.inf)
    pays = Pays.YES if ratio[0] >= 1 else Pays.NO if ratio[1] < 1 else Pays.OPEN
    return MoreStorage(nodes, write, gained, hours, ratio, pays)


def _costs(
    design: DesignAnswer, catalog: Catalog, book: PriceBook
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Lowest and highest price of an hour of a GPU and of a storage node."""
    platform = design.platform
    prices = unit_prices(catalog, book, design.bill.currency, (0.0, 1.0))
    server = prices.of(platform.server.id, platform)
    part = platform.storage.id if platform.storage_server is None else platform.storage_server.id
    unit = prices.of(part, platform)
    if not (math.isfinite(float(server[-1])) and math.isfinite(float(unit[-1]))):
        return None
    hours = YEARS * _WEEKS_A_YEAR * _HOURS_A_WEEK * platform.gpus_per_server
    per_unit = nodes_per_unit(platform.storage)
    return (
        (float(server[0]) / hours, float(server[-1]) / hours),
        (float(unit[0]) / per_unit, float(unit[-1]) / per_unit),
    )


def worth_table(found: StorageWorth, number: int) -> Table:
    """More storage nodes: goodput, GPU time that they save, and whether that pays for them."""
    return record_table(
        f"storage-worth-{number}",
        f"Faster storage: GPU time saved over {YEARS:g} years compared with its price",
        found.rows,
        [
            Field("Nodes", lambda one: grouped(one.nodes), "right", 10),
            Field("Write rate", lambda one: si(one.write_bytes_per_s, "B/s"), "right", 18),
            Field("Goodput", lambda one: share_text(one.goodput), "right", 14),
            Field("GPU-hours a week", _hours, "right", 20),
            Field("Saved over spent", _ratio, "right", 18),
            Field("Pays for itself", lambda one: _VERDICTS[one.pays], "left", 20),
        ],
    )


def worth_text(found: StorageWorth) -> str:
    """The write rate up to which storage pays."""
    most, planned = found.pays_up_to, found.rows[0]
    rate = si(most.write_bytes_per_s, "B/s")
    if most is planned:
        open_rows = [row for row in found.rows if row.pays is Pays.OPEN]
        if open_rows:
            return f"Whether a write rate above {rate} pays for itself depends on the quotes."
        return f"Storage that writes faster than the planned {rate} would cost more than the GPU time it saves."
    nodes = by_count(most.nodes, "node", "nodes")
    return (
        f"Write rates up to {rate}, {grouped(most.nodes)} {nodes}, pay for themselves by the GPU time that they save."
    )


def worth_lines(found: StorageWorth) -> str:
    """Table and sentence as plain text."""
    return "\n".join(["", table_text(worth_table(found, 1)), worth_text(found)])


def _hours(one: MoreStorage) -> str:
    hours = round(one.gpu_hours_per_week)
    return f"+{grouped(hours)}" if hours else "0"


def _ratio(one: MoreStorage) -> str:
    if one.ratio is None:
        return ""
    low, high = one.ratio
    if high < _LITTLE:
        return "under 0.01"
    return f"{significant(low, 1) if low >= _LITTLE else 'under 0.01'} to {significant(high, 1)}"
