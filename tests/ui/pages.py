"""The app without a browser: opening pages, finding widgets, reading the headline."""

import copy
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element
from streamlit.util import calc_hash

from sizer.base.resources import data_dir

APP = Path(__file__).parents[2] / "app.py"
# Left to right, from a need to a quote.
PATH = ("requirements", "architecture", "performance", "what-if", "bill", "document")
BESIDE = ("compare", "designs", "evidence", "catalogue")


def opened(page: str = "requirements", **query: str) -> AppTest:
    """The app on one page, in a new session; ``query`` is what its address carries."""
    app = AppTest.from_file(APP, default_timeout=600)  # as of any test: a machine at work takes its time
    for name, value in query.items():
        app.query_params[name] = value
    app.session_state["more"] = True  # the fold of the figures besides the three tiles
    app.run()
    return to_page(app, page) if page != "requirements" else app


def to_page(app: AppTest, page: str) -> AppTest:
    """Another page of the same session. Pages made of functions have no file that ``switch_page`` could name."""
    app._page_hash = calc_hash("" if page == "requirements" else page)
    return app.run()


def load(app: AppTest, name: str, *, is_original: bool = False, **changes: object) -> AppTest:
    """Take an example, with other tables where ``changes`` has some, as the request of a session."""
    draft = tomllib.loads((data_dir("examples") / f"{name}.toml").read_text(encoding="utf-8"))
    app.session_state.draft = {**draft, **changes}
    if is_original:
        app.session_state.original = copy.deepcopy(draft)
    app.session_state.generation += 1
    return app.run()


def asked(question: str, name: str = "", **changes: object) -> AppTest:
    """A question of the page What-if about an example, in a new session."""
    app = load(opened(), name, **changes) if name else opened()
    app.session_state.question = question
    app = to_page(app, "what-if")
    assert_well(app)
    return app


def widget(kind, label: str):
    """Widget by its label."""
    found = [one for one in kind if one.label == label]
    assert found, f"no widget {label!r}; there are {[one.label for one in kind]}"
    return found[0]


def unfold(app: AppTest, *names: str) -> AppTest:
    """Open folds of the page by their keys: what they hold is drawn only then."""
    for name in names:
        app.session_state[name] = True
    return app.run()


def figures(app: AppTest) -> list[tuple[str, str]]:
    """The headline as label and value."""
    rows = []
    for figure in _blocks(app.main):
        if "-figure-" in getattr(figure.proto, "id", ""):
            (value,) = [one.proto.popover.label for one in _blocks(figure) if one.type == "popover"]
            label = next(one.value for one in figure.caption)
            rows.append((_unescaped(label), _unescaped(value)))
    return rows


def _blocks(block: Block) -> Iterator[Block]:
    for one in block.children.values():
        if isinstance(one, Block):
            yield one
            yield from _blocks(one)


def _unescaped(text: str) -> str:
    return re.sub(r"^:small\[.*?:\] ", "", text).replace("\\", "")


def html_of(app: AppTest) -> list[str]:
    """HTML that the page shows, without the scripts of the app itself: one of them has another text on every run."""
    return [one.proto.body for one in app.get("html") if not one.proto.unsafe_allow_javascript]


def said(app: AppTest) -> str:
    """Everything that the page says in errors, without the backslashes that keep Markdown from reading it."""
    return _unescaped(" ".join(one.value for one in (*app.error, *app.caption)))


def has_answer(app: AppTest) -> bool:
    """Whether the page shows the figures of an answer."""
    return len(figures(app)) >= 7


def assert_healthy(app: AppTest) -> None:
    """No exception, an answer or why there is none, at most one primary button."""
    assert not app.exception, [one.message for one in app.exception]
    reasons = [one.value for one in (*app.warning, *app.error)]
    assert has_answer(app) is not any(re.search("no answer yet|^No design meets", one) for one in reasons)
    primary = [one for kind in ("button", "download_button") for one in app.get(kind) if one.proto.type == "primary"]
    assert len(primary) <= 1


def assert_well(app: AppTest) -> None:
    """Neither an exception nor an error."""
    assert not app.exception, [one.message for one in app.exception]
    assert not app.error, [one.value for one in app.error]


def run_healthy(entry: Element) -> AppTest:
    """Run the script after an entry or a click, and find its page healthy."""
    app = entry.run()
    assert_healthy(app)
    return app


def run_well(entry: Element) -> AppTest:
    """The same without an error."""
    app = entry.run()
    assert_well(app)
    return app
