"""The set of documents of an answer, as bytes. Every caller (command line, app) gets the same ones."""

import datetime
import io
import re
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from sizer.base.errors import ReportError, RequestError
from sizer.base.faults import nearest
from sizer.base.formats.json_document import json_text
from sizer.base.locale import DEFAULT_LOCALE, use_locale
from sizer.base.worker_process import WorkerLostError, apart, start_workers, stop_workers
from sizer.catalog.model import Catalog
from sizer.deck.outline import deck
from sizer.export.design_json import design_document
from sizer.export.drawings.drawio import drawio
from sizer.export.drawings.pages import design_pages
from sizer.export.files import write_whole
from sizer.export.netbox import netbox_zip
from sizer.export.tables.address_list import addresses_csv
from sizer.export.tables.cable_table import cables_csv
from sizer.export.tables.csv_bill import bill_csv
from sizer.export.workbook.book import workbook
from sizer.guide.edition import Edition, Form
from sizer.guide.pdf.render import guide_html, guide_pdf
from sizer.guide.profile import PLAIN, Profile
from sizer.guide.user_texts import remark_on_glyphs
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
    "drawio": "drawings.drawio",
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
# Drawn by native code, each group in a process of its own, where it shares pages.
_DRAWN = (("html", "pdf", "summary"), ("engineer", "archive"))
# Read by people, in their language; programs read the others.
_FOR_PEOPLE = ("xlsx", "drawio", "slides")
# What an archive holds besides the guide: what it was made from, and what is ordered.
_ARCHIVED = ("design", "xlsx")

# Characters of customer, design and revision in a file's name; together they stay far below what file systems take.
_LONGEST_NAMES = (40, 60, 20)
# A ZIP without dates of its own: the same files give the same bytes.
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)

# Called with a file's name and a word for what is being done.
FileProgress = Callable[[str, str], None]


def usual_kinds(customer_copy: bool = False) -> tuple[str, ...]:
    """Kinds that are written unless something else is asked."""
    return tuple(kind for kind in USUAL if not (customer_copy and kind in INTERNAL))


def known_kinds(names: Sequence[str], place: str = "documents", customer_copy: bool = False) -> tuple[str, ...]:
    """Kinds of documents as a user names them, each once.

    Raises
    ------
    RequestError
        If there is none, one that is unknown, or one that a customer does not get.
    """
    if not names:
        raise RequestError(f"{place}: names no document; known: {', '.join(FORMATS)}")
    for name in names:
        if name not in FORMATS:
            raise RequestError(
                f"{place}: unknown document {name!r}{nearest(name, FORMATS)}; known: {', '.join(FORMATS)}"
            )
        _require_for_reader(name, customer_copy)
    return tuple(dict.fromkeys(names))


def _require_for_reader(kind: str, is_customer_copy: bool) -> None:
    if is_customer_copy and kind in INTERNAL:
        raise RequestError(f"{kind}: a customer copy has no engineer's file; write it without the customer copy")


def file_stem(result: SizingResult, revision: str = "", today: datetime.date | None = None) -> str:
    """What the names of all files of an answer start with: customer, design, revision, date.

    Parameters
    ----------
    result : SizingResult
        The sized request.
    revision : str
        Used where the quote names none, for example "r3" of a saved design.
    today : date, optional
        Used where the request has no date.

    Returns
    -------
    str
        Lower-case letters of ASCII, digits and hyphens, joined by underscores. A name that leaves nothing of these
        reads "customer" or "design".

    Examples
    --------
    ``acme-motors_nine-dgx-1_r3_2026-11-22``
    """
    request = result.request
    day = request.date or today
    parts = (
        (request.customer, "customer"),
        (request.title, "design"),
        (request.quote.revision or revision, "draft"),
    )
    names = [_name_part(text, longest) or empty for (text, empty), longest in zip(parts, _LONGEST_NAMES, strict=True)]
    return "_".join([*names, "undated" if day is None else day.isoformat()])


def file_name(result: SizingResult, kind: str, revision: str = "", today: datetime.date | None = None) -> str:
    """Name of a file that is handed over, such as ``acme-motors_nine-dgx-1_r3_2026-11-22.guide.pdf``.

    Parameters
    ----------
    result : SizingResult
        As for :func:`file_stem`.
    kind : str
        Key of :data:`FORMATS`.
    revision, today
        As for :func:`file_stem`.
    """
    return f"{file_stem(result, revision, today)}.{FORMATS[kind]}"


def _name_part(text: str, longest: int) -> str:
    """Text without what a path, a shell or Windows would read something into."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:longest].rstrip("-")


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files in one ZIP, by their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _ZIP_DATE), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def as_handed_over(result: SizingResult, profile: Profile = PLAIN, customer_copy: bool = False) -> SizingResult:
    """The answer that all documents are made from.

    Parameters
    ----------
    result : SizingResult
        The sized request.
    profile : Profile
        Whose locale the copy is written in.
    customer_copy : bool
        Whether discounts and internal notes are left out.
    """
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

    Parameters
    ----------
    result : SizingResult
        The sized request.
    catalog : Catalog
        Catalogue of the result.
    kind : str
        Key of :data:`FORMATS`.
    profile : Profile
        Branding, paper and language.
    customer_copy : bool
        Whether discounts and internal notes are left out.
    progress : callable, optional
        Called with a word whenever another part of a PDF begins.

    Raises
    ------
    RequestError
        If ``kind`` is unknown, or a customer does not get it.
    ReportError
        If the PDF engine is missing; the sentence says what to install and that the HTML guide is the same document.
    """
    if kind not in FORMATS:
        raise RequestError(f"unknown document {kind!r}; known: {', '.join(FORMATS)}")
    _require_for_reader(kind, customer_copy)
    result = as_handed_over(result, profile, customer_copy)
    if not any(kind in group for group in _DRAWN):
        return _made(result, catalog, kind, profile, customer_copy, progress)
    tell = None if progress is None else _word_only(progress)
    made = _drawn((kind,), result, catalog, profile, customer_copy, tell)[kind]
    if isinstance(made, ReportError):
        raise made
    return made


def prepare_drawing(kinds: Sequence[str]) -> None:
    """Start the processes that documents of these kinds are drawn in."""
    groups = sum(any(kind in group for kind in kinds) for group in _DRAWN)
    if groups:
        start_workers("sizer.documents", "sizer.guide.pdf.loaded", count=groups)


# Of each kind of a group its content, or why there is none.
_Drawn = dict[str, bytes | ReportError]


def _drawn(
    kinds: tuple[str, ...],
    result: SizingResult,
    catalog: Catalog,
    profile: Profile,
    is_customer_copy: bool,
    progress: FileProgress | None,
) -> _Drawn:
    """Documents that native code draws, made in another process: a crash costs the one that causes it."""
    arguments = (result, catalog, profile, is_customer_copy)
    try:
        made: _Drawn = apart(draw_here, kinds, *arguments, progress=_pairs(progress))
        return made
    except WorkerLostError as error:
        if len(kinds) == 1:
            sentence = f"{FORMATS[kinds[0]]}: the process that draws it ended with {error}; make it again, and shorten"
            return {kinds[0]: ReportError(f"{sentence} or simplify names and notes if it ends again.")}
    return {kind: content for one in kinds for kind, content in _drawn((one,), *arguments, progress).items()}


def draw_here(
    kinds: Sequence[str],
    result: SizingResult,
    catalog: Catalog,
    profile: Profile,
    is_customer_copy: bool,
    tell: Callable[[tuple[str, str]], None],
) -> _Drawn:
    """Documents of these kinds, made in this process; ``tell`` is called with a file's name and a word."""
    made: _Drawn = {}
    for kind in kinds:
        file = FORMATS[kind]
        tell((file, ""))
        try:
            word = partial(_tell_of, tell, file)
            made[kind] = _made(result, catalog, kind, profile, is_customer_copy, word)
        except ReportError as error:
            made[kind] = error
    return made


def _tell_of(tell: Callable[[tuple[str, str]], None], file: str, word: str) -> None:
    tell((file, word))


def _pairs(progress: FileProgress | None) -> Callable[[tuple[str, str]], None] | None:
    return None if progress is None else lambda pair: progress(*pair)


def _word_only(progress: Callable[[str], None]) -> FileProgress:
    def tell(file: str, word: str) -> None:  # noqa: ARG001 -- there is one file
        if word:
            progress(word)

    return tell


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
        is_archive = kind == "archive"
        edition = Edition(PDF_FORMS[kind], profile, is_customer_copy, is_archive)
        files = _ARCHIVED if is_archive else ()
        inside = {FORMATS[one]: _made(result, catalog, one, profile, is_customer_copy, None) for one in files}
        return guide_pdf(result, catalog, edition, inside, progress)
    if kind == "html":
        return guide_html(result, catalog, Edition("guide", profile, is_customer_copy)).encode()
    with use_locale(profile.locale if kind in _FOR_PEOPLE else DEFAULT_LOCALE):
        if kind == "design":
            return json_text(design_document(result)).encode()
        if kind == "xlsx":
            return workbook(result, catalog)
        if kind == "csv":
            return bill_csv(result)
        if kind == "csv-semicolon":
            return bill_csv(result, ";")
        if kind == "cables":
            return cables_csv(result, catalog)
        if kind == "addresses":
            return addresses_csv(result)
        if kind == "netbox":
            return netbox_zip(result, catalog)
        if kind == "drawio":
            return drawio(design_pages(result.design, catalog))
        assert kind == "slides"
        return deck(result, catalog, Edition("guide", profile, is_customer_copy))


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

    Parameters
    ----------
    result : SizingResult
        The sized request.
    catalog : Catalog
        Catalogue of the result.
    folder : Path
        Created where it does not exist.
    kinds : sequence of str, optional
        Keys of :data:`FORMATS`; default :func:`usual_kinds`.
    profile, customer_copy
        As for :func:`document`.
    progress : callable, optional
        Called with the name of a file and a word whenever something else begins.

    Returns
    -------
    (paths, remark)
        The files written, and sentences about documents that this machine cannot make and letters that it cannot draw
        ("" when all are there).

    Raises
    ------
    RequestError
        If a kind is unknown, or a customer does not get it.
    OutputError
        If the folder or a file cannot be written.
    """
    kinds = known_kinds(usual_kinds(customer_copy) if kinds is None else kinds, customer_copy=customer_copy)
    result = as_handed_over(result, profile, customer_copy)
    made: _Drawn = {}
    groups = [group for group in (tuple(kind for kind in kinds if kind in drawn) for drawn in _DRAWN) if group]
    with ThreadPoolExecutor(len(_DRAWN)) as threads:
        try:
            arguments = (result, catalog, profile, customer_copy)
            drawn = [threads.submit(_drawn, group, *arguments, progress) for group in groups]
            for kind in kinds:
                if not any(kind in group for group in groups):
                    if progress is not None:
                        progress(FORMATS[kind], "")
                    made[kind] = _made(result, catalog, kind, profile, customer_copy, None)
            for group in drawn:
                made |= group.result()
        except BaseException:
            stop_workers()
            raise
    remarks = [str(made[kind]) for kind in kinds if isinstance(made[kind], ReportError)]
    files = {FORMATS[kind]: content for kind in kinds if isinstance(content := made[kind], bytes)}
    if any(FORMATS[kind] in files for kind in PDF_FORMS):
        with use_locale(profile.locale):
            remarks.append(remark_on_glyphs(result, profile))
    return write_whole(folder, files), " ".join(dict.fromkeys(filter(None, remarks)))
