"""The page Catalogue: parts with their facts, what is unknown, the documents, and links that strangers wrote."""

import csv
import html
import io
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from sizer.catalog.checks import unknown_facts
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import statements
from sizer.catalog.schema import CATEGORIES, Source
from sizer.evidence import catalogue_tables as tables
from sizer.evidence.catalogue_tables import uses_of
from sizer.ui.evidence import catalogue
from sizer.ui.session_catalog import CATALOG_FOLDER
from tests.factories.examples import ROOT, catalog, sized
from tests.ui.pages import opened, widget

SCRIPT = "<script>alert(1)</script>"
SECRET = 123_456


def written(app: AppTest) -> str:
    """Notes and tables of the page."""
    return html.unescape(" ".join(one.proto.body for one in app.get("html")))


def look_at(app: AppTest, view: str) -> AppTest:
    """Another view of the page."""
    app.get("button_group")[0].set_value(view).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("kind", CATEGORIES)
def test_every_kind_lists_its_parts_and_shows_one_in_full(kind):
    app = opened("catalogue")
    widget(app.selectbox, "Kind of part").set_value(kind).run()
    assert not app.exception
    text = written(app)
    for item in catalog().folder(kind).values():
        assert item.name in text
    choice = widget(app.selectbox, "Part details")
    assert len(choice.options) == len(catalog().folder(kind)) == len(set(choice.options))
    assert choice.value is None or len(choice.options) == 1
    part = next(iter(catalog().folder(kind)))
    choice.set_value(part).run()
    assert not app.exception
    assert app.query_params["part"] in ([part], part)


@pytest.mark.parametrize("kind", CATEGORIES)
def test_a_part_in_full_states_every_fact_with_its_place(kind):
    for item in catalog().folder(kind).values():
        rows = tables.part_table(item, catalog()).rows
        cells = " ".join(cell.text or cell.where for row in rows for cell in row.cells)
        for said in statements(item):
            if not said.field.startswith("observed_as"):
                assert said.where in cells, (item.id, said.field)
                assert said.note in cells, (item.id, said.field)
        assert not re.search(r"\b(None|True|False)\b|[{}\[\]]|_w\b|_bytes", " ".join(row.cells[0].text for row in rows))


def test_the_facts_of_a_gpu_are_those_of_its_file():
    """NVIDIA V100 data sheet: 900 GB/s, 300 W, 125 TFLOP/s with tensor cores, 16 GB."""
    table = tables.part_table(catalog().item("v100-sxm2-16gb"), catalog())
    plain = {row.cells[0].text: row.cells[1].text.replace("\u202f", " ") for row in table.rows}
    assert plain["Memory bandwidth"].startswith("900 GB/s")
    assert plain["Power limit (TDP)"].startswith("300 W")
    assert plain["Peak, mixed precision"].startswith("125 TFLOP/s (other sources: 120 TFLOP/s")
    assert plain["Memory"].startswith("16 GiB")


def test_a_part_of_the_design_says_what_it_does_there():
    app = opened("catalogue", part="dgx-1")
    assert "In the present design: 9 × GPU server" in written(app)
    design = sized("dgx1-f800-resnet50").design
    assert uses_of("dgx-2", design) == []
    assert any("neural network" in use for use in uses_of("resnet50", design))
    assert any("72" in use for use in uses_of(design.platform.gpu.id, design))


def test_a_search_goes_through_all_kinds():
    app = opened("catalogue")
    widget(app.text_input, "Search all parts").set_value("isilon F800").run()
    assert widget(app.selectbox, "Part details").options[0] == "Dell EMC Isilon F800"
    widget(app.text_input, "Search all parts").set_value(SCRIPT).run()
    assert not app.exception
    assert app.info
    assert SCRIPT not in " ".join(one.proto.body for one in app.get("html"))


# --- links


def test_a_link_opens_its_part():
    app = opened("catalogue", part="sx6036")
    assert widget(app.selectbox, "Kind of part").value == "gateways"
    assert widget(app.selectbox, "Part details").value == "sx6036"
    # The user's own choice rules from then on.
    widget(app.selectbox, "Kind of part").set_value("gpus").run()
    assert widget(app.selectbox, "Kind of part").value == "gpus"
    assert not app.warning


@pytest.mark.parametrize("name", [SCRIPT, "nothing", "../../etc/passwd", "x" * 5_000, "[a](http://localhost)", "\0"])
def test_a_link_to_no_part_is_one_sentence(name):
    app = opened("catalogue", part=name)
    assert not app.exception
    (said,) = [one.value for one in app.warning]
    assert said
    assert len(said) < 400
    assert "<script>" not in said
    assert "](" not in said
    assert widget(app.selectbox, "Kind of part").value == "gpus"


@pytest.mark.parametrize(
    ("where", "address"),
    [
        ("web page https://example.org/a?b=c, page 2", "https://example.org/a?b=c"),
        ("http://example.org", ""),
        ("javascript:alert(1)", ""),
        ("see https://example.org/x.", "https://example.org/x"),
        ('https://example.org/"><script>', "https://example.org/"),
        ("GitHub", ""),
    ],
)
def test_only_a_secure_address_is_a_link(where, address):
    source = Source(id="x", title=SCRIPT, publisher=f"{SCRIPT} www.example.org", grade="D", where=where)
    assert tables.https_address(source) == address
    entry = catalogue._document(source)
    assert SCRIPT not in entry
    assert entry.count("<a ") == bool(address)
    assert re.findall('href="([^"]*)"', entry) == [address] * bool(address)


# --- prices


@pytest.fixture
def own_price(tmp_path, monkeypatch) -> str:
    """A folder over the catalogue with an own price of a DGX-2, which has a published one, too."""
    (tmp_path / "prices").mkdir()
    book = io.StringIO()
    csv.writer(book).writerows(
        [
            ["item", "amount", "currency", "date", "source", "where", "note", "discount_percent"],
            ["dgx-2", SECRET, "USD", "2019-01-01", "our quote", "mail", "internal note", "17"],
        ]
    )
    (tmp_path / "prices" / "own.csv").write_text(book.getvalue(), encoding="utf-8")
    monkeypatch.setenv(CATALOG_FOLDER, str(tmp_path))
    return str(tmp_path)


def test_own_prices_are_hidden_in_customer_mode_and_published_ones_are_not(own_price):
    app = opened("catalogue", part="dgx-2")
    assert "123\u202f456" in written(app)
    assert "internal note" in written(app)
    app.session_state.customer_mode = True
    app.run()
    for secret in ("123\u202f456", "internal note", "17 %", "our quote"):
        assert secret not in written(app)
    widget(app.selectbox, "Part details").set_value("dgx-1").run()
    assert "149\u202f000" in written(app)


# --- what is unknown


def test_what_must_be_asked_is_all_there():
    """Everything that the check of the catalogue finds unknown stands in the table, part by part."""
    found = {gap.item.id: gap for gap in tables.gaps(catalog())}
    for item_id, field in unknown_facts(catalog()):
        name = tables._name(field)
        gap = found[item_id]
        is_assumed = any(said.field == field and said.basis == "assumed" for said in statements(gap.item))
        assert name in (gap.assumed if is_assumed else gap.unpublished), (item_id, field)


def test_a_price_of_the_own_book_is_no_gap_unless_a_customer_looks(own_price):
    own = load_catalog(overlay=own_price)
    own = replace(own, prices=tuple(price for price in own.prices if price.item == "dgx-2"))
    for counts, is_gap in ((True, False), (False, True)):
        (gap,) = [one for one in tables.gaps(own, counts_own_prices=counts) if one.item.id == "dgx-2"]
        assert gap.has_no_price is is_gap


def test_unknown_facts_can_be_narrowed_to_the_design():
    app = look_at(opened("catalogue"), "Unknown facts")
    assert "WekaIO" in written(app)
    widget(app.toggle, "Only parts of the present design").set_value(True).run()
    assert not app.exception
    assert "Isilon F800" in written(app)
    assert "Apollo" not in written(app)
    widget(app.multiselect, "Kind of part").set_value(["gateways"]).run()
    assert app.info


def test_rates_of_a_gpu_have_their_unit():
    """Of every number format: 1.98 PFLOP/s, not 1 979 000 000 000 000."""
    rows = [one for gpu in catalog().gpus.values() for one in tables.part_table(gpu, catalog()).rows]
    rates = [one.cells[1].text for one in rows if one.cells[0].text.startswith(("Peak, ", "Matmul, "))]
    assert len(rates) > len(catalog().gpus)
    assert not [text for text in rates if "FLOP/s" not in text]


# --- sources


def test_every_document_is_listed_once():
    ids = re.findall(r'^id = "(.+)"', (ROOT / "catalog" / "sources.toml").read_text(encoding="utf-8"), flags=re.M)
    app = look_at(opened("catalogue"), "Sources")
    assert f"{len(ids)}\u00a0documents" in written(app)
    widget(app.text_input, "Search documents").set_value("no such words").run()
    assert app.info


def test_a_document_counts_the_facts_and_the_measurements_that_rest_on_it():
    measurements = catalogue._measurements()
    rows = {row.cells[0].text: row.cells for row in tables.sources_table(catalog(), measurements).rows}
    for name in ("horovod-2017", "lambda-tf"):
        source = catalog().sources[name]
        texts = [file.read_text(encoding="utf-8") for file in (ROOT / "catalog").glob("*/*.toml")]
        # A stack also names the sources whose wording means it; those are no facts.
        lines_of = [line for text in texts for line in text.splitlines() if "{ software = " not in line]
        facts = sum(line.count(f'source = "{name}"') for line in lines_of)
        books = [file.read_text(encoding="utf-8") for file in (ROOT / "catalog" / "benchmarks").glob("*.csv")]
        lines = sum(row["source"] == name for book in books for row in csv.DictReader(io.StringIO(book)))
        assert [rows[source.title][place].text for place in (4, 5)] == [str(facts), str(lines)]
