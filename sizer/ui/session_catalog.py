"""The catalogue of a session: the built-in one, the overlay folder, and the uploaded price book."""

import hashlib
import os
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sizer.base.errors import CatalogError
from sizer.catalog.loader import load_catalog, with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import price_rows

CATALOG_FOLDER = "SIZER_CATALOG_FOLDER"  # environment variable: overlay folder of the catalogue
# Plain keys of the session: text of the uploaded price book ("" for none), and the name of its file.
PRICE_BOOK, PRICE_BOOK_NAME = "price_book", "price_book_name"
# In place of a file's name, where all prices were typed.
ENTERED = "prices entered in the app"


@st.cache_resource(show_spinner=False)
def _catalog(folder: str) -> Catalog:
    return load_catalog(overlay=Path(folder) if folder else None)


@st.cache_resource(show_spinner="Reading the price book", max_entries=16)
def _priced(folder: str, digest: str, _text: str) -> Catalog:  # noqa: ARG001  (the digest of the text is the key)
    rows, faults = price_rows(_text, "price book")
    if faults:
        raise CatalogError(faults)
    return with_prices(_catalog(folder), rows)


def catalog_without_price_book() -> Catalog:
    """The catalogue without the price book of the session.

    Raises CatalogError listing every error of the overlay folder.
    """
    return _catalog(os.environ.get(CATALOG_FOLDER, ""))


def catalog() -> Catalog:
    """The catalogue with the own parts and prices of the overlay folder and the uploaded price book.

    Only the thread of the session has a price book; code in other threads is given the catalogue.

    Raises CatalogError listing every error of that folder.
    """
    shipped = catalog_without_price_book()
    text = st.session_state.get(PRICE_BOOK, "") if get_script_run_ctx(suppress_warning=True) is not None else ""
    if not text:
        return shipped
    digest = hashlib.sha256(text.encode()).hexdigest()
    try:
        return _priced(os.environ.get(CATALOG_FOLDER, ""), digest, text)
    except CatalogError:
        # It was valid when it was uploaded; the catalogue may have lost items since.
        remove_price_book()
        st.session_state.notice = "The price book was removed: it has items that are no longer in the catalogue."
        return shipped


def set_price_book(text: str, name: str) -> None:
    """Add a price book to the catalogue of the session."""
    st.session_state[PRICE_BOOK], st.session_state[PRICE_BOOK_NAME] = text, name


def remove_price_book() -> None:
    """Remove the price book."""
    st.session_state[PRICE_BOOK] = st.session_state[PRICE_BOOK_NAME] = ""
