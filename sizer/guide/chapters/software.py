"""Chapter on software: installed software, the stack of each workload, and support."""

from dataclasses import replace
from typing import Any

from sizer.base.quantities import grouped
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import FORMAT_NAMES, is_compressed_image
from sizer.catalog.schema import Release, Software, Support
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row, source_cell
from sizer.present.text.result_text import precision_text
from sizer.sizing.result import DesignAnswer, WorkloadAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/software.html`` prints."""
    design, catalog = context.design, context.catalog
    items = {part.item for part in design.quantities.components if int(part.quantity[0])}
    lines = [catalog.software[item] for item in items if item in catalog.software]
    return {
        "has_system": any(line.layer == "system" for line in lines),
        "software": _licence_table(design, catalog, "software", "software", "Software of the design"),
        "stacks": stacks_table(design),
        "releases": releases_text(design, catalog),
        "release_sources": list(dict.fromkeys(one.version.source for one in _releases(design, catalog))),
        "support": _licence_table(design, catalog, "support", "support-lines", "Support"),
        "has_scheduler": "slurm" in items,
        "is_shared": context.design.platform.storage.kind != "local",
        "has_portal": "data-scientist-portal" in items,
        "has_containers": bool({"ngc-containers", "rocm-containers"} & items),
        "has_user_containers": bool({"singularity", "enroot-pyxis"} & items),
        "is_single": context.is_single,
        "serves": context.only_serves,
        "runs_resnet": any(answer.dnn.id == "resnet50" for answer in context.answers),
    }


def _licence_table(design: DesignAnswer, catalog: Catalog, category: str, id_: str, caption: str) -> Table | None:
    """Software or support of the design with purpose and licence metric; None where there is none."""
    rows: list[Row] = []
    for part in design.quantities.components:
        item, quantity = catalog.item(part.item), int(part.quantity[0])
        if part.category != category or not quantity or not isinstance(item, Software | Support):
            continue
        metric = words.name(item.metric.value)
        is_free = item.metric.value in ("free", "included")
        rows.append(
            row(
                with_vendor(item) + (", optional" if part.status == "optional" else ""),
                source_cell(item.purpose, item.purpose.value.rstrip(".") + "."),
                metric if is_free else f"{grouped(quantity)}, per {metric}",
            )
        )
    if not rows:
        return None
    titles = ("Component", "Purpose", "Licence")
    return fact_table(id_, caption, rows, titles=titles, widths=(26, 60, 14), style="")


def stacks_table(design: DesignAnswer) -> Table:
    """The software stack that each workload is sized with."""

    def stack(answer: WorkloadAnswer) -> str:
        return answer.stack.name if answer.serving is None else words.listed(answer.served.engines, "or")

    def released(answer: WorkloadAnswer) -> Cell:
        if answer.serving is not None and len(answer.served.engines) > 1:
            return Cell("published runs of each")
        # Without the place in the source, which is a column or a round.
        return replace(source_cell(answer.stack.released, str(answer.stack.released.value)), where="")

    def loader(answer: WorkloadAnswer) -> str:
        if answer.serving is not None:
            return "none: requests come over the LAN"
        if not is_compressed_image(answer.sample_format):
            return f"reads {FORMAT_NAMES[answer.sample_format]}"
        return words.name(answer.stack.loader) if answer.stack.loader != "none" else "assumed"

    fields = (
        Field[WorkloadAnswer]("Workload", lambda a: a.workload.name, "left", 20),
        Field[WorkloadAnswer]("Stack", stack, "left", 24),
        Field[WorkloadAnswer]("Released", released, "left", 22),
        Field[WorkloadAnswer]("Loader", loader, "left", 20),
        Field[WorkloadAnswer]("Precision", precision_text, "left", 14),
    )
    return record_table("stacks", "Software stack of each workload", design.workloads, fields)


def releases_text(design: DesignAnswer, catalog: Catalog) -> str:
    """Releases that the newest published runs on the GPUs were made with; "" where no run states them."""
    releases = _releases(design, catalog)
    if not releases or all(answer.serving is not None for answer in design.workloads):  # of trainings
        return ""
    name = catalog.generations[str(design.platform.gpu.generation)].name
    used = words.listed(f"{one.component} {one.version.value}" for one in releases)
    runs = f"Of the published MLPerf runs on {name} GPUs, the fastest used {used}"
    return f"{runs}; install these releases or newer ones."


def _releases(design: DesignAnswer, catalog: Catalog) -> tuple[Release, ...]:
    generation = design.platform.gpu.generation
    return () if generation is None else catalog.generations[generation].releases
