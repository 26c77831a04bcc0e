"""The entry of the app: one session, one answer, the pages of the path and those beside it."""

# Imported here, so that the first page does not wait for them one after the other.
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import altair  # noqa: F401
import pandas  # noqa: F401
import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage

from sizer.base.errors import CatalogError
from sizer.drawings.palette import LIGHT
from sizer.ui import headline, look, session_store, sharing, state
from sizer.ui.architecture import page as architecture
from sizer.ui.bill import overrides
from sizer.ui.bill import page as bill
from sizer.ui.designs import page as designs
from sizer.ui.document import page as document
from sizer.ui.evidence import catalogue
from sizer.ui.evidence import page as evidence
from sizer.ui.performance import page as performance
from sizer.ui.questions import page as what_if
from sizer.ui.requirements import page as requirements
from sizer.ui.session_catalog import catalog
from sizer.ui.state import View
from sizer.ui.typed import plain


@dataclass(frozen=True)
class _Page:
    """One page; ``what`` is what it shows, as the page before it names it. Beside the path nothing follows."""

    title: str
    show: Callable[[View], None]
    what: str = ""
    needs_answer: bool = True

    @property
    def url_path(self) -> str:
        return self.title.lower()


# From a need to a quote, in this order.
_PATH = (
    _Page("Requirements", requirements.show, "what is asked", needs_answer=False),
    _Page("Architecture", architecture.show, "what it is made of"),
    _Page("Performance", performance.show, "how fast, and how sure"),
    _Page("What-if", what_if.show, "what would change it"),
    _Page("Bill", bill.show, "what to buy"),
    _Page("Document", document.show, "the guide and the files"),
)
_BESIDE = (
    _Page("Designs", designs.show, needs_answer=False),
    _Page("Evidence", evidence.show, needs_answer=False),
    _Page("Catalogue", catalogue.show, needs_answer=False),
)


def _icon() -> str:
    """Three servers in the accent colour; an icon by name would be fetched from the internet."""
    bars = "".join(f'<rect x="3" y="{y}" width="26" height="7" rx="2"/>' for y in (3, 12.5, 22))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="{LIGHT.accent}">{bars}</svg>'


def main() -> None:
    """Draw the page that the address names."""
    st.set_page_config(page_title="Deep-learning cluster configurator", page_icon=_icon(), layout="wide")
    look.style(look.palette())
    try:
        if "draft" not in st.session_state:
            _begin()
        parts = catalog()  # with the price book of the session that was just taken up
    except CatalogError as error:
        _faulty_catalog(error)
        return
    overrides.settle(parts)
    state.note_step()
    view = state.view(parts)
    pages: dict[str, StreamlitPage] = {}
    for page in (*_PATH, *_BESIDE):
        pages[page.title] = st.Page(
            _drawn(page, view, pages), title=page.title, url_path=page.url_path, default=page is _PATH[0]
        )
    st.navigation(list(pages.values()), position="top").run()
    session_store.keep()


def _begin() -> None:
    """A new session: what its address names, or the first example."""
    st.session_state.generation = 0
    query = st.query_params.to_dict()
    names_design = sharing.PARAMETER in query or designs.DESIGN in query
    if not names_design and session_store.recall(query):
        return
    state.load_first()
    if sharing.PARAMETER in query:
        state.load_link(query[sharing.PARAMETER])
        del st.query_params[sharing.PARAMETER]
    designs.open_from_link(query)


def _drawn(page: _Page, view: View, pages: Mapping[str, StreamlitPage]) -> Callable[[], None]:
    def draw() -> None:
        headline.show(view)
        if view.result is None and page.needs_answer:
            st.info("There is no design to show yet. The page Requirements says what stands in the way.")
            return
        page.show(view)
        _next_step(page, pages)
        headline.below(view)

    return draw


def _next_step(page: _Page, pages: Mapping[str, StreamlitPage]) -> None:
    following = dict(pairwise(_PATH)).get(page)
    if following is not None:
        st.space("small")
        st.page_link(
            pages[following.title],
            label=f"Next: {following.title}, {following.what}",
            icon=":material/arrow_forward:",
        )


def _faulty_catalog(error: CatalogError) -> None:
    st.title("Catalogue not read", anchor=False)
    st.error("The folder laid over the catalogue has faults; mend them and reload the page.", icon=":material/block:")
    st.markdown("\n".join(f"- {plain(fault)}" for fault in error.faults[:50]))


if __name__ == "__main__":
    main()
