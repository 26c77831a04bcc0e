"""Entry of the app: one session, one result, the pages of the main path and the reference pages."""

# Imported here, so that the first page does not wait for them one after the other.
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import altair  # noqa: F401
import pandas  # noqa: F401
import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage

from sizer.base.errors import CatalogError, reported
from sizer.drawings.palette import LIGHT
from sizer.present.words import capital
from sizer.ui import headline, look, need, session_store, sharing, state
from sizer.ui.app_server import turns
from sizer.ui.architecture.page import show as show_architecture
from sizer.ui.bill.overrides import reconcile
from sizer.ui.bill.page import show as show_bill
from sizer.ui.designs.compare import show as show_compare
from sizer.ui.designs.page import open_from_link
from sizer.ui.designs.page import show as show_designs
from sizer.ui.designs.saving import DESIGN
from sizer.ui.document.page import show as show_document
from sizer.ui.evidence.catalogue import show as show_catalogue
from sizer.ui.evidence.page import show as show_evidence
from sizer.ui.performance.page import show as show_performance
from sizer.ui.questions.page import show as show_what_if
from sizer.ui.requirements import conversation
from sizer.ui.requirements.page import show as show_requirements
from sizer.ui.session_catalog import catalog
from sizer.ui.state import View
from sizer.ui.typed import plain


class PageError(Exception):
    """What a page shows in place of an unforeseen error."""


@dataclass(frozen=True)
class _Page:
    """One page; ``content`` describes it on the page before. Nothing follows a reference page."""

    title: str
    show: Callable[[View], None]
    content: str = ""
    needs_answer: bool = True

    @property
    def url_path(self) -> str:
        return self.title.lower()


# From a need to a quote, in this order.
_MAIN_PATH = (
    _Page("Requirements", show_requirements, "workloads and limits", needs_answer=False),
    _Page("Architecture", show_architecture, "topology, racks and parts"),
    _Page("Performance", show_performance, "rate, confidence and bottleneck"),
    _Page("What-if", show_what_if, "alternatives and break-even points"),
    _Page("Bill", show_bill, "parts and prices"),
    _Page("Document", show_document, "guide and files"),
)
_REFERENCE = (
    _Page("Compare", show_compare),
    _Page("Designs", show_designs, needs_answer=False),
    _Page("Evidence", show_evidence, needs_answer=False),
    _Page("Catalogue", show_catalogue, needs_answer=False),
)


def _icon() -> str:
    """Three servers in the accent colour; an icon by name would be fetched from the internet."""
    bars = "".join(f'<rect x="3" y="{y}" width="26" height="7" rx="2"/>' for y in (3, 12.5, 22))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="{LIGHT.accent}">{bars}</svg>'


# What a window reads whose address names a session that the server does not give it.
_EXPIRED = (
    "**This address names a session that has expired or belongs to another browser.** A new session starts with an "
    "example. Saved designs are on the page Designs; to pass on a request, use Share."
)


def main() -> None:
    """Draw the page that the address names."""
    with turns.run_of_the_script():
        _draw()


def _draw() -> None:
    st.set_page_config(page_title=conversation.NAME, page_icon=_icon(), layout="wide")
    look.style(look.palette())
    try:
        if "draft" not in st.session_state:
            _begin()
        parts = catalog()  # with the price book of the session that was just restored
    except CatalogError as error:
        st.title("Catalogue errors", anchor=False)
        st.error(
            "The overlay folder of the catalogue has errors. Correct them and reload the page.", icon=":material/block:"
        )
        st.markdown("\n".join(f"- {plain(fault)}" for fault in error.faults[:50]))
        return
    reconcile(parts)
    state.note_step()
    view = state.view(parts, has_question=need.is_open(parts))
    pages: dict[str, StreamlitPage] = {}
    for page in (*_MAIN_PATH, *_REFERENCE):
        pages[page.title] = st.Page(
            _drawn(page, view, pages), title=page.title, url_path=page.url_path, default=page is _MAIN_PATH[0]
        )
    st.navigation(list(pages.values()), position="top").run()
    session_store.run_when_reconnected()
    session_store.store()


def _begin() -> None:
    """A new session: the request in its address, or the first example."""
    st.session_state.generation = 0
    query = st.query_params.to_dict()
    names_design = sharing.PARAMETER in query or DESIGN in query
    if not names_design and session_store.restore(query):
        return
    state.load_first()
    if not names_design and session_store.PARAMETER in query:
        st.session_state.told = _EXPIRED
    if sharing.PARAMETER in query:
        state.load_link(query[sharing.PARAMETER], query.get(sharing.PRICE_BOOK, ""))
        for parameter in (sharing.PARAMETER, sharing.PRICE_BOOK):
            st.query_params.pop(parameter, None)
    open_from_link(query)


def _drawn(page: _Page, view: View, pages: Mapping[str, StreamlitPage]) -> Callable[[], None]:
    def draw() -> None:
        look.close_menu(page.title)
        if page is _MAIN_PATH[0]:
            conversation.show(view.catalog)  # the need comes first, the answer below it
        headline.show(view, is_first=page is _MAIN_PATH[0])
        has_answer = view.sized is not None and not view.has_question
        if not has_answer and (page.needs_answer or (view.has_question and page is _MAIN_PATH[0])):
            return  # the head says why, and offers what leads on; the fields hold the request before a question
        page.show(view)
        following = dict(pairwise(_MAIN_PATH)).get(page)
        if following is not None:
            st.space("small")
            st.page_link(
                pages[following.title],
                label=f"Next: {following.title}, {following.content}",
                icon=":material/arrow_forward:",
            )
        headline.below(view)

    def guarded() -> None:
        try:
            draw()
        except Exception as error:  # the navigation stays, and with it the other pages
            st.exception(PageError(f"{capital(reported(error))}. The other pages work."))

    return guarded


if __name__ == "__main__":
    main()
