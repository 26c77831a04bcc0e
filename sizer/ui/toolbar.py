"""What can be done with the design from every page: undo, changes, share, save, and hide what is internal."""

import streamlit as st

from sizer.present.words import plural
from sizer.ui import changes, look, sharing, state
from sizer.ui.designs import saving
from sizer.ui.state import View


def show(view: View) -> None:
    """Draw the row of buttons."""
    with st.container(horizontal=True, width="content", gap="xsmall", key="toolbar"):
        st.button(
            "Undo",
            key="undo",
            on_click=state.undo,
            icon=":material/undo:",
            type="tertiary",
            disabled=len(st.session_state.steps) < 2,
            help="Take back the last change of the request.",
        )
        st.button(
            "Redo",
            key="redo",
            on_click=state.redo,
            icon=":material/redo:",
            type="tertiary",
            disabled=not st.session_state.undone,
            help="Make it again.",
        )
        _changes()
        _share(view)
        saving.controls(view)
        st.toggle(
            "Customer view",
            value=state.is_customer_mode(),
            key=f"customer-mode/{state.is_customer_mode()}",
            on_change=_customer_mode,
            help="Hides costs, discounts and internal notes on every page and in every file.",
        )


def _customer_mode() -> None:
    st.session_state.customer_mode = not state.is_customer_mode()


def _changes() -> None:
    found = [] if state.is_customer_mode() else changes.of_session()
    if found:
        with st.popover(plural(len(found), "change"), icon=":material/edit_note:", type="tertiary"):
            look.note("What the request says otherwise than where it started from.")
            changes.show()


def _share(view: View) -> None:
    with st.popover("Share", icon=":material/link:", type="tertiary", on_change="rerun", key="share") as shared:
        if not shared.open:
            return
        if view.result is None or not view.is_current:
            st.info("A link needs a request that has an answer.", icon=":material/edit_off:")
            return
        request = state.as_given(view)
        address = sharing.link(st.context.url or "", request)
        if address is None:
            st.info(
                "The request is too long for a link; save the design, or send the request as a file.",
                icon=":material/info:",
            )
            return
        look.note("Whoever opens this address gets the request, and from it the same design.")
        st.code(address, language=None, wrap_lines=True)
        if st.session_state.get("price_book"):
            look.note("The price book that was uploaded is not in the link.")
