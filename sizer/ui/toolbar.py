"""Actions on every page: undo, redo, list of changes, share, save, and the customer view."""

import streamlit as st

from sizer.present.words import plural
from sizer.ui import changes, look, session_catalog, sharing, state
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
            help="Undo the last change of the request.",
        )
        st.button(
            "Redo",
            key="redo",
            on_click=state.redo,
            icon=":material/redo:",
            type="tertiary",
            disabled=not st.session_state.undone,
            help="Redo the change.",
        )
        changed = [] if state.is_customer_mode() else changes.of_session()
        if changed:
            with st.popover(plural(len(changed), "change"), icon=":material/edit_note:", type="tertiary"):
                look.note("Changes since the start.")
                changes.show()
        _share(view)
        saving.controls(view)
        toggle = f"customer-mode/{state.is_customer_mode()}"
        st.toggle(
            "Customer view",
            value=state.is_customer_mode(),
            key=toggle,
            on_change=state.if_stored(toggle, _customer_mode),
            args=(toggle,),
            help="Hides costs, discounts and internal notes on every page and in every file.",
        )


def _customer_mode(toggle: str) -> None:
    # What it shows, not the contrary of what holds: it may be called for a toggle that nobody touched.
    st.session_state.customer_mode = st.session_state[toggle]


def _share(view: View) -> None:
    with st.popover("Share", icon=":material/link:", type="tertiary", on_change="rerun", key="share") as shared:
        if not shared.open:
            return
        if view.sized is None or not view.is_current:
            st.info("A request with errors cannot be shared; correct it first.", icon=":material/edit_off:")
            return
        here = saving.saved()
        if here is not None and not saving.is_unsaved(view) and not view.is_customer_mode:
            look.note("For colleagues: the saved revision with its prices and discounts.")
            st.code(saving.address_of(here["id"], here["revision"]), language=None, wrap_lines=True)
        request = state.shareable_request(view)
        book = "" if view.is_customer_mode else st.session_state.get(session_catalog.PRICE_BOOK_NAME, "")
        address = sharing.link(st.context.url or "", request, book)
        if address is None:
            st.info(
                "The request is too long for a link. Save the design, or send the request as a file.",
                icon=":material/info:",
            )
            return
        look.note("This address opens the same request and the same design. It carries no discounts.")
        st.code(address, language=None, wrap_lines=True)
        if book == session_catalog.ENTERED:
            look.note("The link does not include the prices entered in the app.")
        elif book:
            look.note(f"The link names the price book {book} and does not include its prices.")
