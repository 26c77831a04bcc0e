"""Claims with what overturns them, and the simplest sufficient design beside the described one, as tables."""

from collections.abc import Callable, Iterator, Sequence

from sizer.base.quantities import NARROW_SPACE, grouped, si, significant
from sizer.catalog.links import kind_name
from sizer.present import result_text, words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.questions.verdict.analysis import Claim
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, Simple, SimplestDesign
from sizer.sizing.result import DesignAnswer, SizingResult

# Choices of a request in words, as sentences say them.
CHOICES = {
    "platforms.servers": "the servers allowed",
    "platforms.forbidden_servers": "the servers ruled out",
    "platforms.gpus": "the GPUs allowed",
    "platforms.storage": "the storage allowed",
    "platforms.forbidden_storage": "the storage ruled out",
    "platforms.fabrics": "the fabrics allowed",
}


def claims_table(found: Sequence[Claim], result: SizingResult) -> Table | None:
    """Every claim with its number, its threshold and what overturns it; None where there are none."""
    if not found:
        return None
    heads = columns(
        ("Claim", "left", 25),
        ("Holds", "left", 7),
        ("Number", "right", 12),
        ("Threshold", "right", 15),
        ("What would overturn it", "left", 41),
    )
    note = (
        "Each claim is put in favour of the simpler thing. A changed request was sized anew on "
        "both sides of the step at which a claim turns."
    )
    if result.request.team is not None:
        note = (
            "Each claim is put in favour of the simpler thing. For claims about one workload the "
            "design, which the waits of the team size, was held while the workload changed."
        )
    return Table("claims", "Claims and what would overturn them", heads, tuple(_by_workload(found, _short)), note)


def arithmetic_table(found: Sequence[Claim]) -> Table | None:
    """Every claim with its finding and the arithmetic behind it."""
    if not found:
        return None
    heads = columns(("Claim", "left", 22), ("Finding", "left", 34), ("Arithmetic", "left", 44))
    return Table("claims-arithmetic", "The arithmetic of the claims", heads, tuple(_by_workload(found, _long)))


def _by_workload(found: Sequence[Claim], show: Callable[[Claim], Row]) -> Iterator[Row]:
    """Rows under the name of their workload, where there are several."""
    names = list(dict.fromkeys(claim.workload for claim in found if claim.workload))
    for name in ("", *names):
        if name and len(names) > 1:
            yield row(name, kind="group")
        yield from (show(claim) for claim in found if claim.workload == name)


def _short(claim: Claim) -> Row:
    bound = "at most {number}" if claim.at_most else "at least {number}"
    turned = Cell(claim.unmoved, is_muted=True) if claim.overturn is None else claim.overturn.sentence
    return row(
        claim.title,
        holds_text(claim),
        claim_number(claim, claim.value),
        bound.format(number=claim_number(claim, claim.threshold)),
        turned,
    )


def _long(claim: Claim) -> Row:
    return row(claim.title, claim.sentence, Cell(claim.reason, cites=claim.sources))


def holds_text(claim: Claim) -> str:
    """Whether a claim holds, in a word."""
    return "yes" if claim.holds else "no"


def claim_number(claim: Claim, value: float) -> str:
    """A number of a claim with its unit."""
    if claim.unit == "storage":
        return words.name(STORAGE_ORDER[int(value)])
    if claim.unit == "share":
        return words.percent(value)
    if claim.unit == "ratio":
        return f"{significant(value)}{NARROW_SPACE}×"
    if claim.unit == "servers":
        return words.plural(int(value), "server")
    return si(value, claim.unit)


# --- the simplest design


def simplest_text(found: SimplestDesign, result: SizingResult) -> list[str]:
    """Whether there is a simpler design than the described one, and which choice of the request stands in its way."""
    said = []
    if found.is_described:
        said.append("Nothing that the request allows is simpler than the described design.")
    else:
        said.append(
            f"A simpler design is enough, too: {found.allowed.design.name} over "
            f"{kind_name(found.allowed.design.platform.fabric)}."
        )
    if found.lifted is not None:
        said.append(
            f"{found.lifted.design.name} would be enough and simpler; the request leaves it out by "
            f"{words.listed(CHOICES[key] for key in found.in_the_way)}."
        )
    elif result.request.platforms != type(result.request.platforms)():
        said.append("Without the choices of the request there would be no simpler one either.")
    return said


def simplest_table(found: SimplestDesign, result: SizingResult) -> Table:
    """The simplest sufficient design beside the described one, and the one that only choices rule out."""
    is_priced = not result.design.bill.is_customer_copy
    mine = Simple(result.request, result.design, found.described)
    listed = [("This design", mine)]
    if not found.is_described:
        listed.append(("Simplest allowed", found.allowed))
    if found.lifted is not None:
        listed.append(("Simplest without the choices", found.lifted))
    rows = tuple(_design_row(label, one, is_priced, is_mine=one is mine) for label, one in listed)
    heads = columns(
        ("Design", "left", 31),
        ("Kinds of networks", "right", 11),
        ("Devices", "right", 9),
        ("Rack units", "right", 8),
        ("Power", "right", 13),
        ("Probability", "right", 14),
        (result_text.price_label(result.design.bill), "right", 14),
    )
    heads = heads if is_priced else heads[:-1]
    note = (
        "Simpler is: one server before several; drives in the servers, then a file server, a NAS "
        "of several nodes, a clustered file system; fewer kinds of networks; fewer servers, "
        "storage chassis, switches and gateways."
    )
    return Table("simplest", "The simplest design that is enough", heads, rows, note)


def _design_row(label: str, one: Simple, is_priced: bool, *, is_mine: bool) -> Row:
    design: DesignAnswer = one.design
    return row(
        f"{label}: {design.name}",
        grouped(one.simplicity.network_kinds),
        grouped(one.simplicity.devices),
        grouped(float(design.quantities.rack_units[0])),
        result_text.power(design),
        words.percent(design.probability),
        *([result_text.price(design.bill)] if is_priced else []),
        kind="strong" if is_mine else "",
    )
