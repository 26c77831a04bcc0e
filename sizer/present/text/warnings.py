"""Cautions about a design in words."""

from collections.abc import Iterator

from sizer.base.quantities import by_count, significant
from sizer.physical.notes import PlanNoteKind
from sizer.physical.roles import NetworkRole
from sizer.present.text.memory import host_memory_sentences
from sizer.present.text.plan import note_sentences
from sizer.present.text.storage_need import storage_need_sentences
from sizer.present.words import plural
from sizer.sizing.reasons import (
    BudgetOfPricedLines,
    DesignWarning,
    FewerGpusUsed,
    ManySmallFiles,
    UnknownReadRate,
)
from sizer.sizing.result import DesignAnswer


def design_warnings(design: DesignAnswer) -> list[str]:
    """Cautions about a design, its parts and its plan; one sentence or two each."""
    # What the loss of a feed stops is said with the feeds.
    notes = [note for note in design.plan.warnings if note.kind is not PlanNoteKind.FEW_SUPPLIES]
    own = [_warning_text(warning, design) for warning in design.warnings]
    return [
        *storage_need_sentences(design),
        *host_memory_sentences(design),
        *_full_switch_texts(design),
        *own,
        *note_sentences((*design.quantities.notes, *notes)),
    ]


def _full_switch_texts(design: DesignAnswer) -> Iterator[str]:
    """That a network of one switch a rail has no ports for a further server."""
    for net in design.quantities.networks:
        devices, rails = int(net.leaves[0] + net.spines[0] + net.cores[0]), net.rails
        free, each = int(net.leaf_ports_free[0]), int(net.end_points[0]) // design.n_servers
        if net.role in (NetworkRole.COMPUTE, NetworkRole.STORAGE) and devices == rails and free < each and net.switch:
            name = design.plan.catalog.item(net.switch).name
            yield (
                f"The {by_count(rails, 'only switch', f'{rails} switches')} of the {net.role} ({name}) "
                f"{by_count(rails, 'has', 'have')} {plural(free, 'free port')}, and a further server takes {each}: "
                f"growth takes another level of switches and new cables. Keep ports free with fabric.spare_servers."
            )


def _warning_text(warning: DesignWarning, design: DesignAnswer) -> str:
    match warning:
        case UnknownReadRate():
            return (
                f"No source gives a read rate of {design.platform.storage.name}: its storage figures are upper bounds "
                "at the line rate of its ports. Measure the rate, or ask the vendor."
            )
        case FewerGpusUsed(n_gpus):
            return f"The job uses {n_gpus} of the {design.platform.gpus_per_server} GPUs of each server."
        case ManySmallFiles(name, files, each):
            place = "server" if design.platform.storage.kind == "local" else "storage node"
            return (
                f"{name} opens {significant(files)} small files a second, {significant(each)} on each {place}: file "
                "systems usually open a few thousand. Pack the files into records, or measure file opens per second "
                "before ordering."
            )
        case BudgetOfPricedLines():
            return "The budget is compared with the priced lines only; lines that need a quote are additional."
