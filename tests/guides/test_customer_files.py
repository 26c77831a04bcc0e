"""Every file of a customer's copy, unpacked: no word of how the answer was found and of what the request excluded."""

import html
import io
import json
import zipfile
from pathlib import Path

import pikepdf
import pypdfium2
import pytest

from sizer import Catalog, SizingResult, size
from sizer.documents import FORMATS, document, file_name, usual_kinds
from tests.factories.customer_internals import excluding_request, internals
from tests.factories.customer_secrets import secret_catalog, secrets

pytestmark = pytest.mark.guides


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return secret_catalog(tmp_path_factory.mktemp("overlay"))


@pytest.fixture(scope="module")
def result(catalog: Catalog) -> SizingResult:
    return size(excluding_request(), catalog)


def texts(name: str, data: bytes) -> dict[str, str]:
    """Texts of a file by their places: pages, metadata and attachments of a PDF, parts of a ZIP, names included."""
    found = {name: name}
    if data.startswith(b"%PDF"):
        pages = pypdfium2.PdfDocument(data)
        try:
            found[f"{name}: pages"] = " ".join(page.get_textpage().get_text_range() for page in pages)
        finally:
            pages.close()
        with pikepdf.open(io.BytesIO(data)) as file:
            found[f"{name}: metadata"] = str(file.docinfo) + bytes(file.Root.Metadata.read_bytes()).decode()
            for inside in file.attachments:
                found |= texts(f"{name}: {inside}", file.attachments[inside].get_file().read_bytes())
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            for part in parts.namelist():
                found |= texts(f"{name}: {part}", parts.read(part))
    else:
        found[name] += " " + html.unescape(data.decode("utf-8", "replace"))
    return {place: " ".join(text.split()) for place, text in found.items()}


def all_texts(result: SizingResult, catalog: Catalog, is_copy: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind in (*usual_kinds(is_copy), "archive"):
        found |= texts(file_name(result, kind), document(result, catalog, kind, customer_copy=is_copy))
    return found


def without_sources(text: str, catalog: Catalog) -> str:
    for source in catalog.sources.values():
        for part in (source.title, source.publisher, source.where):
            text = text.replace(part, "") if part else text
    return text


def test_a_customers_copy_holds_no_internal_word(result: SizingResult, catalog: Catalog) -> None:
    hidden = [*internals(result), *secrets(result.request, catalog)]
    whole, copy = (all_texts(result, catalog, is_copy) for is_copy in (False, True))
    planted = [word for word in hidden if any(word in text for text in whole.values())]
    assert len(planted) > 60, "the search finds them where they may stand"
    for place, text in copy.items():
        # A figure's source may be a page of a vendor whose product is excluded.
        told = without_sources(text, catalog)
        assert [word for word in hidden if word in told] == [], place
    assert all(any(FORMATS[kind] in place for place in copy) for kind in usual_kinds(customer_copy=True))


def test_a_customers_design_is_still_a_request(result: SizingResult, catalog: Catalog, tmp_path: Path) -> None:
    told = json.loads(document(result, catalog, "design", customer_copy=True))
    assert {"request", "design", "plan", "bill", "verdict"} <= set(told)
    assert set(told["request"]["platforms"]) & {"forbidden_servers", "forbidden_storage"} == set()
    asked = excluding_request()
    assert told["request"]["workload"][0]["dnn"] == asked.workload[0].dnn
