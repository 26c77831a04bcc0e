"""The published runs near one answer, as rows of the charts of evidence."""

from sizer.base.quantities import NARROW_SPACE, by_count, grouped
from sizer.calibrate.notes import CALIBRATED, PREDICTED
from sizer.calibrate.validate import ValidatedRow
from sizer.evidence.charts import parity_chart
from sizer.present.charting import COLUMN_PX, LIGHT, Chart, Palette
from sizer.present.words import plural, sample_unit
from sizer.sizing.result import WorkloadAnswer

# Names of their marks in the legend.
CALIBRATES, TESTS = "calibrates the model", "tests the model"
# Rates within this factor are marks that touch each other.
_NEAR = 1.3


def answer_rows(answer: WorkloadAnswer) -> tuple[ValidatedRow, ...]:
    """Evidence of a workload as validated rows."""
    task = "training" if answer.workload.task == "training" else "inference"
    return tuple(
        ValidatedRow(
            one.id,
            task,
            "samples_per_s",
            one.source,
            one.published,
            float(one.predicted.value),
            float(one.predicted.low),
            float(one.predicted.high),
            CALIBRATED if one.calibrates else PREDICTED,
        )
        for one in answer.evidence
    )


def answer_parity_chart(
    answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX, height: int = 340
) -> Chart | None:
    """Predicted over published rates near a workload; None without a published run near it."""
    labels: dict[str, str] = {}
    told: list[tuple[str, float]] = []
    for one in answer.evidence:
        text = plural(one.n_gpus, "GPU")
        # Runs of one size that lie close together share a label: several would cover each other's marks.
        if not any(
            text == other and max(one.published, rate) < _NEAR * min(one.published, rate) for other, rate in told
        ):
            labels[one.id] = text
            told.append((text, one.published))
    return parity_chart(
        answer_rows(answer),
        palette,
        width,
        height,
        title=answer_finding(answer),
        kind=lambda row: CALIBRATES if row.status == CALIBRATED else TESTS,
        labels=labels,
        unit=sample_unit(answer.dnn),
    )


def answer_finding(answer: WorkloadAnswer) -> str:
    """Title of the chart: the number of published runs inside their intervals."""
    count = len(answer.evidence)
    inside = sum(bool(row.is_covered) for row in answer_rows(answer))
    runs = f"{grouped(inside)} of {plural(count, 'published run')} nearby"
    return f"{runs} {by_count(inside, 'is', 'are')} inside the 90{NARROW_SPACE}% interval"
