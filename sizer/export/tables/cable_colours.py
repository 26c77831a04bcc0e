"""One colour for the cables of each network, the same in every file and for every size of a design."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CableColour:
    """A colour that jackets or labels are sold in."""

    name: str
    code: str  # RRGGBB in small letters


_ORANGE = CableColour("orange", "ff8c00")
_RED = CableColour("red", "d62728")
_BLACK = CableColour("black", "222222")
_GREY = CableColour("grey", "8a8f98")
_WHITE = CableColour("white", "f2f2f2")
# Rails of a compute fabric that is kept apart, rail 1 first; no server of the catalogue has more than ten ports.
_RAILS = (
    CableColour("blue", "1f77b4"),
    CableColour("green", "2ca02c"),
    CableColour("yellow", "ffd500"),
    CableColour("violet", "7b3fa0"),
    CableColour("turquoise", "17becf"),
    CableColour("pink", "e377c2"),
    CableColour("brown", "8c564b"),
    CableColour("lime", "a6d854"),
    CableColour("navy", "1b2a6b"),
    CableColour("beige", "e5c494"),
)
_NETWORKS = {
    "compute fabric": _RAILS[0],
    "storage front end": _ORANGE,
    "storage back end, a": _RED,
    "storage back end, b": _BLACK,
    "management": _GREY,
}


def cable_colour(network: str) -> CableColour:
    """Colour of the cables of a network, named with its plane: "compute fabric, rail 2"."""
    _, is_rail, rail = network.partition(", rail ")
    return _RAILS[(int(rail) - 1) % len(_RAILS)] if is_rail else _NETWORKS.get(network, _WHITE)
