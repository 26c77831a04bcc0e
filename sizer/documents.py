"""The set of documents of an answer, as bytes. Every caller (command line, app) gets the same ones."""

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sizer.base.errors import ReportError, RequestError
from sizer.base.faults import nearest, shown
from sizer.base.formats.json_document import json_text
from sizer.base.locale import DEFAULT_LOCALE, use_locale
from sizer.base.worker_process import MOST_WORKERS, WorkerLostError, apart, start_workers, stop_workers
from sizer.catalog.model import Catalog
from sizer.export.design_json import design_document
from sizer.export.files import file_stem, write_whole
from sizer.guide.contradictions import beyond_purchases, contradictions
from sizer.guide.pdf.set_page import set_page
from sizer.guide.profile import PLAIN, Edition, Form, Profile
from sizer.guide.user_texts import remark_on_glyphs
from sizer.present.chart_engine.engine import prepare_charts
from sizer.sizing.customer_copy import customer_copy as without_internals
from sizer.sizing.result import SizingResult

# Forms of the documents as PDF, by kind of document.
PDF_FORMS: dict[str, Form] = {"pdf": "guide", "engineer": "engineer", "summary": "summary", "archive": "guide"}
FORMATS = {
    "design": "design.json",
    "xlsx": "bom.xlsx",
    "csv": "bom.csv",
    "csv-semicolon": "bom-semicolon.csv",
    "cables": "cables.csv",
    "addresses": "addresses.csv",
    "netbox": "netbox.zip",
    "slides": "slides.pptx",
    "html": "guide.html",
    "pdf": "guide.pdf",
    "engineer": "engineers-file.pdf",
    "summary": "summary.pdf",
    "archive": "guide-archive.pdf",
}
# What is written unless something else is asked: an archive is the guide once more, for keeping.
USUAL = tuple(kind for kind in FORMATS if kind != "archive")
# The evidence stays in the house: it names what the request excluded and how the tool works.
INTERNAL = ("engineer",)
# Made of a page with charts: native code draws both, each in a process of its own.
_PAGES = ("html", *PDF_FORMS)
_LONGEST_FIRST = ("engineer", "pdf", "archive", "summary")
# Read by people, in their language; programs read the others.
_FOR_PEOPLE = ("xlsx", "slides")
# What an archive holds besides the guide: what it was made from, and what is ordered.
_ARCHIVED = ("design", "xlsx")

# Called with a file's name and a word for what is being done.
FileProgress = Callable[[str, str], None]


def usual_kinds(customer_copy: bool = False) -> tuple[str, ...]:
    """Kinds that are written unless something else is asked."""
    return tuple(kind for kind in USUAL if not (customer_copy and kind in INTERNAL))


def known_kinds(names: Sequence[str], place: str = "documents", customer_copy: bool = False) -> tuple[str, ...]:
    """Kinds of documents as a user names them, each once.

    Raises RequestError if there is none, one that is unknown, or one that a customer does not get.
    """
    if not names:
        raise RequestError(f"{place}: names no document; known: {', '.join(FORMATS)}")
    for name in names:
        if name not in FORMATS:
            raise RequestError(
                f"{place}: unknown document {shown(name)}{nearest(name, FORMATS)}; known: {', '.join(FORMATS)}"
            )
        _require_for_reader(name, customer_copy)
    return tuple(dict.fromkeys(names))


def _require_for_reader(kind: str, is_customer_copy: bool) -> None:
    if is_customer_copy and kind in INTERNAL:
        raise RequestError(f"{kind}: a customer copy has no engineer's file; write it without the customer copy")


def file_name(result: SizingResult, kind: str, revision: str = "", today: datetime.date | None = None) -> str:
    """Name of a file that is handed over, such as ``acme-motors_nine-dgx-1_r3_2026-11-22.guide.pdf``.

    ``result``, ``kind``, ``revision``, ``today``: as for :func:`file_stem`; ``kind`` is a key of :data:`FORMATS`.
    """
    return f"{file_stem(result, revision, today)}.{FORMATS[kind]}"


def as_handed_over(result: SizingResult, profile: Profile = PLAIN, customer_copy: bool = False) -> SizingResult:
    """The answer that all documents are made from.

    ``profile``: whose locale the copy is written in. ``customer_copy``: whether discounts and internal notes are left
    out. Raises RequestError if the request leads to a magnitude that nothing has which is bought. Raises ReportError if
    two of its statements contradict each other.
    """
    if beyond := beyond_purchases(result):
        raise RequestError(f"no document is written: {'; '.join(beyond)}; check the amounts and sizes of the request")
    if found := contradictions(result):
        raise ReportError(f"no document is written, because the answer contradicts itself: {'; '.join(found)}")
    if not customer_copy:
        return result
    with use_locale(profile.locale):
        return without_internals(result)


def document(
    result: SizingResult,
    catalog: Catalog,
    kind: str,
    profile: Profile = PLAIN,
    customer_copy: bool = False,
    progress: Callable[[str], None] | None = None,
) -> bytes:
    """One document of the answer.

    ``kind``: key of :data:`FORMATS`. ``customer_copy``: whether discounts and internal notes are left out.
    ``progress``: called with a word whenever another part of a PDF begins. Raises RequestError if ``kind`` is unknown,
    or a customer does not get it. Raises ReportError if the PDF engine is missing; the sentence says what to install
    and that the HTML guide is the same document.
    """
    if kind not in FORMATS:
        raise RequestError(f"unknown document {kind!r}; known: {', '.join(FORMATS)}")
    _require_for_reader(kind, customer_copy)
    result = as_handed_over(result, profile, customer_copy)
    return _made(result, catalog, kind, profile, customer_copy, progress)


def prepare_drawing(kinds: Sequence[str]) -> None:
    """Start the processes that charts and pages of these kinds are drawn in."""
    if any(kind in _PAGES for kind in kinds):
        prepare_charts()
    n_pdfs = sum(kind in PDF_FORMS for kind in kinds)
    if n_pdfs:
        start_workers("sizer.guide.pdf.loaded", count=min(n_pdfs, MOST_WORKERS))


def _made(
    result: SizingResult,
    catalog: Catalog,
    kind: str,
    profile: Profile,
    is_customer_copy: bool,
    progress: Callable[[str], None] | None,
) -> bytes:
    """One document of an answer as it is handed over."""
    if kind in PDF_FORMS:
        return _pdf(kind, *_page(result, catalog, kind, profile, is_customer_copy, progress), progress)
    edition = Edition("guide", profile, is_customer_copy)
    if kind == "html":
        from sizer.guide.pdf.render import guide_html

        return guide_html(result, catalog, edition).encode()
    with use_locale(profile.locale if kind in _FOR_PEOPLE else DEFAULT_LOCALE):
        return _file(result, catalog, kind, edition)


def _file(result: SizingResult, catalog: Catalog, kind: str, edition: Edition) -> bytes:
    """A document without pages. Its writer is loaded here, while the PDFs that were begun before are being set."""
    if kind == "design":
        return json_text(design_document(result)).encode()
    if kind == "xlsx":
        from sizer.export.workbook.book import workbook

        return workbook(result, catalog)
    if kind in ("csv", "csv-semicolon"):
        from sizer.export.tables.table import bill_csv

        return bill_csv(result, ";" if kind == "csv-semicolon" else ",")
    if kind in ("cables", "addresses"):
        from sizer.export.tables.plan_tables import addresses_csv, cables_csv

        return cables_csv(result, catalog) if kind == "cables" else addresses_csv(result)
    if kind == "netbox":
        from sizer.export.netbox import netbox_zip

        return netbox_zip(result, catalog)
    from sizer.deck.outline import deck

    assert kind == "slides"
    return deck(result, catalog, edition)


# A page with what is attached to it, and the date of that.
_Page = tuple[str, Mapping[str, bytes] | None, datetime.date | None]


def _page(
    result: SizingResult,
    catalog: Catalog,
    kind: str,
    profile: Profile,
    is_customer_copy: bool,
    progress: Callable[[str], None] | None,
) -> _Page:
    """What a PDF is set from. The chapters with their charts take long to load, and an answer in words has none."""
    from sizer.guide.pdf.render import guide_page

    if progress is not None:
        progress("writing")
    is_archive = kind == "archive"
    files = None
    if is_archive:
        files = {FORMATS[one]: _made(result, catalog, one, profile, is_customer_copy, None) for one in _ARCHIVED}
    page = guide_page(result, catalog, Edition(PDF_FORMS[kind], profile, is_customer_copy, is_archive))
    return page, files, result.request.date


def _pdf(
    kind: str,
    page: str,
    files: Mapping[str, bytes] | None,
    date: datetime.date | None,
    progress: Callable[[str], None] | None,
) -> bytes:
    """A page as PDF, set in another process: a crash of native code costs this document."""
    try:
        made: bytes = apart(set_page, page, files, date, progress=progress)
    except WorkerLostError as error:
        sentence = f"{FORMATS[kind]}: the process that draws it ended with {error}; make it again, and shorten"
        raise ReportError(f"{sentence} or simplify names and notes if it ends again.") from None
    return made


def write_documents(
    result: SizingResult,
    catalog: Catalog,
    folder: Path,
    kinds: Sequence[str] | None = None,
    profile: Profile = PLAIN,
    customer_copy: bool = False,
    progress: FileProgress | None = None,
) -> tuple[list[Path], str]:
    """Write the documents into a folder, whole or not at all.

    ``folder``: created where it does not exist. ``kinds``: keys of :data:`FORMATS`; default :func:`usual_kinds`.
    ``profile``, ``customer_copy``: as for :func:`document`. ``progress``: called with a file's name and a word. Returns
    the files written, and sentences about documents that this machine cannot make and letters that it cannot draw (""
    when all are there). Raises RequestError if a kind is unknown, or a customer does not get it. Raises OutputError if
    the folder or a file cannot be written.
    """
    with pdf_threads() as threads:
        return begin_documents(result, catalog, folder, threads, kinds, profile, customer_copy, progress).write()


@contextmanager
def pdf_threads() -> Iterator[Executor]:
    """Threads that wait for the processes that set PDFs; an error or interruption inside ends both."""
    threads = ThreadPoolExecutor(MOST_WORKERS)
    try:
        yield threads
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)  # first, so that none of them starts a process again
        stop_workers()
        raise
    finally:
        threads.shutdown()


@dataclass(frozen=True)
class UnfinishedDocuments:
    """Documents of one answer of which the PDFs are still being set."""

    result: SizingResult
    folder: Path
    kinds: tuple[str, ...]
    profile: Profile
    made: Mapping[str, bytes | ReportError]
    pdfs: Mapping[str, Future[bytes]]

    def write(self) -> tuple[list[Path], str]:
        """Wait for the PDFs and write all files; returns what :func:`write_documents` does."""
        made = dict(self.made)
        for kind, pdf in self.pdfs.items():
            try:
                made[kind] = pdf.result()
            except ReportError as error:
                made[kind] = error
        remarks = [str(made[kind]) for kind in self.kinds if isinstance(made[kind], ReportError)]
        files = {FORMATS[kind]: content for kind in self.kinds if isinstance(content := made[kind], bytes)}
        if any(FORMATS[kind] in files for kind in PDF_FORMS):
            with use_locale(self.profile.locale):
                remarks.append(remark_on_glyphs(self.result, self.profile))
        return write_whole(self.folder, files), " ".join(dict.fromkeys(filter(None, remarks)))


def begin_documents(
    result: SizingResult,
    catalog: Catalog,
    folder: Path,
    threads: Executor,
    kinds: Sequence[str] | None = None,
    profile: Profile = PLAIN,
    customer_copy: bool = False,
    progress: FileProgress | None = None,
) -> UnfinishedDocuments:
    """Make the documents except the PDFs, which are set meanwhile and after.

    ``result``, ``catalog``, ``folder``: as for :func:`write_documents`. ``threads``: those of :func:`pdf_threads`.
    ``kinds``, ``profile``, ``customer_copy``, ``progress``: as for :func:`write_documents`. ``progress`` is called from
    other threads, too.
    """
    kinds = known_kinds(usual_kinds(customer_copy) if kinds is None else kinds, customer_copy=customer_copy)
    result = as_handed_over(result, profile, customer_copy)
    made: dict[str, bytes | ReportError] = {}
    pdfs: dict[str, Future[bytes]] = {}
    arguments = (profile, customer_copy)
    # Pages are set while the next document is written, the longest first.
    in_order = [kind for kind in _LONGEST_FIRST if kind in kinds]
    for kind in (*in_order, *(kind for kind in kinds if kind not in PDF_FORMS)):
        if progress is not None:
            progress(FORMATS[kind], "")
        word = None if progress is None else partial(progress, FORMATS[kind])
        try:
            if kind in PDF_FORMS:
                page = _page(result, catalog, kind, *arguments, word)
                pdfs[kind] = threads.submit(_pdf, kind, *page, word)
            else:
                made[kind] = _made(result, catalog, kind, *arguments, None)
        except ReportError as error:
            made[kind] = error
    return UnfinishedDocuments(result, folder, kinds, profile, made, pdfs)
