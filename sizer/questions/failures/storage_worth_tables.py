"""Table and sentence on the write rate that pays for itself."""

from sizer.base.quantities import by_count, grouped, si, significant
from sizer.present.availability import share_text
from sizer.present.plain_table import table_text
from sizer.present.tables import Field, Table, record_table
from sizer.questions.failures.storage_worth import YEARS, MoreStorage, Pays, StorageWorth

_VERDICTS = {Pays.YES: "yes", Pays.OPEN: "depends on the quotes", Pays.NO: "no", Pays.IS_PLANNED: "planned"}
_LITTLE = 0.01


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
        return f"A write rate above the planned {rate} does not pay for itself."
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
