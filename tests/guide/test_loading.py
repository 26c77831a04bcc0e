"""What a page of the guide may load, and the progress that is reported while a PDF is made."""

import threading

import pytest

from sizer.base.errors import ReportError
from sizer.guide.pdf.progress import reported_steps
from sizer.guide.pdf.typeset import page_pdf
from tests.guide.engine import needs_engine

# --- what a page may load

REFUSED = [
    "file:///etc/passwd",
    "FILE:/etc/passwd",
    "file://host/share/x",
    "http://example.org/x.png",
    "https://example.org/x.css",
    "ftp://example.org/x",
    "//host/x",
    "\\\\host\\x",
    "/etc/passwd",
    "../guide.css",
    "asset:../guide.css",
    "asset:Inter-Regular.ttf/../x",
    "attached:design.json",
    "javascript:alert(1)",
    "data:text/html;base64,PGI+",
    "data:text/css,b{}",
    "data:image/svg+xml;base64,PHN2Zy8+",
    "data:image/png,plain",
    "DATA:image/png;base64,AAAA",
]


@pytest.mark.pdf
@pytest.mark.parametrize("url", REFUSED)
def test_nothing_is_fetched_but_shipped_fonts_and_pictures_inside_the_page(url):
    needs_engine()
    from weasyprint.urls import url_join

    from sizer.guide.pdf.typeset import PackagedOnly

    with pytest.raises(ValueError, match="the guide may not load"):
        PackagedOnly().fetch(url)
    # Joined with the address of the page, as WeasyPrint does for relative ones.
    with pytest.raises(ValueError, match="the guide may not load"):
        PackagedOnly().fetch(url_join("asset:", url, allow_relative=True, context=""))


@pytest.mark.pdf
@pytest.mark.parametrize(
    "body",
    [
        '<img src="file:///etc/passwd" alt="x">',
        '<img src="//host/x.png" alt="x">',
        '<img src="\\\\host\\x.png" alt="x">',
        '<img src="/etc/passwd" alt="x">',
        '<link rel="stylesheet" href="https://example.org/x.css">',
        "<style>@import url(http://example.org/x.css);</style>",
        "<style>body { background: url(ftp://example.org/x.png) }</style>",
        '<style>@font-face { font-family: X; src: url("http://example.org/x.ttf") }</style>',
        '<object data="file:///etc/passwd"></object>',
        '<embed src="file:///etc/passwd">',
        '<svg width="9" height="9"><image href="file:///etc/passwd" width="9" height="9"/></svg>',
        '<a rel="attachment" href="file:///etc/passwd">x</a>',
        '<link rel="attachment" href="file:///etc/passwd">',
    ],
)
def test_a_page_that_asks_for_more_ends_with_a_sentence(body):
    needs_engine()
    with pytest.raises(ReportError, match=r"^a template of the guide is damaged: the guide may not load \S+$"):
        page_pdf(f'<html lang="en"><head><title>x</title></head><body>{body}</body></html>')


@pytest.mark.pdf
def test_a_long_refused_address_is_cut():
    needs_engine()
    with pytest.raises(ReportError) as error:
        page_pdf(f'<html lang="en"><title>x</title><img alt="" src="http://{"x" * 5000}/"></html>')
    assert len(str(error.value)) < 200


# --- progress


@pytest.mark.pdf
def test_progress_is_told_in_words_and_only_to_who_asked():
    needs_engine()
    page = '<html lang="en"><title>x</title><body><p>1</p><p style="break-before: page">2</p></body></html>'
    told: list[str] = []
    with reported_steps(told.append):
        page_pdf(page)
        other = threading.Thread(target=page_pdf, args=(page,))
        other.start()
        other.join()
    page_pdf(page)
    assert told == ["reading", "laying out", "drawing"]


# --- one page
