"""The measurements that carry one answer, as rows of the charts of evidence."""

from sizer.base.quantities import NARROW_SPACE, by_count
from sizer.calibrate.notes import CALIBRATED, PREDICTED
from sizer.calibrate.validate import ValidatedRow
from sizer.drawings.palette import COLUMN_PX
from sizer.evidence.charts import parity_chart
from sizer.present.charting import Chart
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import plural
from sizer.sizing.result import WorkloadAnswer

# Keys of their marks; the legend shows them translated.
SEEN, TESTS = "helped to fit the model", "predicted without it"


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
    """Predicted against published rates near a workload; None where nothing near it is published."""
    labels = {one.id: plural(one.n_gpus, "GPU") for one in answer.evidence}
    return parity_chart(
        answer_rows(answer),
        palette,
        width,
        height,
        title=answer_finding(answer),
        kind=lambda row: SEEN if row.status == CALIBRATED else TESTS,
        labels=labels,
    )


def answer_finding(answer: WorkloadAnswer) -> str:
    """Title of the chart: how many of the published runs lie inside their intervals."""
    count = len(answer.evidence)
    inside = sum(bool(row.is_covered) for row in answer_rows(answer))
    share = f"90{NARROW_SPACE}%"
    if count == 1:
        if inside:
            return f"The one published run nearby lies inside its {share} interval"
        return f"The one published run nearby lies outside its {share} interval"
    runs = plural(count, "published run")
    if inside == count == 2:
        return f"Both published runs nearby lie inside the {share} interval"
    if inside == count:
        return f"All {runs} nearby lie inside the {share} interval"
    if not inside:
        return f"None of {runs} nearby lies inside the {share} interval"
    return by_count(
        inside,
        f"{inside} of {runs} nearby lies inside the {share} interval",
        f"{inside} of {runs} nearby lie inside the {share} interval",
    )
