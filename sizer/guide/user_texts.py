"""Texts written by users in a result, by place."""

from collections.abc import Iterator

from sizer.guide.profile import Profile
from sizer.present.fonts.glyph_remark import glyph_remark
from sizer.present.text.bill_lines import note_text
from sizer.sizing.result import SizingResult


def remark_on_glyphs(result: SizingResult, profile: Profile) -> str:
    """Remark on characters in users' texts that no installed font has; "" where there are none."""
    return glyph_remark(user_texts(result, profile))


def user_texts(result: SizingResult, profile: Profile) -> dict[str, str]:
    """Texts of request, profile and bill by place; a repeated text belongs to the first place."""
    request = result.request
    return {
        "the customer's name": request.customer,
        "the title": request.title,
        "the company's name": profile.company,
        "the profile": f"{profile.contact} {profile.confidentiality} {profile.legal}",
        "the workloads' names": " ".join(workload.name for workload in request.workload),
        "the quote": " ".join(_strings(request.quote.model_dump())),
        "the request": " ".join(_strings(request.model_dump())),
        # Custom parts have names from the user's own catalogue.
        "the bill": " ".join(
            f"{line.description} {line.manufacturer} {line.sku} {note_text(line)}" for line in result.design.bill.lines
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
