"""What the design joins on the page Requirements: equipment at hand, the fabric's shape, and the room."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.present.words import plural
from sizer.ui import fields, state
from sizer.ui.error_messages import LABELS, Path_
from sizer.ui.requirements.workload import named
from sizer.ui.state import View
from sizer.workload.request import Site

_KINDS = {"servers": "Servers", "storage_nodes": "Storage nodes", "switches": "Switches"}
_MOST = 100_000
_MAX_RACKS = 100  # of a request


def existing(view: View) -> None:
    """Equipment that the customer has: it is used and listed, but not bought."""
    counts = {item: n for kind in _KINDS for item, n in _mapping(("existing", kind)).items()}
    racks = _racks()
    names = {
        **_choices(view.catalog, "servers"),
        **_choices(view.catalog, "storage_nodes"),
        **_choices(view.catalog, "switches"),
    }
    said = [f"{n} × {names.get(item, item)}" for item, n in counts.items()]
    said += [plural(len(racks), "rack")] if racks else []
    folded = fields.fold("What is there already", ", ".join(said) or "nothing", "existing")
    if not folded.open:
        return
    with folded:
        columns = st.columns(3, gap="large")
        for column, (kind, label) in zip(columns, _KINDS.items(), strict=True):
            with column:
                _counted(view.catalog, kind, label)
        for number in range(len(racks)):
            _rack(("existing", "racks", number), number)
        st.button(
            "Add a rack with room",
            on_click=_add_rack,
            icon=":material/add:",
            type="tertiary",
            disabled=len(racks) >= _MAX_RACKS,
        )


def _mapping(path: Path_) -> dict[str, Any]:
    found = state.get(path)
    return dict(found) if isinstance(found, Mapping) else {}


def _racks() -> list[Any]:
    found = state.get(("existing", "racks"))
    return found if isinstance(found, list) else []


def _choices(parts: Catalog, kind: str) -> dict[str, str]:
    if kind == "servers":
        return named({key: item for key, item in parts.servers.items() if item.role == "gpu"})
    if kind == "storage_nodes":
        return named({key: item for key, item in parts.storage.items() if item.kind != "local"})
    return named(parts.switches)


def _counted(parts: Catalog, kind: str, label: str) -> None:
    """Which items are there, and of each how many."""
    here: Path_ = ("existing", kind)
    present = _mapping(here)
    known = {**{item: item for item in present}, **_choices(parts, kind)}
    key = f"{fields.key(here)}/which"
    if key not in st.session_state:
        st.session_state[key] = list(present)

    def changed() -> None:
        chosen = st.session_state[key]
        state.put(here, {item: present.get(item, 1) for item in chosen})

    st.multiselect(
        f"{label} at hand",
        list(known),
        format_func=lambda item: known.get(item, item),
        key=key,
        placeholder="none",
        on_change=changed,
        help="The design may use them; they are listed and not bought. Default: none.",
    )
    for item in present:
        fields.whole(f"Number of {known[item]}", (*here, item), f"From 1 to {_MOST}.", _MOST, "1", after=state.refresh)


def _rack(path: Path_, number: int) -> None:
    """Room in one rack that the customer has."""
    with st.container(border=True, key=f"existing-rack-{number}"):
        columns = st.columns(4, gap="medium", vertical_alignment="top")
        with columns[0]:
            fields.text("Name of the rack", (*path, "name"), "As labels print it; each name once.", 40, "R1")
        with columns[1]:
            fields.whole("Free units in one piece", (*path, "free_u"), "From 1 to 60.", 60)
        with columns[2]:
            fields.whole("Lowest free unit", (*path, "first_free_u"), "From 1 to 60. Default: 1.", 60, "1")
        with columns[3]:
            fields.quantity("Power left on each feed", (*path, "power_w"), "With its unit: 5 kW.", "5 kW")
        with columns[0]:
            fields.number("Load left, kg", (*path, "load_kg"), "Default: the free units' share.", 0.0, 5_000.0, "share")
        with columns[1]:
            _outlets("C13", (*path, "outlets_c13"))
        with columns[2]:
            _outlets("C19", (*path, "outlets_c19"))
        with columns[3]:
            st.button(
                "Remove the rack",
                key=f"remove-rack-{number}",
                on_click=_remove_rack,
                args=(number,),
                icon=":material/delete:",
                type="tertiary",
            )


def _outlets(kind: str, path: Path_) -> None:
    fields.whole(f"{kind} outlets left", path, "On each feed, up to 200. Default: the free units' share.", 200, "share")


def _add_rack() -> None:
    taken = {str(rack.get("name")) for rack in _racks()}
    name = next(name for n in range(1, _MAX_RACKS + 2) if (name := f"Rack {n}") not in taken)
    state.put(("existing", "racks"), [*_racks(), {"name": name, "free_u": 20, "power_w": "5 kW"}])
    state.refresh()


def _remove_rack(number: int) -> None:
    state.put(("existing", "racks"), [rack for place, rack in enumerate(_racks()) if place != number])
    state.refresh()


def fabric_and_room(view: View) -> None:
    """How the compute fabric is built, and what the room gives."""
    racks, pdus = named(view.catalog.racks), named(view.catalog.pdus)
    given = [part for table in ("fabric", "site") for part in _mapping((table,))]
    said = ", ".join(LABELS.get(part, part).lower() for part in given) or "the usual"
    folded = fields.fold("Fabric and room", said, "fabric-and-room")
    if not folded.open:
        return
    with folded, st.form("fabric-and-room-form", border=False):
        left, middle, right = st.columns(3, gap="large")
        with left:
            fields.number(
                "Oversubscription of the fabric",
                ("fabric", "oversubscription"),
                "Ports down to ports up of a leaf, from 1 to 16. Default: 1, non-blocking.",
                1.0,
                16.0,
                "1",
                in_form=True,
            )
            fields.whole(
                "Servers that may come later",
                ("fabric", "spare_servers"),
                "Their ports, rack units and watts are kept free, up to 10 000. Default: none.",
                10_000,
                "none",
                in_form=True,
            )
        with middle:
            fields.flag(
                "One network for each port of a server",
                ("fabric", "rails_apart"),
                "Rails that are not joined with each other. Default: one network.",
            )
            fields.flag(
                "Director switches instead of more levels",
                ("fabric", "directors"),
                "Where one switch is not enough. Default: leaves and spines.",
            )
            fields.whole(
                "Racks in a row", ("site", "racks_per_row"), "From 1 to 100. Default: 10.", 100, "10", in_form=True
            )
        with right:
            fields.choice(
                "Kind of rack", ("site", "rack"), racks, Site().rack, f"Default: {racks[Site().rack]}.", in_form=True
            )
            fields.choice(
                "Power distribution unit",
                ("site", "pdu"),
                pdus,
                Site().pdu,
                f"One or more on each of two feeds to a rack. Default: {pdus[Site().pdu]}.",
                in_form=True,
            )
            fields.number(
                "PUE of the room",
                ("site", "pue_ratio"),
                "Power of the room over that of the equipment, from 1 to 5. Default: none, and no energy of the room.",
                1.0,
                5.0,
                "not known",
                in_form=True,
            )
        paths: list[Path_] = [
            ("fabric", part) for part in ("oversubscription", "spare_servers", "rails_apart", "directors")
        ]
        paths += [("site", part) for part in ("racks_per_row", "rack", "pdu", "pue_ratio")]
        st.form_submit_button("Apply", on_click=fields.store_all, args=(paths,), key="apply-fabric-and-room")
