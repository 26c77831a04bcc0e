"""Which links of a plan share a splitter.

A splitter has one plug: both its legs come from one cage of one device, whose ports then all run over it. A port alone
in its cage, or whose neighbour runs over something else, takes another cable.
"""

from collections.abc import Sequence

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.schema import Cable
from sizer.physical.networks.cables import CableChoice, choose_cables, splitters
from sizer.physical.networks.links import LinkGroup

# More cages than a device has.
MOST_CAGES = 4_096


def planned_cables(
    runs: Sequence[LinkGroup], lengths_m: Sequence[Floats], cables: tuple[Cable, ...]
) -> list[tuple[tuple[CableChoice, ...], Ints]]:
    """Choices of each run, and the number of each link's choice.

    Parameters
    ----------
    runs : sequence of LinkGroup
        All links of a design.
    lengths_m : sequence of ndarray
        Lengths of the links of each run. [m]
    cables : tuple of Cable
        The catalogue's cables.
    """
    shared = _splitter_lengths_m(runs, lengths_m, cables)
    found = []
    for run, own_m, splitter_m in zip(runs, lengths_m, shared, strict=True):
        splits = ~np.isnan(splitter_m)
        number = np.zeros(own_m.size, dtype=np.int64)
        choices: list[CableChoice] = []
        for of, length_m, may_split in ((splits, splitter_m, True), (~splits, own_m, False)):
            if of.any():
                more, numbers = choose_cables(cables, run.kind, length_m[of], run.cages, may_split=may_split)
                number[of] = len(choices) + numbers
                choices += more
        found.append((tuple(choices), number))
    return found


def _splitter_lengths_m(
    runs: Sequence[LinkGroup], lengths_m: Sequence[Floats], cables: tuple[Cable, ...]
) -> list[Floats]:
    """Length of the splitter that a link runs over, by the longest leg of its cage; nan where it runs over none. [m]"""
    shared = [np.full(length_m.size, np.nan) for length_m in lengths_m]
    together: dict[object, list[int]] = {}  # kind and cages -> runs: one splitter may serve any two of them
    for index, run in enumerate(runs):
        if splitters(cables, run.kind, run.cages) is not None:
            together.setdefault((run.kind.id, run.cages), []).append(index)
    for members in together.values():
        first = runs[members[0]]
        kind = splitters(cables, first.kind, first.cages)
        assert kind is not None
        device, port = (
            np.concatenate([getattr(runs[i], f"{'ab'[kind.plug_end]}_{part}") for i in members])
            for part in ("device", "port")
        )
        length_m = np.concatenate([lengths_m[i] for i in members])
        _, cage = np.unique(device * MOST_CAGES + port // kind.ports_each, return_inverse=True)
        longest_m = np.zeros(cage.max(initial=-1) + 1)
        np.maximum.at(longest_m, cage, length_m)
        is_split: Bools = (np.bincount(cage) == kind.ports_each) & (longest_m <= kind.reach_m)
        found = np.where(is_split, longest_m, np.nan)[cage]
        for i, part in zip(members, np.split(found, np.cumsum([lengths_m[i].size for i in members])[:-1]), strict=True):
            shared[i] = part
    return shared
