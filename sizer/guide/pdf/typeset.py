"""A finished page as PDF. A process that only does this loads WeasyPrint and nothing of the sizing."""

import contextlib
import datetime
import gc
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping

from sizer.base.errors import ReportError
from sizer.guide.pdf.attachments import attached
from sizer.guide.pdf.progress import Progress, reported_steps
from sizer.present.fonts.files import FONTS_GO_HERE, print_faces
from sizer.present.fonts.glyphs import drawable
from sizer.present.fonts.pango import load_pango, weasyprint_state

Attachments = Mapping[str, bytes]
# Collections of cyclic garbage while a document is set. Its boxes live until it is done: to look through them as often
# as usual takes a fifth of the time and frees next to nothing; less often than this would cost memory.
_RARE_COLLECTIONS = (100_000, 50, 50)


def page_pdf(
    page: str,
    attachments: Attachments | None = None,
    date: datetime.date | None = None,
    progress: Progress | None = None,
) -> bytes:
    """A page as PDF/UA-1, or with attachments as PDF/A-3b.

    ``attachments``: files to put into an archive, by their names; an archive may have none. ``date``: date of the
    attached files. ``progress``: called with a word whenever another part of the work begins. Raises ReportError in
    one sentence, if WeasyPrint or Pango is missing, or the page asks for a file or address that is not shipped.
    """
    missing = weasyprint_state()
    if missing is not None:
        raise ReportError(missing)
    with reported_steps(progress):
        if attachments is None:
            return _pdf(page)
        # Tags are no part of level B, but cost little and serve readers of archives, too.
        with _quiet_about_files():
            return _pdf(page, pdf_variant="pdf/a-3b", pdf_tags=True, attachments=attached(attachments, date))


def page_pdf_apart(
    page: str, attachments: Attachments | None, date: datetime.date | None, tell: Callable[[object], None]
) -> bytes:
    """:func:`page_pdf` as a worker process calls it."""
    return page_pdf(page, attachments, date, tell)


def _pdf(page: str, **options: object) -> bytes:
    load_pango()
    from weasyprint.urls import FatalURLFetchingError

    from sizer.guide.pdf.packaged import PackagedOnly
    from sizer.guide.pdf.page import Page
    from sizer.guide.pdf.svg_text import draw_texts_as_runs
    from sizer.guide.pdf.tagging import mended

    page = drawable(page).replace(FONTS_GO_HERE, print_faces(), 1)
    # Font sub-setting logs what it drops; that is no news for the user.
    for name in ("fontTools", "fontTools.subset", "weasyprint"):
        logging.getLogger(name).setLevel(logging.ERROR)
    draw_texts_as_runs()
    fetcher = PackagedOnly()
    # Fonts and parsed style are not kept for the next document: that would save 0.01 of 4 s.
    with contextlib.suppress(FatalURLFetchingError), _rare_collections():
        pdf: bytes = Page(page, fetcher).write_pdf(finisher=mended, **{"pdf_variant": "pdf/ua-1", **options})
        if not fetcher.refused:
            return pdf
    raise ReportError(f"a template of the guide is damaged: {fetcher.refused[0]}")


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect cyclic garbage rarely, and what a document leaves at its end; not at all where that is switched off."""
    if not gc.isenabled():
        yield
        return
    usual = gc.get_threshold()
    gc.set_threshold(*_RARE_COLLECTIONS)
    # What was there before need not be looked through for what the document leaves; the app has frozen its own.
    freezes = not gc.get_freeze_count()
    if freezes:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.collect()
        if freezes:
            gc.unfreeze()


@contextlib.contextmanager
def _quiet_about_files() -> Iterator[None]:
    """Ignore the warning about the colour profile that WeasyPrint 70 leaves open after reading it for an archive."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
