"""The customer's copy: no document made from it tells discounts or internal notes."""

import csv
import html
import io
import json
import zipfile
from collections.abc import Callable
from decimal import Decimal

import openpyxl
import pytest

from sizer import SizingRequest, SizingResult, size
from sizer.base.formats.json_document import json_text
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.deck.outline import deck
from sizer.export.design_json import design_document
from sizer.export.netbox import netbox_zip
from sizer.export.tables.plan_tables import cables_csv
from sizer.export.tables.table import bill_csv
from sizer.export.workbook.book import workbook
from sizer.guide.pdf.render import guide_html
from sizer.present.text.bill_warnings import note_text
from sizer.present.text.warnings import design_warnings
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.reasons import RunnerUpKind, RunnerUpReason
from tests.factories.customer_secrets import secret_catalog, secret_request, secrets, spellings

CENT = Decimal("0.01")
# --- documents


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return secret_catalog(tmp_path_factory.mktemp("overlay"))


@pytest.fixture(scope="module")
def request_() -> SizingRequest:
    return secret_request()


@pytest.fixture(scope="module")
def full(request_: SizingRequest, catalog: Catalog) -> SizingResult:
    return size(request_, catalog)


@pytest.fixture(scope="module")
def copy(full: SizingResult) -> SizingResult:
    return customer_copy(full)


# Everything that is in a file, as text: of archives every part, formulas and properties included.
DOCUMENTS: dict[str, Callable[[SizingResult, Catalog], str]] = {
    "design.json": lambda result, _: json_text(design_document(result)),
    "bom.csv": lambda result, _: bill_csv(result).decode("utf-8-sig"),
    "bom.xlsx": lambda result, catalog: unpacked(workbook(result, catalog)),
    "guide.html": lambda result, catalog: html.unescape(guide_html(result, catalog)),
    "cables.csv": lambda result, catalog: cables_csv(result, catalog).decode("utf-8-sig"),
    "netbox.zip": lambda result, catalog: unpacked(netbox_zip(result, catalog)),
    "slides.pptx": lambda result, catalog: unpacked(deck(result, catalog)),
}


def unpacked(archive: bytes) -> str:
    """Names and texts of all parts of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        names = files.namelist()
        return html.unescape("\n".join([*names, *(files.read(name).decode(errors="replace") for name in names)]))


WITH_BILL = ("design.json", "bom.csv", "bom.xlsx", "guide.html")


@pytest.mark.guides
def test_the_full_documents_hold_the_secrets(full: SizingResult, request_: SizingRequest, catalog: Catalog) -> None:
    """Or the search below would prove nothing."""
    found = {name: DOCUMENTS[name](full, catalog) for name in WITH_BILL}
    notes = {one.note for one in (*request_.quote.override, *request_.quote.line)}
    assert len(notes) == 8
    for name, text in found.items():
        assert notes <= {note for note in notes if note in text}, name
        assert "INTERNAL-COST plus three" in text
    for secret in ("2.39", "7.43", "18123.57", "18777.77"):
        assert secret in found["design.json"]
        assert secret in found["bom.csv"] or secret == "2.39"
    assert "2.39\xa0%" in found["guide.html"]
    assert "18\u202f123.57" in found["guide.html"]
    assert "INTERNAL-LIST of the partner programme" in found["guide.html"]
    assert full.runner_up_reason.kind is RunnerUpKind.DEARER
    assert full.runner_up_reason.other is not None
    assert all(point.cost is not None for point in full.pareto.value)
    assert full.design.bill.is_complete


@pytest.mark.guides
def test_no_document_of_the_copy_holds_a_secret(copy: SizingResult, request_: SizingRequest, catalog: Catalog) -> None:
    hidden = secrets(request_, catalog)
    assert len(hidden) > 500
    for name, document in DOCUMENTS.items():
        text = document(copy, catalog)
        assert [secret for secret in hidden if secret in text] == [], name
        assert "INTERNAL" not in text
        assert "internal-partner-list" not in text
        assert name != "guide.html" or any(total in text for total in spellings(copy.design.bill.total))


def test_every_document_of_the_copy_tells_the_total(full: SizingResult, copy: SizingResult, catalog: Catalog) -> None:
    total = full.design.bill.total
    copied = {name: DOCUMENTS[name](copy, catalog) for name in ("design.json", "bom.csv")}
    assert copy.design.bill.total == total
    assert json.loads(copied["design.json"])["bill"]["total"] == f"{total:.2f}"
    rows = list(csv.DictReader(io.StringIO(copied["bom.csv"])))
    bought = [Decimal(row["Extended price"]) for row in rows if row["Status"] == "computed"]
    assert sum(bought) == total
    book = openpyxl.load_workbook(io.BytesIO(workbook(copy, catalog)), data_only=True)
    for sheet in ("BOM", "Summary"):
        cells = [cell.value for row in book[sheet].iter_rows() for cell in row]
        assert any(isinstance(cell, float) and Decimal(repr(cell)).quantize(CENT) == total for cell in cells), sheet


def test_the_design_document_of_the_copy_tells_no_list_price(copy: SizingResult) -> None:
    document = design_document(copy)
    bill = document["bill"]
    assert (bill["list_total"], bill["deal_discount_percent"]) == (None, None)
    for line in bill["lines"]:
        assert (line["unit_list_price"], line["discount_percent"], line["extended_list"]) == (None, None, None)
        assert line["change"] is None
        assert line["status"] in ("computed", "optional", "by others", "existing")
    assert set(document["request"]["quote"]) == {"number", "revision", "prepared_by", "valid_days"}
    assert SizingRequest.from_dict(document["request"]).quote == copy.request.quote


def test_the_copy_is_the_same_answer_without_the_price_of_other_designs(full: SizingResult, copy: SizingResult) -> None:
    assert copy.request.quote.model_dump(exclude={"discount_percent", "override", "line"}) == (
        full.request.quote.model_dump(exclude={"discount_percent", "override", "line"})
    )
    assert (copy.request.quote.discount_percent, copy.request.quote.override, copy.request.quote.line) == (0, (), ())
    assert [one.name for one in copy.platforms] == [one.name for one in full.platforms]
    assert [one is copy.design for one in copy.platforms] == [one is full.design for one in full.platforms]
    assert copy.design.plan is full.design.plan
    assert copy.design.bill.valid_until == full.design.bill.valid_until
    for other in copy.platforms:
        assert other is copy.design or other.bill.net_total.is_unknown
    assert {point.cost for point in (*copy.pareto.value, copy.runner_up)} == {None}  # type: ignore[union-attr]
    is_settled = full.runner_up_reason.is_settled
    assert copy.runner_up_reason == RunnerUpReason(RunnerUpKind.DEARER, is_settled=is_settled)
    assert not any("USD" in text for text in design_warnings(copy.design))
    assert "internal-partner-list" in full.sources
    assert set(full.sources) - set(copy.sources) == {"internal-partner-list"}
    assert customer_copy(copy) == copy


def test_a_published_list_price_that_is_paid_keeps_its_source() -> None:
    """tweaktown-gtc17: 149,000 USD for a DGX-1 at launch."""
    asked = secret_request().model_dump(exclude={"quote"}, exclude_none=True)
    plain = size(SizingRequest.from_dict(asked), shipped_catalog())
    told = customer_copy(plain)
    (line,) = [line for line in told.design.bill.lines if line.item == "dgx-1"]
    assert (line.unit_price, line.price_source) == (149_000, "tweaktown-gtc17")
    assert note_text(line) == "list price at launch, V100 model"
    assert any("2017-05" in warning.values for warning in told.design.bill.warnings)
    assert told.design.bill.lines == plain.design.bill.lines
    assert told.sources == plain.sources
    deal = SizingRequest.from_dict({**asked, "quote": {"discount_percent": 1}})
    (line,) = [line for line in customer_copy(size(deal, shipped_catalog())).design.bill.lines if line.item == "dgx-1"]
    assert (line.extended_net, line.price_source, note_text(line)) == (Decimal("1327590.00"), "", "")
    assert line.unit_price == 147_510
