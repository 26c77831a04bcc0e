"""Chapter 1: what is asked, what is proposed, how sure the answer is, in one page."""

from typing import Any

from sizer.drawings.cluster import Cluster
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.drawings.topology_groups import grouped_topology
from sizer.guide.chapters.case import Case
from sizer.guide.tables.request import numbers_table
from sizer.present import result_text, words
from sizer.present.figures import Figure, drawn
from sizer.present.verdict_text import verdict_text
from sizer.questions.team.tables import wait_text
from sizer.sizing.result import DesignAnswer
from sizer.workload.target_text import target_text


def content(case: Case) -> dict[str, Any]:
    """What ``sections/summary.html`` prints."""
    result, design = case.result, case.design
    return {
        "needs": needs(case),
        "verdict": words.sentence(verdict_text(result)),
        "needs_cluster": result.needs_cluster,
        "reasons": result_text.reason(design),
        "doubts": result_text.doubt(result),
        "open_prices": result_text.open_prices(design.bill),
        "numbers": numbers_table(result, case.team),
        "picture": picture(design),
    }


def needs(case: Case) -> list[str]:
    """What the customer wants to do, a sentence a workload."""
    sentences = []
    for answer in case.answers:
        workload = answer.workload
        what = (
            "{dnn} is to be trained in {precision} on {data}"
            if workload.task == "training"
            else "{dnn} is to be run over held-back data in {precision} on {data}"
        ).format(dnn=answer.dnn.name, precision=words.name(workload.precision), data=result_text.dataset_phrase(answer))
        named = f"{workload.name}: {what}" if case.has_many_workloads else what
        sentences.append(f"{named}. Asked: {target_text(answer.workload, answer.dnn)}.")
    team = case.result.request.team
    if team is not None:
        kinds = f"{words.plural(len(team.job), 'kind')} of job"
        who = words.plural(team.data_scientists, "data scientist") if team.data_scientists else "A team"
        sentences.append(f"{who} with {kinds} share the cluster. Asked: {wait_text(team)}.")
    return sentences


def picture(design: DesignAnswer) -> Figure:
    """The cluster across the text column; a large one by kinds of device."""
    return drawn("at-a-glance", _narrow(design))


def _narrow(design: DesignAnswer) -> Drawing:
    drawing = topology(design)
    return drawing if drawing.width <= COLUMN_PX else grouped_topology(Cluster(design))
