"""The archive for a customer, page by page and file by file: no discount, list price behind one, or internal note."""

import io
import zipfile
from pathlib import Path

import pikepdf
import pypdfium2
import pytest

from sizer import size
from sizer.documents import document
from tests.factories.customer_secrets import secret_catalog, secret_request, secrets

pytestmark = pytest.mark.guides


def texts(pdf: bytes) -> dict[str, str]:
    """Text of the pages, of the metadata and of every file inside; workbooks are unpacked."""
    pages = pypdfium2.PdfDocument(pdf)
    try:
        # A line end may stand inside what is looked for.
        found = {"pages": " ".join(page.get_textpage().get_text_range() for page in pages)}
    finally:
        pages.close()
    with pikepdf.open(io.BytesIO(pdf)) as file:
        found["metadata"] = str(file.docinfo) + bytes(file.Root.Metadata.read_bytes()).decode()
        for name in file.attachments:
            data = file.attachments[name].get_file().read_bytes()
            if zipfile.is_zipfile(io.BytesIO(data)):
                with zipfile.ZipFile(io.BytesIO(data)) as parts:
                    data = b"\n".join(parts.read(part) for part in parts.namelist())
            found[name] = data.decode("utf-8", "replace")
    return {name: " ".join(text.split()) for name, text in found.items()}


def test_the_archive_for_a_customer_holds_no_secret(tmp_path: Path) -> None:
    catalog, request = secret_catalog(tmp_path), secret_request()
    result = size(request, catalog)
    full, copy = (texts(document(result, catalog, "archive", customer_copy=is_copy)) for is_copy in (False, True))
    assert set(full) == set(copy) == {"pages", "metadata", "design.json", "bom.xlsx"}
    hidden = secrets(request, catalog)
    # The search finds them where they may stand.
    for name in ("pages", "design.json", "bom.xlsx"):
        assert any(secret in full[name] for secret in hidden), name
        assert "INTERNAL" in full[name]
    for name, text in copy.items():
        assert [secret for secret in hidden if secret in text] == [], name
        assert "INTERNAL" not in text
