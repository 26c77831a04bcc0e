"""Page Bill as a customer sees it: no secret of the quote or the price book, and none of the tools."""

import tomllib

import pytest

from sizer.base.resources import data_dir
from sizer.workload.request import SizingRequest
from tests.factories.customer_secrets import EXAMPLE, QUOTE, secret_catalog, secret_request, secrets
from tests.ui.pages import BESIDE, PATH, assert_healthy, opened, to_page, unfold
from tests.ui.test_bill import BOOK, reset, texts

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
    unfold(to_page(app, page), *OPENED.get(page, ()), "share", "why-headline-price")
    assert_healthy(app)
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
    to_page(app, "bill")
    assert_healthy(app)
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
