"""The entry of the app: one session, five pages, one answer."""

# Imported here, so that the first page does not wait for them one after the other.
from collections.abc import Callable, Sequence

import altair  # noqa: F401
import pandas  # noqa: F401
import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage

from sizer.base.errors import CatalogError
from sizer.drawings.palette import LIGHT
from sizer.ui import architecture, bill, document, headline, look, performance, requirements, state
from sizer.ui.typed import plain

_PAGES = (
    ("Requirements", requirements.show, "what is asked"),
    ("Architecture", architecture.show, "what it is made of"),
    ("Performance", performance.show, "how fast, and how sure"),
    ("Bill", bill.show, "what to buy"),
    ("Document", document.show, "the guide and the files"),
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
        parts = state.catalog()
    except CatalogError as error:
        _faulty_catalog(error)
        return
    state.start()
    view = state.view(parts)
    pages: list[StreamlitPage] = []
    pages += [
        st.Page(_page(number, view, pages), title=title, url_path=title.lower(), default=number == 0)
        for number, (title, _, _) in enumerate(_PAGES)
    ]
    st.navigation(pages, position="top").run()


def _page(number: int, view: state.View, pages: Sequence[StreamlitPage]) -> Callable[[], None]:
    title, show, _ = _PAGES[number]

    def draw() -> None:
        headline.show(view)
        if view.result is None and title != "Requirements":
            st.info("There is no design to show yet. The page Requirements says what stands in the way.")
            return
        show(view)
        _next_step(number, pages)
        headline.below(view)

    return draw


def _next_step(number: int, pages: Sequence[StreamlitPage]) -> None:
    if number + 1 < len(_PAGES):
        title, _, what = _PAGES[number + 1]
        st.space("small")
        st.page_link(pages[number + 1], label=f"Next: {title}, {what}", icon=":material/arrow_forward:")


def _faulty_catalog(error: CatalogError) -> None:
    st.title("Catalogue not read", anchor=False)
    st.error("The folder laid over the catalogue has faults; mend them and reload the page.", icon=":material/block:")
    st.markdown("\n".join(f"- {plain(fault)}" for fault in error.faults[:50]))


if __name__ == "__main__":
    main()
