"""Chapter 6: what holds the data, how much of it is usable, and how fast it is read."""

from typing import Any

from sizer.base.quantities import si
from sizer.guide.chapters.case import Case
from sizer.guide.storage_charts import demand_chart, ladder_chart
from sizer.guide.tables.storage import classes_table, ladder_table, supply_table
from sizer.physical.capacity import capacity_ladder, is_extrapolated
from sizer.present import result_text, words
from sizer.present.component_tables import storage_role
from sizer.present.figures import charted
from sizer.questions.data.charts import copy_chart
from sizer.questions.data.tables import (
    account_table,
    checkpoints_table,
    copies_table,
    copy_text,
    decoded_table,
    fill_text,
    taken_table,
    transform_text,
    validation_table,
    ways_table,
)
from sizer.sizing.constraints.stored_data import data_held
from sizer.sizing.result import STAGES


def content(case: Case) -> dict[str, Any]:
    """What ``sections/storage.html`` prints."""
    design, platform = case.design, case.design.platform
    storage = platform.storage
    steps = capacity_ladder(storage, platform.capacity_option, design.storage_nodes)
    held = data_held(case.answers, case.result.request.data)
    return {
        "role": storage_role(design),
        "title": result_text.storage_name(design),
        "is_shared": storage.kind != "local",
        "verdicts": [_verdict(case, number) for number in range(len(case.answers))],
        "ladder": ladder_table(steps) if len(steps) > 1 else None,
        "ladder_chart": charted(
            "ladder-chart",
            ladder_chart(steps, held.sets_bytes, case.palette) if case.is_full and len(steps) > 2 else None,
            "What is left of the raw capacity; the dashed line is the training data.",
        ),
        "is_extrapolated": is_extrapolated(storage, design.storage_nodes),
        "supply": supply_table(design),
        "demand_charts": [
            charted(
                f"demand-{number}",
                demand_chart(answer, design, case.palette),
                f"Reads that {answer.workload.name} asks of the storage, against what the storage gives.",
            )
            for number, answer in enumerate(case.answers, 1)
        ]
        if case.is_full
        else [],
        "classes": classes_table(storage) if case.is_full else None,
        "data": _data(case),
        "mounts": _mounts(case),
        "has_front_end": platform.attachment in ("gateway", "own network", "spine", "fabric")
        and storage.kind != "local",
    }


def _data(case: Case) -> dict[str, Any]:
    """What must fit, how it gets in, and, in the full guide or where it is asked for, what is done beside training."""
    plan, care = case.data, case.result.request.data
    copies = plan.copies if case.is_full or care.copy_to_local else ()
    beside = plan.held.total_bytes > plan.held.sets_bytes or len(plan.held.sets) > 1
    return {
        "account": account_table(plan) if beside else None,
        "fill": fill_text(plan.ingest),
        "ways": ways_table(plan.ingest) if case.is_full or care.ingest is not None else None,
        "checkpoints": checkpoints_table(plan.checkpoints),
        "transform": transform_text(plan.transform) if plan.transform is not None else "",
        "decoded": decoded_table(plan.decoded) if case.is_full else None,
        "validation": validation_table(plan.validations) if case.is_full else None,
        "copies": [copy_text(one) for one in copies],
        "copies_table": copies_table(copies) if case.is_full else None,
        "copy_charts": [
            charted(
                f"copy-{number}",
                copy_chart(one, case.palette),
                f"Time of {one.workload}, read from the storage or copied to the servers' drives first.",
            )
            for number, one in enumerate(copies, 1)
        ],
        "taken": taken_table(plan.assumptions),
        "questions": [words.question(one) for one in plan.questions] if case.is_full else [],
    }


def _verdict(case: Case, number: int) -> str:
    """How busy a workload keeps the storage."""
    answer = case.answers[number]
    name = f"{answer.workload.name}: " if case.has_many_workloads else ""
    stage = next(stage for stage in answer.stages if stage.key == "storage")
    if answer.bottleneck == "storage":
        return words.capital(name + "storage sets the pace of this design; more nodes would raise the rate.")
    if float(answer.storage_bytes_per_s.value) <= 0:
        return words.capital(
            name
            + (
                "after the first epoch the data come from memory and storage idles. The first epoch "
                f"reads {words.rounded(answer.cold_storage_bytes_per_s, 'B/s')}."
            )
        )
    return words.capital(
        name
        + "training reads {rate}, which keeps the storage {share} busy; {stage} sets the pace.".format(
            rate=words.rounded(answer.storage_bytes_per_s, "B/s"),
            share=words.percent(stage.load_fraction),
            stage=words.stage(answer.bottleneck, inside=True) if answer.bottleneck in STAGES else answer.bottleneck,
        )
    )


def _mounts(case: Case) -> str:
    """How the servers mount the storage; empty where nothing is mounted."""
    design, platform = case.design, case.design.platform
    storage = platform.storage
    if storage.kind == "local":
        return ""
    if storage.kind == "parallel-file-system":
        return "Every server runs the client of the file system and sees one namespace."
    ports = storage.front_end_ports_per_node.value if storage.front_end_ports_per_node is not None else 0
    addresses = design.storage_nodes * ports
    if storage.kind == "scale-out-nas" and addresses > 1:
        if case.is_single:
            text = (
                f"The server mounts all {addresses} addresses of the storage, so that no single mount bounds its rate."
            )
        else:
            text = (
                f"Every server mounts all {addresses} addresses of the storage, and each of its processes "
                "reads through another one: the load spreads over all nodes, and no single mount bounds "
                "the rate."
            )
        return text
    rate = storage.mount_high_bytes_per_s
    if rate is not None:
        return f"One mount reads at most {si(rate.value, 'B/s')}; a second mount adds to it."
    return "It is mounted once; the rate of a mount is not published and has to be measured."
