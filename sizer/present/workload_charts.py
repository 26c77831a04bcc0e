"""Charts of one workload by name, each with its caption: the one list for app, guide and engineer's file."""

from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.present import charts
from sizer.present.charting import HEIGHT_PX, Chart
from sizer.present.figures import PageFigure, charted
from sizer.present.language_charts import memory_chart, step_chart
from sizer.present.performance_tables import stage_note
from sizer.present.serving_charts import load_caption, load_chart, serving_memory_chart
from sizer.present.training_charts import accuracy_caption, accuracy_chart, epoch_chart, time_chart
from sizer.sizing.result import WorkloadAnswer

_CAPTIONS = {
    "scaling": "Projected throughput by number of GPUs, with storage and platform fixed.",
    "time": "Breakdown of the time to train.",
    "epoch": "The first epoch reads all data from storage; later epochs read only what is not cached.",
    "step": "A step of the chosen layout. Traffic that is hidden behind computing is not shown.",
    "memory": "GPU of the fullest pipeline stage. A layout counts as one that fits if its probability is at least "
    "90 %, or if it was published for this model and GPU.",
    "serving-memory": "Memory of a GPU at this load; keys and values grow with the requests in flight.",
}


def workload_chart(
    name: str,
    answer: WorkloadAnswer,
    n_gpus: int,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    height: int = HEIGHT_PX,
) -> Chart | None:
    """A chart of a workload; None where its kind of work, or this design, has nothing to draw."""
    match name:
        case "stage":
            return charts.stage_chart(answer, palette, width) if charts.n_limits(answer) > 1 else None
        case "scaling":
            has_sizes = answer.scaling.n_gpus.size > 1 and answer.serving is None  # replicas add
            return charts.scaling_chart(answer, n_gpus, palette, width, height) if has_sizes else None
        case "accuracy":
            return accuracy_chart(answer, n_gpus, palette, width, height)
    draw = {
        "time": time_chart,
        "epoch": epoch_chart,
        "step": step_chart,
        "memory": memory_chart,
        "load": load_chart,
        "serving-memory": serving_memory_chart,
    }[name]
    return draw(answer, palette, width)


def workload_figure(
    name: str, answer: WorkloadAnswer, number: int, n_gpus: int, palette: Palette, height: int = HEIGHT_PX
) -> PageFigure | None:
    """The chart as a figure of a document; ``number``: of the workload, from 1."""
    chart = workload_chart(name, answer, n_gpus, palette, height=height)
    if chart is None:
        return None
    match name:
        case "stage":
            caption = f"{charts.stage_caption(answer)} {stage_note(answer)}".rstrip()
        case "accuracy":
            caption = accuracy_caption(answer)
        case "load":
            caption = f"{load_caption(answer)}."
        case _:
            caption = _CAPTIONS[name]
    return charted(f"{name}-chart-{number}", chart, caption)
