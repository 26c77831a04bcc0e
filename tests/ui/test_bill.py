"""Page Bill: changes of lines, lines of the quote's own, its heading, price books, and what a customer sees of them."""

import tomllib
from datetime import date
from decimal import Decimal
from html import unescape
from typing import Any

import pytest

from sizer.base.formats.toml_text import to_toml
from sizer.base.resources import data_dir
from sizer.ui.session_catalog import catalog
from sizer.ui.state import outcome
from sizer.workload.request import SizingRequest
from tests.factories.customer_secrets import EXAMPLE, QUOTE, secret_catalog, secret_request, secrets
from tests.ui.pages import (
    BESIDE,
    PATH,
    assert_healthy,
    figures,
    html_of,
    opened,
    run_healthy,
    said,
    to_page,
    unfold,
    widget,
)

# Folds by page, which are drawn only once they are open.
OPENED = {
    "requirements": ("expert", "may-be-used", "not-exceeded", "existing", "fabric-and-room", "printed"),
    "architecture": ("compare-parts", "compare-requests"),
    "document": ("branding",),
}


def customer_app(monkeypatch, tmp_path):
    """The app in customer mode over a request and a price book full of secrets."""
    catalog = secret_catalog(tmp_path)
    monkeypatch.setenv("SIZER_CATALOG_FOLDER", str(tmp_path))
    app = opened()
    asked = tomllib.loads((data_dir("examples") / f"{EXAMPLE}.toml").read_text(encoding="utf-8"))
    app.session_state.draft = {**asked, "quote": QUOTE}
    app.session_state.customer_mode = True
    app.session_state.price_book = BOOK.replace("offer 17", "INTERNAL-OFFER")
    app.session_state.price_book_name = "INTERNAL-FILE.csv"
    app.session_state.bill_tab = "Edit lines"
    return app.run(), [*secrets(secret_request(), catalog), "INTERNAL"]


@pytest.mark.parametrize("page", [*PATH, *BESIDE])
def test_a_customer_sees_no_secret(monkeypatch, tmp_path, page):
    app, hidden = customer_app(monkeypatch, tmp_path)
    assert_healthy(unfold(to_page(app, page), *OPENED.get(page, ()), "share", "why-headline-price"))
    shown = str(app._tree) + texts(app)
    assert "Inception-v4" in shown
    assert [secret for secret in hidden if secret in shown] == []


def test_the_search_for_secrets_finds_them_where_they_are_shown(monkeypatch, tmp_path):
    app, hidden = customer_app(monkeypatch, tmp_path)
    app.session_state.customer_mode = False
    to_page(app, "bill")
    reset(app, "Bill")
    shown = str(app._tree) + texts(app)
    assert len([secret for secret in hidden if secret in shown]) > 10
    reset(app, "Price book")
    assert "INTERNAL-FILE" in texts(app)


def test_a_change_of_the_request_with_the_customer_looking_tells_nothing_of_overrides(monkeypatch, tmp_path):
    app, hidden = customer_app(monkeypatch, tmp_path)
    app.session_state.draft["platforms"] = {"servers": ["c4140"]}
    assert_healthy(to_page(app, "bill"))
    assert not app.error
    shown = str(app._tree) + texts(app) + " ".join(one.value for one in app.toast)
    assert "set aside" not in shown.lower()
    assert [secret for secret in hidden if secret in shown] == []


def test_a_customer_sees_the_bill_and_none_of_its_tools(monkeypatch, tmp_path):
    app, _ = customer_app(monkeypatch, tmp_path)
    to_page(app, "bill")
    assert not app.get("data_editor")
    assert not app.tabs
    assert not app.file_uploader
    assert "Unit price, USD" in texts(app)
    tables = " ".join(one.proto.body for one in app.get("html")).lower()
    assert "list price" not in tables
    assert "discount" not in tables


def test_a_customer_sees_no_ranking_of_platforms_and_no_cost_of_another():
    app = opened()
    app.session_state.draft["platforms"] = {"servers": ["dgx-1", "c4140"]}
    app.session_state.platforms = app.session_state.more = True
    to_page(app, "architecture")
    app.session_state["architecture-tabs"] = "Alternatives"
    app.run()
    assert "The best design of each" in texts(app)
    assert "costs least" in texts(app)
    app.session_state.customer_mode = True
    app.run()
    assert "The best design of each" not in texts(app)
    assert "costs least" not in texts(app)
    assert "would settle" not in texts(app)
    assert not any(one.label.startswith("Price of one") for one in app.text_input)


def test_the_request_of_the_secrets_is_one_that_the_app_takes():
    assert SizingRequest.from_dict(secret_request().model_dump(exclude_none=True)) == secret_request()


BOOK = (
    "item,amount,currency,date,source,discount_percent\n"
    "dgx-1,1001.00,USD,2026-11-20,offer 17,10\nr740xd,500.25,USD,2026-11-20,offer 17,\n"
)


def bill(tab: str = "Bill", **quote: Any):
    """The page with one of its tabs open and a quote in the request."""
    app = opened()
    app.session_state.bill_tab = tab
    if quote:
        app.session_state.draft["quote"] = quote
    return to_page(app, "bill")


def texts(app) -> str:
    """Everything that the page says, tables and notes included."""
    html = " ".join(map(unescape, html_of(app)))
    shown = (*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.success, *app.header, *app.title)
    return f"{html} {' '.join(one.value for one in shown)}".replace("\\", "")


def button(app, label: str):
    return widget(app.button, label)


def reset(app, tab: str):
    """The same session with another tab open."""
    to_page(app, "architecture")
    app.session_state.bill_tab = tab
    return to_page(app, "bill")


# --- changed lines


def test_changed_lines_are_marked_and_go_back_one_by_one():
    app = bill(
        "Edit lines",
        override=[
            {"item": "dgx-1", "quantity": 10, "note": "one to spare"},
            {"item": "r740xd", "unit_price": "500.25"},
        ],
    )
    assert_healthy(app)
    assert "2\xa0changed lines" in " ".join(one.value for one in app.subheader)
    assert "✎ **1.1 GPU server: DGX-1" in texts(app)
    assert "quantity 10 instead of 9; note: one to spare" in texts(app)
    assert "list price USD 500.25" in texts(app)
    assert "changed by the quote" in texts(reset(app, "Bill"))
    reset(app, "Edit lines")
    run_healthy(next(one for one in app.button if one.label == "Restore computed value").click())
    assert app.session_state.draft["quote"] == {"override": [{"item": "r740xd", "unit_price": "500.25"}]}


def test_all_lines_go_back_at_once():
    app = bill(
        "Edit lines", override=[{"item": "dgx-1", "quantity": 10}, {"item": "r740xd", "quantity": 2}], number="Q"
    )
    run_healthy(button(app, "Restore all computed values").click())
    assert app.session_state.draft["quote"] == {"number": "Q"}
    assert "changed lines" not in " ".join(one.value for one in app.subheader)


def test_changes_survive_every_page_and_the_file_of_the_request():
    override = [{"item": "r740xd", "quantity": 2, "unit_price": "18123.57", "discount_percent": "7.5", "note": "spare"}]
    app = bill("Bill", override=override)
    before = texts(app)
    # Two at 18 123.57 less 7.5 %: 16 764.30 each.
    assert "33\u202f528.60" in before
    for page in ("requirements", "architecture", "performance", "what-if", "document", "bill"):
        assert_healthy(to_page(app, page))
    assert texts(app) == before
    file = to_toml(app.session_state.draft).encode()
    other = opened()
    other.file_uploader[0].set_value(("request.toml", file, "text/plain")).run()
    assert not other.error
    assert tomllib.loads(to_toml(other.session_state.draft)) == tomllib.loads(file.decode())
    assert "33\u202f528.60" in texts(to_page(other, "bill"))


@pytest.mark.parametrize(("item", "quantity"), [("dgx-1", 10), ("isilon-f800", 3)])
def test_a_quantity_by_hand_can_become_that_of_the_design(item, quantity):
    """One DGX-1 more is a spare one; more chassis of the storage are capacity that is asked for."""
    app = bill("Edit lines", override=[{"item": item, "quantity": quantity}])
    run_healthy(button(app, "Use in the design").click())
    request = SizingRequest.from_dict(app.session_state.draft)
    (line,) = (one for one in outcome(request, catalog()).result.design.bill.bought if one.item == item)
    assert (line.quantity, request.quote.override) == (quantity, ())


def test_a_change_whose_item_left_the_bill_goes_with_a_sentence_and_undo_brings_it_back():
    app = bill("Edit lines", override=[{"item": "dgx-1", "quantity": 10}])
    first = figures(app)
    unfold(to_page(app, "requirements"), "may-be-used")
    widget(app.multiselect, "Servers").set_value(["c4140"])
    button(app, "Apply allowed equipment").click().run()
    assert_healthy(to_page(app, "bill"))
    assert not app.error, said(app)
    assert "NVIDIA DGX-1: not in this bill, so your changes of its line no longer apply." in texts(app)
    assert figures(app) != first
    assert "quote" not in app.session_state.draft
    run_healthy(button(app, "Undo").click())
    assert app.session_state.draft["quote"]["override"] == [{"item": "dgx-1", "quantity": 10}]
    assert figures(app) == first


def test_a_quantity_that_was_set_for_another_design_is_dropped_with_a_sentence():
    """Ten DGX-1 were set for a design of nine; a quarter of the rate needs fewer, and the price stays."""
    app = bill("Edit lines", override=[{"item": "dgx-1", "quantity": 10, "unit_price": "140000"}])
    assert "with a quantity changed by hand" in texts(app)
    widget(to_page(app, "requirements").text_input, "Minimum rate").set_value("12000 images/s").run()
    assert_healthy(to_page(app, "bill"))
    assert app.session_state.draft["quote"]["override"] == [{"item": "dgx-1", "unit_price": "140000"}]
    (warning,) = [one.value.replace("\\", "") for one in app.warning if "no longer apply" in one.value]
    assert "instead of 9, so your quantity of 10 no longer applies" in warning
    assert "changed by hand" not in texts(app)
    button(app, "Dismiss").click().run()
    assert not [one for one in app.warning if "no longer apply" in one.value]


# --- lines of its own


def test_a_line_is_added_changed_and_removed():
    app = bill("Own lines")
    button(app, "Add a line").click().run()
    assert not app.error, said(app)
    unfold(app, "line-0")
    widget(app.text_input, "Description").set_value("Installation on site").run()
    widget(unfold(app, "line-0").text_input, "Quantity").set_value("3").run()
    widget(unfold(app, "line-0").text_input, "Unit list price, USD").set_value("18.777,77").run()
    run_healthy(widget(unfold(app, "line-0").text_input, "Discount, %").set_value("12,5"))
    (line,) = SizingRequest.from_dict(app.session_state.draft).quote.line
    assert (line.description, line.category, line.quantity) == ("Installation on site", "service", 3)
    assert (line.unit_price, line.discount_percent) == (Decimal("18777.77"), Decimal("12.5"))
    # Three at 18 777.77 less an eighth: 16 430.55 each.
    assert "49\u202f291.65" in texts(reset(app, "Bill"))
    assert "added by the quote" in texts(app)
    reset(app, "Own lines")
    widget(unfold(app, "line-0").selectbox, "In the quote").set_value("optional").run()
    assert app.session_state.draft["quote"]["line"][0]["status"] == "optional"
    run_healthy(button(unfold(app, "line-0"), "Remove this line").click())
    assert "quote" not in app.session_state.draft


@pytest.mark.parametrize(
    ("tab", "label", "text", "words"),
    [
        ("Own lines", "Quantity", "0", "Quantity"),
        ("Own lines", "Quantity", "2.5", "is not a whole number"),
        ("Own lines", "Unit list price, USD", "1e400", "is not a price"),
        ("Own lines", "Unit list price, USD", "-5", "is not a price"),
        ("Own lines", "Discount, %", "120", "120"),
        ("Own lines", "Term, months", "999", "999"),
        ("Quote", "Deal discount, %", "120", "120"),
        ("Quote", "Validity, days", "0", "Validity"),
        ("Quote", "Validity, days", "soon", "soon"),
    ],
)
def test_a_bad_field_of_the_quote_is_named_and_stays_as_typed(tab, label, text, words):
    app = bill(tab, number="Q-1", line=[{"description": "Training", "category": "service", "quantity": 1}])
    before = figures(app)
    run_healthy(widget(unfold(app, "line-0").text_input, label).set_value(text))
    assert words in said(app)
    assert "Showing the previous result" in said(app)
    assert figures(app) == before
    app = unfold(reset(app, tab), "line-0")
    assert widget(app.text_input, label).value == text


# --- the quote


def test_heading_and_discount_of_the_deal_are_kept():
    app = bill("Quote")
    for label, text in {
        "Quote number": "Q-2026-017",
        "Revision": "B",
        "Prepared by": "Presales",
        "Validity, days": "14",
        "Deal discount, %": "10",
    }.items():
        widget(app.text_input, label).set_value(text).run()
    assert_healthy(app)
    quote = SizingRequest.from_dict(app.session_state.draft).quote
    assert (quote.number, quote.revision, quote.prepared_by) == ("Q-2026-017", "B", "Presales")
    assert (quote.valid_days, quote.discount_percent) == (14, 10)
    # Nine DGX-1 at 149 000, less a tenth: the low end of the range falls by 0.13 million and its support.
    assert dict(figures(app))["Price"] == "USD 1.5 to 2.9 million"
    # 14 days from 21 November.
    assert "valid until 5 December 2026" in texts(app)
    widget(app.text_input, "Deal discount, %").set_value("").run()
    assert "discount_percent" not in app.session_state.draft["quote"]


# --- price book


def upload(app, name: str, content: bytes):
    run_healthy(widget(app.file_uploader, "Price book, CSV or XLSX").set_value((name, content, "text/csv")))
    return app


def test_a_price_book_is_laid_over_the_catalogue_and_taken_off_again():
    app = bill("Price book")
    before, digest = figures(app), app.caption[-1].value
    upload(app, "offer <17>.csv", BOOK.encode())
    assert not app.error
    assert "Prices from offer <17>.csv" in texts(app)
    # Nine at 1001.00 less 10 % = 900.90 in place of 149 000, and one at 500.25: the rest is 0.3 to 1.8 million.
    assert "USD 0." in dict(figures(app))["Price"]
    assert app.caption[-1].value != digest, "the catalogue's digest names the prices, too"
    for page in ("requirements", "document", "bill"):
        assert_healthy(to_page(app, page))
    assert dict(figures(app)) != dict(before)
    button(app, "Remove price book").click().run()
    assert figures(app) == before
    assert app.session_state.price_book == ""


def test_nothing_of_a_faulty_book_is_taken_and_each_fault_has_its_line():
    app = bill("Price book")
    before = figures(app)
    upload(
        app,
        "book.csv",
        b"item,amount,currency,date,source\ndgx-1,5,USD,2026,q\nr740xd,1e400,USD,2026,q\nr740,5,USD,2026,\n",
    )
    assert "book.csv was not loaded" in said(app)
    assert "2\xa0errors" in said(app)
    shown = texts(app)
    for text in (">3<", ">amount<", ">1e400<", ">4<", ">source<", ">empty<"):
        assert text in shown
    assert figures(app) == before
    upload(app, "offer.csv", BOOK.encode())
    assert "was not loaded" not in said(app)


def test_a_book_that_does_not_fit_the_catalogue_any_more_is_dropped():
    app = opened("bill")
    app.session_state.price_book = "item,amount,currency,date,source\ngone,5,USD,2026-11-20,q\n"
    app.session_state.price_book_name = "old.csv"
    app.run()
    assert_healthy(app)
    assert app.session_state.price_book == ""


def test_what_endangers_the_date_of_need_stands_in_a_banner():
    """F800: service until May 2029, less than three years after 1 March 2027, which is 100 days after the quote."""
    app = opened()
    app.session_state.draft |= {"date": date(2026, 11, 21), "needed_by": date(2027, 3, 1)}
    app.session_state.draft["platforms"] = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}
    assert_healthy(to_page(app, "bill"))
    (banner,) = [one.value for one in app.warning if "Date of need" in one.value]
    assert "Isilon F800" in banner
    assert "100" not in banner
    assert texts(app).count("service ends 2029-05") == 1
    assert texts(app).count("until 1 March 2027") == 1
