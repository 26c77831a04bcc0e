"""A need as one JSON document: the design, or as it was read, with what is asked or why it is refused."""

from typing import Any

from sizer.base.errors import InfeasibleError
from sizer.base.formats.json_document import json_document
from sizer.catalog.model import Catalog
from sizer.export.design_json import design_document
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reading import Reading


def need_document(reading: Reading, refusal: str = "") -> dict[str, Any]:
    """A need that was not sized: as read, with what is asked, or why it is refused."""
    # "questions" are texts here as in an answer; "asked" also has the answers that each may have.
    texts = [one.text for one in reading.questions if one.about != "refused"]
    told = reading.told() | ({"refused": refusal} if refusal else {})
    return json_document(
        "need", request=reading.request, assumptions=list(reading.assumptions), questions=texts, **told
    )


def answer_document(reading: Reading, catalog: Catalog) -> dict[str, Any]:
    """The document that ``sizer size --json`` prints.

    Raises SizerError if the request is not valid, or has no answer for a reason other than its limits.
    """
    if reading.questions:
        return need_document(reading)
    try:
        return design_document(size(SizingRequest.from_dict(reading.request), catalog), reading)
    except InfeasibleError as error:
        return need_document(reading, str(error))
