"""The catalogue of a session: the shipped one, the folder laid over it, and the price book that the user uploaded."""

import hashlib
import os
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sizer.base.errors import CatalogError
from sizer.catalog.loader import load_catalog, with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import price_rows

CATALOG_FOLDER = "SIZER_CATALOG_FOLDER"  # environment: folder that is laid over the catalogue
# Plain keys of the session: text of the uploaded price book ("" for none), and the name of its file.
PRICE_BOOK, PRICE_BOOK_NAME = "price_book", "price_book_name"


@st.cache_resource(show_spinner=False)
def _catalog(folder: str) -> Catalog:
    return load_catalog(overlay=Path(folder) if folder else None)


@st.cache_resource(show_spinner="Reading the price book", max_entries=16)
def _priced(folder: str, digest: str, _text: str) -> Catalog:  # noqa: ARG001  (the digest of the text is the key)
    rows, faults = price_rows(_text, "price book")
    if faults:
        raise CatalogError(faults)
    return with_prices(_catalog(folder), rows)


def without_book() -> Catalog:
    """The catalogue without the price book of the session.

    Raises
    ------
    CatalogError
        Listing every fault of the folder laid over it.
    """
    return _catalog(os.environ.get(CATALOG_FOLDER, ""))


def catalog() -> Catalog:
    """The catalogue, with the user's own parts and prices where he named a folder or uploaded a price book.

    Only the session's own thread has a price book: what is made elsewhere is handed the catalogue.

    Raises
    ------
    CatalogError
        Listing every fault of that folder.
    """
    shipped = without_book()
    text = st.session_state.get(PRICE_BOOK, "") if get_script_run_ctx(suppress_warning=True) is not None else ""
    if not text:
        return shipped
    digest = hashlib.sha256(text.encode()).hexdigest()
    try:
        return _priced(os.environ.get(CATALOG_FOLDER, ""), digest, text)
    except CatalogError:
        # It was read when it came; a session that is older than the catalogue may name items that are gone.
        drop_book()
        st.session_state.notice = "The price book does not fit the catalogue any more and was removed."
        return shipped


def keep_book(text: str, name: str) -> None:
    """Lay a price book over the catalogue of the session."""
    st.session_state[PRICE_BOOK], st.session_state[PRICE_BOOK_NAME] = text, name


def drop_book() -> None:
    """Take the price book off again."""
    st.session_state[PRICE_BOOK] = st.session_state[PRICE_BOOK_NAME] = ""
