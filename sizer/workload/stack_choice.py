"""Software stack of a workload that names none: the newest one that was measured well for its network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Stack

# (stack, DNN, precision, task) -> published rates that state their batch, on GPUs that the servers of the catalogue
# take. A rate without its batch shows no measured range, and one of an older chip nothing about today's kernels.
MeasuredStacks = Mapping[tuple[str, str, str, str], int]
# A combination with fewer rates is no basis for a default: one early run says little about how a stack scales.
FEW_RATES = 3
# A stack with rates of so many families of networks speaks for networks that nobody measured.
_SEVERAL_FAMILIES = 3


class StackEvidence(StrEnum):
    """What a default stack was measured with."""

    NETWORK = "network"  # FEW_RATES rates or more of the network itself
    FAMILY = "family"  # of the network and others of its family
    FEW_RATES = "few-rates"  # fewer of them, and others with FEW_RATES
    FRAMEWORK = "framework"  # its framework ran the network, or one of its family, in another precision or task
    SEVERAL_FAMILIES = "several-families"  # only networks of other families
    NONE = "none"
    OWN_CODE = "own-code"  # what people train networks of their own with


@dataclass(frozen=True)
class StackChoice:
    """A default stack, why it is one, and the stacks with equal evidence, the newest first."""

    stack: Stack
    evidence: StackEvidence
    others: tuple[Stack, ...]


@dataclass
class _Rates:
    """Published rates of one stack in one precision and task. [-]"""

    network: int = 0
    family: int = 0  # the network included
    total: int = 0
    families: set[str] = field(default_factory=set)
    framework_ran_it: int = 0  # 2: the network in any precision or task; 1: another one of its family; 0: neither


_Meets = Callable[[_Rates], bool]
# The strongest evidence that any stack has is asked of all.
_STRONGEST_FIRST: tuple[tuple[StackEvidence, _Meets], ...] = (
    (StackEvidence.FAMILY, lambda rates: rates.family >= FEW_RATES),
    (StackEvidence.FEW_RATES, lambda rates: rates.total >= FEW_RATES and rates.family > 0),
    (StackEvidence.FRAMEWORK, lambda rates: rates.total >= FEW_RATES and rates.framework_ran_it == 2),
    (StackEvidence.FRAMEWORK, lambda rates: rates.total >= FEW_RATES and rates.framework_ran_it == 1),
    (
        StackEvidence.SEVERAL_FAMILIES,
        lambda rates: rates.total >= FEW_RATES and len(rates.families) >= _SEVERAL_FAMILIES,
    ),
    (StackEvidence.NONE, lambda _: True),
)


def choose_stack(
    dnn_id: str, precision: str, task: str, catalog: Catalog, measured: MeasuredStacks
) -> StackChoice | None:
    """Newest stack with the strongest evidence for a network; None where no stack has the precision and task.

    ``dnn_id``: network of the catalogue, or any other text for one that was never measured. ``measured``: published
    rates that state their batch.

    Among stacks of one release date, the one with more rates of the network, then of its family, leads.
    """
    candidates = [
        stack
        for stack in catalog.stacks.values()
        if stack.task in (task, "both")
        and precision in stack.precisions
        and not (stack.trains_language or stack.serves_language or stack.runs_mlperf or stack.trains_own)
    ]
    rates = _rates(candidates, dnn_id, precision, task, catalog, measured)

    def newest_first(stack: Stack) -> tuple[str, int, int, int, str]:
        of_it = rates[stack.id]
        return stack.released.value, of_it.network, of_it.family, of_it.total, stack.id

    for evidence, meets in _STRONGEST_FIRST:
        found = sorted((stack for stack in candidates if meets(rates[stack.id])), key=newest_first, reverse=True)
        if found:
            is_own = rates[found[0].id].network >= FEW_RATES
            return StackChoice(found[0], StackEvidence.NETWORK if is_own else evidence, tuple(found[1:]))
    return None


def _rates(
    candidates: list[Stack], dnn_id: str, precision: str, task: str, catalog: Catalog, measured: MeasuredStacks
) -> dict[str, _Rates]:
    found = {stack.id: _Rates() for stack in candidates}
    dnn = catalog.dnns.get(dnn_id)
    family = dnn.family if dnn is not None else ""
    ran_it: dict[str, int] = {}  # by framework
    for (stack_id, measured_dnn, measured_precision, measured_task), count in measured.items():
        other = catalog.dnns.get(measured_dnn)
        other_family = other.family if other is not None else ""
        closeness = 2 if measured_dnn == dnn_id else int(bool(family) and other_family == family)
        if stack_id in catalog.stacks:
            framework = catalog.stacks[stack_id].framework
            ran_it[framework] = max(ran_it.get(framework, 0), closeness)
        if stack_id not in found or (measured_precision, measured_task) != (precision, task):
            continue
        rates = found[stack_id]
        rates.total += count
        rates.families.add(other_family)
        rates.network += count if closeness == 2 else 0
        rates.family += count if closeness else 0
    for stack in candidates:
        found[stack.id].framework_ran_it = ran_it.get(stack.framework, 0)
    return found


def stack_id(name: str, catalog: Catalog) -> str:
    """Id of the stack with an id or another name, written as ids are; the name itself where no stack has it."""
    aliases = {
        alias.lower().replace(" ", "-"): stack.id for stack in catalog.stacks.values() for alias in stack.aliases
    }
    return name if name in catalog.stacks else aliases.get(name, name)
