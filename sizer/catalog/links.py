"""Types of link that files name: of networks (EDR), between GPUs (NVLink 2), and to power (C14 inlet)."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, model_serializer

from sizer.base.faults import nearest, shown
from sizer.base.provenance import Sourced
from sizer.base.texts import Name, ShortText
from sizer.base.units import bytes_per_s_from_gbit_per_s
from sizer.catalog.items import Item

# Form of a GPU board: "sxm2", "oam", "pcie".
FormFactor = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=20)]
GbitPerS = Annotated[float, Field(ge=0.001, le=100_000)]
GpuCount = Annotated[int, Field(ge=1, le=10_000)]
Volts = Annotated[float, Field(ge=12, le=1_000)]

# Folders whose items the other files name by id, and keys of the validation context in which the loader passes them.
LINKS, GPU_LINKS, POWER_INLETS = "links", "gpu_links", "power_inlets"


class _ById(Item):
    """Two link types are the same when their ids are; what names one is written with its id."""

    @model_serializer
    def _as_id(self) -> str:
        return self.id

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


class LinkType(_ById):
    """A type of network link."""

    technology: Literal["infiniband", "ethernet"]
    gbit_per_s: Sourced[GbitPerS]  # on the label, one direction
    data_gbit_per_s: Sourced[GbitPerS] | None = None  # after line coding, where it differs from the label
    connector: Sourced[ShortText] | None = None
    # Link type whose cables stand in for planning where the catalogue holds no cable of this one.
    cables_of: ShortText | None = None
    netbox_type: ShortText | None = None  # of NetBox's interface types
    # Slower links, by their ids, that adapters of servers run or are sold for in the same slot.
    adapters_run: tuple[ShortText, ...] = ()

    @property
    def is_infiniband(self) -> bool:
        """Whether it needs a subnet manager, and a gateway to Ethernet."""
        return self.technology == "infiniband"

    @property
    def bytes_per_s(self) -> float:
        """Data rate, one direction. [B/s]"""
        rate = self.gbit_per_s if self.data_gbit_per_s is None else self.data_gbit_per_s
        return bytes_per_s_from_gbit_per_s(rate.value)


class GpuLink(_ById):
    """A type of link between the GPUs of a server, or of a rack of servers."""

    family: Name  # name without a generation, as sentences say it
    # GPUs of one NVLink domain where it is larger than a server, or tray; absent: those of the server.
    domain_gpus: Sourced[GpuCount] | None = None
    # Direct: GPU to GPU; switched: through switch chips; host: through the host's PCIe.
    topology: Literal["direct", "switched", "host"]
    form_factors: tuple[FormFactor, ...]  # of the GPUs that it joins


class PowerInlet(_ById):
    """A kind of power inlet of a device, and the outlet or circuit that feeds it."""

    outlet: Name  # on a rack PDU: "C13"; of an inlet without a PDU the circuit
    phases: Literal[1, 3] = 1
    # Voltage of the circuit: between phases where there are three. [V]
    low_v: Sourced[Volts]
    high_v: Sourced[Volts]
    netbox_type: ShortText | None = None  # of NetBox's power ports
    netbox_outlet_type: ShortText | None = None  # of NetBox's power outlets


def _resolved_in(folder: str) -> BeforeValidator:
    def resolved(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, _ById):
            return value
        known: Mapping[str, Item] = (info.context or {}).get(folder, {})
        if isinstance(value, str) and value in known:
            return known[value]
        hint = nearest(value, known) if isinstance(value, str) else ""
        raise ValueError(f"{shown(value)} is not in {folder}/{hint}; known are {', '.join(known)}")

    return BeforeValidator(resolved)


# Fields whose files name a link by its id.
LinkId = Annotated[LinkType, _resolved_in(LINKS)]
GpuLinkId = Annotated[GpuLink, _resolved_in(GPU_LINKS)]
PowerInletId = Annotated[PowerInlet, _resolved_in(POWER_INLETS)]


def fastest_first(links: Iterable[LinkType]) -> list[LinkType]:
    """Links by their rate, InfiniBand before Ethernet of the same rate."""
    return sorted(links, key=lambda link: (-link.gbit_per_s.value, not link.is_infiniband, link.id))
