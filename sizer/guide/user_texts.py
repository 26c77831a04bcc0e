"""The texts of an answer that users wrote, by the place where they stand."""

from collections.abc import Iterator

from sizer.guide.profile import Profile
from sizer.present.fonts.glyphs import glyph_remark
from sizer.sizing.result import SizingResult


def remark_on_glyphs(result: SizingResult, profile: Profile) -> str:
    """One sentence about characters of a user's text that no font of this machine draws, "" when all are drawn."""
    return glyph_remark(user_texts(result, profile))


def user_texts(result: SizingResult, profile: Profile) -> dict[str, str]:
    """Texts of request, profile and bill by the words for their place; the place named first has a text twice."""
    request = result.request
    return {
        "the customer's name": f"{profile.customer or request.customer} {request.quote.prepared_for}",
        "the title": request.title,
        "the company's name": profile.company,
        "the profile": f"{profile.contact} {profile.confidentiality} {profile.legal}",
        "the workloads' names": " ".join(workload.name for workload in request.workload),
        "the quote": " ".join(_strings(request.quote.model_dump())),
        "the request": " ".join(_strings(request.model_dump())),
        # Names of a user's own parts come from a catalogue laid over ours.
        "the bill": " ".join(
            f"{line.description} {line.manufacturer} {line.sku} {line.note}" for line in result.design.bill.lines
        ),
    }


def _strings(value: object) -> Iterator[str]:
    """Every text in plain data, keys of tables included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
