"""Claims with what would reverse them, and the simplest sufficient design compared with the described one."""

from collections.abc import Callable, Sequence

from sizer.base.quantities import NARROW_SPACE, grouped, si, significant
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.money import price_range_text
from sizer.questions.verdict.claim import Claim
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, RatedDesign, SimplestDesign
from sizer.questions.verdict.text import claim_arithmetic, claim_finding, claim_title, reversal_text
from sizer.sizing.result import SizingResult


def claims_table(claims: Sequence[Claim], result: SizingResult) -> Table | None:
    """Every claim with its number, its threshold and what reverses it; None where there are none."""
    if not claims:
        return None
    note = "Each claim favours the simpler option. Each change was confirmed by resizing the request with it."
    if result.request.team is not None:
        note = (
            "Each claim favours the simpler option. With a team, claims about one workload keep the design fixed "
            "while the workload changes."
        )
    fields: list[Field[Claim]] = [
        Field("Claim", claim_title, width=25),
        Field("Holds", holds_text, width=7),
        Field("Number", lambda claim: claim_number(claim, claim.value), "right", 12),
        Field("Threshold", _threshold_text, "right", 15),
        Field(
            "What would reverse it", lambda claim: Cell(reversal_text(claim), is_muted=claim.reversal is None), width=41
        ),
    ]
    title = "Claims and what would reverse them"
    ordered = _by_workload(claims)
    return record_table("claims", title, ordered, fields, group=_group_of(claims), note=note)


def arithmetic_table(claims: Sequence[Claim]) -> Table | None:
    """Every claim with its finding and its arithmetic; None where there are none."""
    if not claims:
        return None
    fields: list[Field[Claim]] = [
        Field("Claim", claim_title, width=22),
        Field("Finding", claim_finding, width=34),
        Field("Arithmetic", lambda claim: Cell(claim_arithmetic(claim), cites=claim.sources), width=44),
    ]
    title, ordered = "Arithmetic of the claims", _by_workload(claims)
    return record_table("claims-arithmetic", title, ordered, fields, group=_group_of(claims))


def _by_workload(claims: Sequence[Claim]) -> list[Claim]:
    """Claims about the whole request, then workload by workload."""
    names = list(dict.fromkeys(claim.workload for claim in claims))
    return sorted(claims, key=lambda claim: (claim.workload != "", names.index(claim.workload)))


def _group_of(claims: Sequence[Claim]) -> Callable[[Claim], str]:
    """Name of the workload of a claim, where there are several."""
    has_several = len({claim.workload for claim in claims if claim.workload}) > 1
    return lambda claim: claim.workload if has_several else ""


def _threshold_text(claim: Claim) -> str:
    return f"at {'most' if claim.at_most else 'least'} {claim_number(claim, claim.threshold)}"


def holds_text(claim: Claim) -> str:
    """Whether a claim holds, in a word."""
    return "yes" if claim.holds else "no"


def claim_number(claim: Claim, value: float) -> str:
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
        rated.append(("Simplest without the choices", simplest.unrestricted))
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
        "Never more servers than this design, nor more than 1.5 times its GPUs or power."
    )
    return record_table(
        "simplest",
        "The simplest design that is enough",
        rated,
        fields,
        kind=lambda one: "strong" if one[1] is described else "",
        note=note,
    )
