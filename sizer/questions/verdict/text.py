"""The verdict with the claims behind it, as tables, in sentences and as plain text."""

from collections.abc import Callable, Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.design_summary import design_summary
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.money import design_text, price_range_text
from sizer.present.text.verdict import verdict_text
from sizer.present.words import listed
from sizer.questions.verdict.analysis import Claim
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, RatedDesign, SimplestDesign, room_taken
from sizer.sizing.result import SizingResult


def claims_table(claims: Sequence[Claim]) -> Table:
    """Every claim with its number, its threshold, and how the number comes about.

    Claims about the whole request come first, then workload by workload.
    """
    names = list(dict.fromkeys(claim.workload for claim in claims))
    has_several = len({claim.workload for claim in claims if claim.workload}) > 1
    return record_table(
        "claims",
        "Claims in favour of the simpler option",
        sorted(claims, key=lambda claim: (claim.workload != "", names.index(claim.workload))),
        [
            Field("Claim", lambda claim: claim.facts()[0], width=20),
            Field("Holds", lambda claim: "yes" if claim.holds else "no", width=7),
            Field("Number and threshold", _number_text, width=16),
            Field("Finding and arithmetic", lambda one: Cell(" ".join(one.facts()[1:]), cites=one.sources), width=57),
        ],
        group=lambda claim: claim.workload if has_several else "",
    )


def _number_text(claim: Claim) -> str:
    least = "at most" if claim.at_most else "at least"
    return f"{_number(claim, claim.value)}, {least} {_number(claim, claim.threshold)}"


def _number(claim: Claim, value: float) -> str:
    """A number of a claim with its unit."""
    if claim.unit == "storage":
        return words.name(STORAGE_ORDER[int(value)])
    if claim.unit == "share" and value <= 1:
        return words.percent(value)
    if claim.unit in ("share", "ratio"):
        return f"{significant(value)}{NARROW_SPACE}×"
    if claim.unit == "servers":
        return words.plural(int(value), "server")
    return si(value, claim.unit)


def simplest_table(simplest: SimplestDesign, result: SizingResult) -> Table:
    """The simplest sufficient design compared with the described one, and the one that only choices exclude."""
    described = RatedDesign(result.request, result.design, simplest.described)
    rated = [("This design", described)]
    if not simplest.is_described:
        rated.append(("Simplest allowed", simplest.allowed))
    if simplest.unrestricted is not None:
        rated.append(("Without the choices", simplest.unrestricted))
    fields: list[Field[tuple[str, RatedDesign]]] = [
        Field("Design", lambda one: f"{one[0]}: {one[1].design.name}", width=31),
        Field("Kinds of networks", lambda one: grouped(one[1].simplicity.network_kinds), "right", 11),
        Field("Devices", lambda one: grouped(one[1].simplicity.devices), "right", 9),
        Field("Rack units", lambda one: grouped(float(one[1].design.quantities.rack_units[0])), "right", 8),
        Field("Power", lambda one: result_text.power(one[1].design), "right", 13),
        Field("Probability", lambda one: words.chance(one[1].design.probability), "right", 14),
    ]
    if not result.design.bill.is_customer_copy:
        fields.append(Field("Price", lambda one: price_range_text(one[1].design), "right", 14))
    note = (
        "Order of simplicity: one server before several; local drives, then a file server, a multi-node NAS, a "
        "clustered file system; fewer kinds of networks; fewer servers, storage chassis, switches and gateways. "
        "Never more servers than this design, nor more than 1.5 times its GPUs or power. Without the choices of the "
        "request, a design that costs half or less counts, too."
    )
    return record_table(
        "simplest",
        "The simplest design that is enough",
        rated,
        fields,
        kind=lambda one: "strong" if one[1] is described else "",
        note=note,
    )


# Choices of a request as sentences name them.
_CHOICES = {
    "platforms.servers": "the servers allowed",
    "platforms.forbidden_servers": "the servers excluded",
    "platforms.gpus": "the GPUs allowed",
    "platforms.storage": "the storage allowed",
    "platforms.forbidden_storage": "the storage excluded",
    "platforms.fabrics": "the fabrics allowed",
    "platforms.storage_tier": "the storage tier",
    "limits.power_w": "the power allowed",
    "limits.rack_units": "the rack units allowed",
    "limits.racks": "the racks allowed",
}
# An amount of each limit of the room.
_ROOM: dict[str, Callable[[float], str]] = {
    "limits.power_w": lambda amount: si(amount, "W"),
    "limits.rack_units": plain,
    "limits.racks": plain,
}


def verdict_document(result: SizingResult, claims: Sequence[Claim], simplest: SimplestDesign) -> dict[str, Any]:
    """Whether a design is needed, for machines. Keys of claims stay the same from version to version."""
    return json_document(
        "verdict",
        **fields_of(result, "catalog_digest", "calibration_digest", "needs_cluster"),
        verdict=verdict_text(result),
        design=design_summary(result.design),
        simplest=fields_of(
            simplest,
            "is_described",
            in_the_way=simplest.excluding_choices,
            allowed=_rated(simplest.allowed),
            without_choices=None if simplest.unrestricted is None else _rated(simplest.unrestricted),
        ),
        claims=[_claim(claim) for claim in claims],
    )


def _rated(rated: RatedDesign) -> dict[str, object]:
    return {
        **design_summary(rated.design),
        **fields_of(rated.simplicity, "network_kinds", "devices"),
        "platforms": rated.request.platforms.model_dump(mode="json", exclude_defaults=True),
    }


def _claim(claim: Claim) -> dict[str, object]:
    title, finding, arithmetic = claim.facts()
    return fields_of(
        claim,
        *("key", "workload", "holds", "value", "threshold", "unit", "sources"),
        claim=title,
        finding=finding,
        holds_at_most=claim.at_most,
        arithmetic=arithmetic,
    )


def simplest_text(simplest: SimplestDesign, result: SizingResult) -> list[str]:
    """Whether a design is simpler than the described one, and which choices of the request exclude it."""
    if simplest.is_described:
        sentences = ["Nothing that the request allows is simpler than the described design."]
    else:
        design = simplest.allowed.design
        networks = design.quantities.networks
        has_fabric = any(net.role is NetworkRole.COMPUTE and int(net.end_points[0]) for net in networks)
        over = f" over {design.platform.fabric.name}" if has_fabric else ""
        sentences = [f"A simpler design is also enough: {design_text(design)}{over}."]
    if simplest.unrestricted is not None:
        taken = room_taken(result.request, simplest.unrestricted.design)
        choices = listed(
            f"{_CHOICES[key]}, {_ROOM[key](taken[key][1])} in place of {_ROOM[key](taken[key][0])}"
            if key in taken
            else _CHOICES[key]
            for key in simplest.excluding_choices
        )
        other, why = simplest.unrestricted.design, "simpler" if simplest.is_simpler_without_choices else "cheaper"
        sentences.append(f"{design_text(other)} would be enough and {why}; excluded by the request ({choices}).")
    elif result.request.platforms != type(result.request.platforms)():
        sentences.append("Without the choices of the request, no design would be simpler or far cheaper either.")
    return sentences
