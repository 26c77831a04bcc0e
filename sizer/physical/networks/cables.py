"""Which catalogue item joins two ports over a planning length."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Cable, FibreMode
from sizer.physical.notes import CableQuestion, PlanNote, PlanNoteKind

# Lengths that the search counts with. [m] A 42U rack is 2 m high (AR3300: 1,991 mm); 3 m joins any two devices of one
# rack with slack. Between racks of one row 10 m: up, along the tray over half a dozen racks of 0.6 m, and down. Both
# are assumptions of this program; the plan of a design measures every cable.
IN_RACK_M = 3.0
BETWEEN_RACKS_M = 10.0

_ONE = Fraction(1)
# Modes of fibre in the order in which they are taken: the shortest reach costs least.
_MODES: tuple[FibreMode | None, ...] = (None, "multimode", "single-mode", "duplex-lc")
# Media of cables that join two ports without modules.
WHOLE_CABLES = ("dac", "copper", "aoc")
# Lengths nearer than this are one length. [m]
_EQUAL_M = 1e-9


@dataclass(frozen=True)
class CableChoice:
    """Items of one link: ``(catalogue id, pieces per link)``, and what a reader must know.

    Half a piece: a module serves the ports of two links.
    """

    items: tuple[tuple[str, Fraction], ...]
    # Module at either end and the ports that one serves; empty where the link is a whole cable.
    modules: tuple[tuple[str, int], ...] = ()
    notes: tuple[PlanNote, ...] = ()
    question: CableQuestion | None = None  # to ask the vendor

    @property
    def part_notes(self) -> tuple[PlanNote, ...]:
        """Notes that hold for each item on its own, as a bill lists it."""
        return tuple(note for note in self.notes if note.kind is not PlanNoteKind.TRANSCEIVERS_AND_FIBRE)


# Cages at the two ends of a link, the switch's last; "" where the catalogue does not say.
Cages = tuple[str, str]
ANY_CAGES: Cages = ("", "")


def cages_of(device: str, switch: str) -> Cages:
    """Cages of two ports; one object for equal ones, by which the cable of a link is found again."""
    return device, switch


def pieces_of(links: ArrayLike, each: Fraction) -> Ints:
    """Whole pieces for some links."""
    return np.asarray(-(-np.asarray(links, dtype=np.int64) * each.numerator // each.denominator))


def choose_cable(
    cables: Iterable[Cable], kind: LinkType, length_m: float, cages: Cages = ANY_CAGES, *, may_split: bool = True
) -> CableChoice:
    """Shortest catalogue cable of a kind that reaches a length: copper while one reaches, else optics.

    ``length_m``: planning length. [m] ``cages``: connectors of the ports at both ends, which decide the modules.
    ``may_split``: whether the other ports of the cage run over the same cable. A link alone in its cage takes a
    splitter only where nothing else joins the two ports, and then a whole one. Returns one cable, or a pair of
    transceivers with fibre where no cable reaches. Empty ``items`` and a question where the catalogue has nothing for
    the kind.
    """
    known = [cable for cable in cables if cable.orderable]
    choice = _choose(known, kind, length_m, cages, may_split)
    if choice is not None:
        # Ends of a slower kind than the cage is made for.
        adapters = [one for one in known if one.media == "adapter" and kind in one.kinds]
        ends = tuple((adapter.id, _ONE) for cage in cages for adapter in adapters if cage in adapter.connectors)
        return replace(choice, items=(*choice.items, *ends)) if ends else choice
    question = CableQuestion(kind, length_m)
    stand_in = _stand_in(known, kind)
    if stand_in is not None and (choice := _choose(known, stand_in, length_m, cages, may_split)) is not None:
        note = PlanNote(PlanNoteKind.OTHER_CABLE, (kind.name, stand_in.name))
        return CableChoice(choice.items, choice.modules, (note,), question)
    return CableChoice((), question=question)


def choose_cables(
    cables: tuple[Cable, ...], kind: LinkType, lengths_m: Floats, cages: Cages = ANY_CAGES, *, may_split: bool = True
) -> tuple[list[CableChoice], Ints]:
    """Choices for many links of a kind, and the number of each link's choice; see :func:`choose_cable`.

    ``lengths_m`` (links,): length of each link [m]. ``cages``: connectors of the ports at both ends of all of them.
    ``may_split``: as for ``choose_cable``.
    """
    steps, choices = _steps(cables, kind, cages, may_split)
    # Between two lengths of the catalogue the choice does not change; beyond the last one the longest link speaks.
    step = np.searchsorted(steps, lengths_m - _EQUAL_M)
    is_used = np.bincount(step) > 0
    longest = float(lengths_m.max(initial=0.0))
    used = np.flatnonzero(is_used).tolist()
    found = [
        choices[i] if i < steps.size else choose_cable(cables, kind, longest, cages, may_split=may_split) for i in used
    ]
    return found, (np.cumsum(is_used) - 1)[step]


@lru_cache(maxsize=4096)
def _steps(
    cables: tuple[Cable, ...], kind: LinkType, cages: Cages, may_split: bool
) -> tuple[Floats, tuple[CableChoice, ...]]:
    """Lengths of the catalogue that a kind may come in, and the choice for each."""
    stand_in = _stand_in(cables, kind)
    of_kind = [c for c in cables if c.orderable and (kind in c.kinds or stand_in in c.kinds)]
    reaches = [c.reach_m.value for c in of_kind if c.reach_m is not None]
    steps = np.unique([*(c.length_m.value for c in of_kind if c.length_m is not None), *reaches])
    lengths: list[float] = steps.tolist()
    return steps, tuple(choose_cable(of_kind, kind, length_m, cages, may_split=may_split) for length_m in lengths)


@dataclass(frozen=True)
class Splitters:
    """Cables with one plug for several ports of a cage and a leg for each."""

    ports_each: int
    reach_m: float
    plug_end: int  # end of the link with the plug: 0 or 1


@lru_cache(maxsize=4096)
def splitters(cables: tuple[Cable, ...], kind: LinkType, cages: Cages) -> Splitters | None:
    """Splitters for links of a kind between two cages; None where the catalogue has none."""
    known = [cable for cable in cables if cable.orderable]
    of_kind = [c for c in known if kind in c.kinds]
    if not of_kind and (stand_in := _stand_in(known, kind)) is not None:
        of_kind = [c for c in known if stand_in in c.kinds]
    found = [c for c in of_kind if c.media in WHOLE_CABLES and _splits(c) and _fits_cages(c, cages)]
    if not found:
        return None
    reach = max(c.length_m.value for c in found if c.length_m is not None)
    # The plug is named before the legs.
    return Splitters(found[0].ports_each, reach, cages.index(found[0].connectors[0]))


def _splits(cable: Cable) -> bool:
    return cable.ports_each > 1 and len(cable.connectors) > 1 and cable.length_m is not None


def _stand_in(cables: Iterable[Cable], kind: LinkType) -> LinkType | None:
    """Link whose cables are counted where the catalogue has none of a kind."""
    return next((other for cable in cables for other in cable.kinds if other.id == kind.cables_of), None)


def _choose(cables: list[Cable], kind: LinkType, length_m: float, cages: Cages, may_split: bool) -> CableChoice | None:
    of_kind = [cable for cable in cables if kind in cable.kinds]
    whole = [c for c in of_kind if c.media in WHOLE_CABLES and _fits_cages(c, cages)]
    # Cables made for the cages of both ends come before those that name none.
    whole = [c for c in whole if c.connectors] or whole
    optics = [c for c in of_kind if c.media == "transceiver"]
    if not may_split:
        single = [c for c in whole if not _splits(c)]
        if single or all(any(_fits(optic, cage) for optic in optics) for cage in cages):
            whole = single
    reaching = [c for c in whole if c.length_m is not None and _reaches(c, length_m)]
    if reaching:
        best = min(reaching, key=lambda c: (c.media == "aoc", c.length_m.value if c.length_m else 0.0, c.id))
        return CableChoice(((best.id, Fraction(1, best.ports_each) if may_split else _ONE),))
    # Patch cable that is cut to any length: no length in the catalogue.
    cut = [c for c in whole if c.length_m is None]
    if cut:
        best = min(cut, key=lambda c: c.id)
        return CableChoice(((best.id, _ONE),), notes=(PlanNote(PlanNoteKind.PLANNED_LENGTH, (length_m,)),))
    if optics:
        mode = _mode(optics, length_m, cages)
        pair, ends = _modules([optic for optic in optics if optic.fibre_mode == mode], length_m, cages)
        fibres = [c for c in of_kind if c.media == "fibre" and c.fibre_mode == mode and _reaches(c, length_m)]
        if fibres:
            fibre = min(fibres, key=lambda c: (c.length_m.value if c.length_m else length_m, c.id))
            return CableChoice((*pair, (fibre.id, _ONE)), ends, (PlanNote(PlanNoteKind.TRANSCEIVERS_AND_FIBRE),))
        return CableChoice(pair, ends, (PlanNote(PlanNoteKind.TRANSCEIVERS_ALONE, (length_m,)),))
    if whole:
        best = max(whole, key=lambda c: (c.length_m.value if c.length_m else 0.0, c.id))
        reach = best.length_m.value if best.length_m else 0.0
        return CableChoice(((best.id, _ONE),), notes=(PlanNote(PlanNoteKind.LONGEST_CABLE, (reach,)),))
    return None


def _fits_cages(cable: Cable, cages: Cages) -> bool:
    """Whether a cable goes into the cages of both ends.

    A cable of several links between two twin-port cages is left out: neighbouring links lead to different switches. One
    that splits serves two ports of a switch and any two of devices.
    """
    if not cable.connectors:
        return True
    return all(cage in cable.connectors for cage in cages) and (cable.ports_each == 1 or cages[0] != cages[1])


def _mode(optics: list[Cable], length_m: float, cages: Cages) -> FibreMode | None:
    """First mode of fibre with modules for both cages that reach so far, or else the one that reaches farthest."""
    modes = sorted({optic.fibre_mode for optic in optics}, key=lambda mode: _MODES.index(mode))

    def reaches(mode: FibreMode | None) -> bool:
        return all(
            any(optic.fibre_mode == mode and _fits(optic, cage) and _spans(optic, length_m) for optic in optics)
            for cage in cages
        )

    farthest = max(optics, key=lambda one: one.reach_m.value if one.reach_m else 0.0).fibre_mode
    fitting = [
        mode
        for mode in modes
        if all(any(optic.fibre_mode == mode and _fits(optic, cage) for optic in optics) for cage in cages)
    ]
    return next((mode for mode in modes if reaches(mode)), fitting[-1] if fitting else farthest)


def _fits(module: Cable, cage: str) -> bool:
    return not module.connectors or cage in module.connectors


def _spans(module: Cable, length_m: float) -> bool:
    return module.reach_m is None or module.reach_m.value >= length_m - _EQUAL_M


def _modules(
    optics: list[Cable], length_m: float, cages: Cages
) -> tuple[tuple[tuple[str, Fraction], ...], tuple[tuple[str, int], ...]]:
    """Modules at both ends: of those that fit the cage the first; of those of any cage where none fits."""
    quantities: dict[str, Fraction] = {}
    ends = []
    for cage in cages:
        fitting = [optic for optic in optics if _fits(optic, cage)] or optics
        best = min([module for module in fitting if _spans(module, length_m)] or fitting, key=_by_reach)
        quantities[best.id] = quantities.get(best.id, Fraction(0)) + Fraction(1, best.ports_each)
        ends.append((best.id, best.ports_each))
    return tuple(quantities.items()), tuple(ends)


def _by_reach(module: Cable) -> tuple[float, str]:
    return module.reach_m.value if module.reach_m is not None else 0.0, module.id


def _reaches(cable: Cable, length_m: float) -> bool:
    """Whether a cable is long enough; one without a length is cut to it."""
    return cable.length_m is None or cable.length_m.value >= length_m - _EQUAL_M
