"""What the limits give, for requests that ask for the highest rate."""

import streamlit as st

from sizer.questions.maximum.text import maximum_sentences
from sizer.ui import look
from sizer.ui.state import View


def show(view: View) -> None:
    """Draw the section; nothing where every target was given."""
    result = view.result
    if result is None or result.maximum is None:
        return
    st.header("What the limits allow", anchor=False)
    look.notes(maximum_sentences(result, with_amounts=not view.is_customer_mode))
