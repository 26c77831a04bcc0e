"""Steps on the pages of saved designs."""

from datetime import UTC, datetime

from streamlit.testing.v1 import AppTest

from sizer import SizingRequest, size
from sizer.library.library import Library, content_of
from tests.factories.examples import catalog, sized
from tests.ui.pages import run_healthy, to_page, widget

SCRIPT = "<script>alert(1)</script> ![x](http://localhost/x.png) :red[y]"
RATE = "Minimum rate"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def text_of(app: AppTest) -> str:
    """What the page says in its own words, without the backslashes that keep Markdown from reading it."""
    kinds = (app.markdown, app.caption, app.info, app.success, app.warning, app.error, app.header, app.toast)
    return " ".join(one.value for kind in kinds for one in kind).replace("\\", "")


def save(app: AppTest, button: str = "", **typed: str) -> AppTest:
    """Fill the form of the popover and press one of its buttons."""
    labels = {"name": "Name of the design", "comment": "Comment: what changed, and why", "author": "Your name"}
    for part, text in typed.items():
        widget(app.text_input, labels[part]).set_value(text)
    present = {one.label for one in app.button}
    first = "Save the design" if "Save the design" in present else "Save as the next revision"
    run_healthy(widget(app.button, button or first).click())
    return app


def change(app: AppTest, rate: str) -> AppTest:
    """Another target on the page Requirements."""
    run_healthy(widget(to_page(app, "requirements").text_input, RATE).set_value(rate))
    return app


def fill(library: Library, n: int, name: str = "Design {}", customer: str = "") -> list[str]:
    """So many designs of one revision each."""
    result = sized("small-team")
    draft = result.request.model_dump(mode="json", exclude_defaults=True) | {"customer": customer}
    content = content_of(draft, "", size(SizingRequest.from_dict(draft), catalog()), catalog())
    ids = [f"design-{number:04}" for number in range(n)]
    for number, design_id in enumerate(ids):
        library.create(design_id, name.format(number), content, author="Ann", comment="", now=NOON)
    return ids
