"""What every page and document shows of a language model in use: tables and charts in their order."""

from collections.abc import Iterator

from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.present.charting import Chart
from sizer.present.performance_tables import serving_table
from sizer.present.serving_charts import load_chart, serving_memory_chart
from sizer.present.tables import Table
from sizer.sizing.result import DesignAnswer, WorkloadAnswer


def serving_blocks(
    design: DesignAnswer,
    answer: WorkloadAnswer,
    number: int,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
) -> Iterator[Table | Chart]:
    """Blocks of a workload; none of other work. A page draws whatever comes.

    ``number``: of the workload, from 1.
    """
    if (facts := serving_table(design, answer, number, with_cost=True)) is not None:
        yield facts
        yield from (
            one for one in (load_chart(answer, palette, width), serving_memory_chart(answer, palette, width)) if one
        )
