"""One colour for the cables of each network, the same in every file and for every size of a design."""

from dataclasses import dataclass

from sizer.physical.roles import NetworkPlane, NetworkRole


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
    NetworkPlane(NetworkRole.COMPUTE): _RAILS[0],
    NetworkPlane(NetworkRole.STORAGE): _ORANGE,
    NetworkPlane(NetworkRole.STORAGE_BACK_END, side="a"): _RED,
    NetworkPlane(NetworkRole.STORAGE_BACK_END, side="b"): _BLACK,
    NetworkPlane(NetworkRole.IN_BAND): _RAILS[1],
    NetworkPlane(NetworkRole.MANAGEMENT): _GREY,
}


def cable_colour(network: NetworkPlane) -> CableColour:
    """Colour of the cables of a network or one of its planes."""
    return _RAILS[(network.rail - 1) % len(_RAILS)] if network.rail else _NETWORKS.get(network, _WHITE)
