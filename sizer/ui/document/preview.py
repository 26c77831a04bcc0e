"""Pages of a PDF as pictures."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import streamlit as st

# 794 pixels for the width of an A4 page: sharp at the width of a column, legible when enlarged.
DPI = 96
PAGES_AT_A_TIME = 6
_POINTS_PER_INCH = 72
# PDFium works for one thread at a time.
_drawing = Lock()


@st.cache_resource(show_spinner=False, max_entries=32)
def n_pages(key: str, _pdf: bytes) -> int:  # noqa: ARG001  (the key stands for the file)
    """Number of pages."""
    with _opened(_pdf) as document:
        return len(document)


@st.cache_resource(show_spinner=False, max_entries=128)
def picture(key: str, number: int, _pdf: bytes) -> bytes:  # noqa: ARG001  (the key stands for the file)
    """A page as PNG; ``number`` counts from 0."""
    with _opened(_pdf) as document:
        page = document[number]
        image = page.render(scale=DPI / _POINTS_PER_INCH).to_pil()
        page.close()
    stream = io.BytesIO()
    image.save(stream, format="PNG")
    return stream.getvalue()


@contextmanager
def _opened(pdf: bytes) -> Iterator[Any]:
    import pypdfium2

    with _drawing:
        document = pypdfium2.PdfDocument(pdf)
        try:
            yield document
        finally:
            document.close()


def show(key: str, pdf: bytes, name: str) -> None:
    """Draw a few pages side by side, with pagination."""
    count = n_pages(key, pdf)
    first = 0
    if count > PAGES_AT_A_TIME:
        leaf = st.pagination(-(-count // PAGES_AT_A_TIME), key=f"pages/{key}")
        first = (leaf - 1) * PAGES_AT_A_TIME
    numbers = range(first, min(first + PAGES_AT_A_TIME, count))
    st.caption(f"Pages {numbers[0] + 1} to {numbers[-1] + 1} of {count}." if count > 1 else "One page.")
    columns = st.columns(min(3, count))
    for place, number in enumerate(numbers):
        with columns[place % len(columns)], st.container(border=True):
            st.image(picture(key, number, pdf), alt=f"{name}, page {number + 1} of {count}", width="stretch")
