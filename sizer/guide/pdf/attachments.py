"""Files attached to a PDF/A-3 document: the data it is based on."""

import datetime
import re
from collections.abc import Mapping
from typing import Any

# Ending -> media type and what the file is to the document (ISO 32000-2, 7.11.3, AFRelationship): the design is what
# the guide was written from, a workbook is the data that its tables show.
_KINDS = {
    ".json": ("application/json", "Source"),
    ".xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Data"),
    ".csv": ("text/csv", "Data"),
}
_OTHER = ("application/octet-stream", "Unspecified")
# A file in a PDF carries dates; a fixed one keeps equal documents equal.
_UNDATED = datetime.date(2000, 1, 1)


def attached(files: Mapping[str, bytes], date: datetime.date | None) -> list[Any]:
    """Files as WeasyPrint attaches them.

    ``files``: file name, without folders, to content. ``date``: date of the document, which becomes that of the
    files. Raises ValueError if two names are the same once cleaned.
    """
    from weasyprint import Attachment

    from sizer.guide.pdf.packaged import ATTACHED, AttachedOnly

    kinds = {clean_name(name): (data, *_kind(name)) for name, data in files.items()}
    if len(kinds) < len(files):
        raise ValueError(f"two attachments have the same name: {', '.join(sorted(files))}")
    fetcher = AttachedOnly({name: (data, media_type) for name, (data, media_type, _) in kinds.items()})
    day = datetime.datetime.combine(date or _UNDATED, datetime.time(), datetime.UTC)
    return [
        Attachment(
            url=f"{ATTACHED}{name}",
            url_fetcher=fetcher,
            name=name,
            created=day,
            modified=day,
            relationship=relationship,
        )
        for name, (_, _, relationship) in kinds.items()
    ]


def clean_name(name: str) -> str:
    """File name without folders, of letters, digits, dots, dashes and underscores only."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", re.split(r"[/\\]", name)[-1]).strip(".-")
    return plain[-80:] or "file"


def _kind(name: str) -> tuple[str, str]:
    return _KINDS.get(name[name.rfind(".") :].lower(), _OTHER)
