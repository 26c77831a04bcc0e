"""Influences of the inputs on a result as a table, for the guide and the app."""

from sizer.base.quantities import duration, grouped, significant
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.questions.what_if.sensitivity import Influence, Sensitivity


def influence_table(sensitivity: Sensitivity, unit: str, number: int) -> Table:
    """Both ends of each input with the result of the design there and the servers then needed.

    ``unit`` is that of the workload's rate; ``number`` counts the workloads.
    """
    is_time = sensitivity.metric == "s"

    def value(amount: float) -> str:
        return duration(amount) if is_time else significant(amount)

    def servers(count: int | None) -> Cell:
        return Cell("–", is_muted=True) if count is None else Cell(grouped(count))

    result = "Time to train" if is_time else unit
    fields = (
        Field[Influence]("Input", lambda i: Cell(i.label, stage=i.stage), "left", 21),
        Field[Influence]("From", lambda i: i.low_text, "left", 18),
        Field[Influence](result, lambda i: value(i.low), "right", 13),
        Field[Influence]("Servers", lambda i: servers(i.low_servers), "right", 9),
        Field[Influence]("To", lambda i: i.high_text, "left", 18),
        Field[Influence](result, lambda i: value(i.high), "right", 12),
        Field[Influence]("Servers", lambda i: servers(i.high_servers), "right", 9),
    )
    note = (
        "Rates and times are those of this design. “Servers” is the number of servers that would then be needed "
        "on this platform; a dash means not determined."
    )
    caption = f"Sensitivity of {sensitivity.workload}"
    return record_table(f"influences-{number}", caption, sensitivity.influences, fields, note=note)
