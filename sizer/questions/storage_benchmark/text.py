"""MLPerf Storage as plain text."""

from sizer.base.quantities import grouped, si
from sizer.present import words
from sizer.present.plain_table import table_text
from sizer.questions.storage_benchmark.analysis import BenchmarkAnswer
from sizer.questions.storage_benchmark.tables import accelerators_table, checkpoints_table

NOTE = (
    "Low end: demonstrated rates, and the lowest share of their line that clients took in (published results of MLPerf "
    "Storage v1.0). High end: data-sheet rates and the highest share. The published result is a lower bound."
)


def benchmark_text(answer: BenchmarkAnswer) -> str:
    """Rates and both tables."""
    low, high = (si(rate, "B/s") for rate in answer.read_bytes_per_s)
    written = "not published" if answer.write_bytes_per_s is None else si(answer.write_bytes_per_s, "B/s")
    lines = [
        f"{grouped(answer.nodes)} × {answer.name}, {words.plural(answer.clients, 'client')} of "
        f"{si(answer.client_bytes_per_s, 'B/s')} each",
        f"reads   {low if low == high else f'{low} to {high}'}",
        f"writes  {written}",
        "",
        table_text(accelerators_table(answer)),
        NOTE,
        "",
        table_text(checkpoints_table(answer)),
    ]
    return "\n".join(lines)
