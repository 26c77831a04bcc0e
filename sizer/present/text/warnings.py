"""Cautions about a design in words."""

from sizer.base.quantities import significant
from sizer.present.text.memory import host_memory_sentences
from sizer.present.text.plan import note_sentences
from sizer.present.text.storage_need import storage_need_sentences
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
    own = [_warning_text(warning, design) for warning in design.warnings]
    return [
        *storage_need_sentences(design),
        *host_memory_sentences(design),
        *own,
        *note_sentences((*design.quantities.notes, *design.plan.warnings)),
    ]


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
