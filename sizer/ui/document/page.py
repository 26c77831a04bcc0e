"""Page Document: the guide, the bill and the design as files."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Lock

import streamlit as st

from sizer.base.quantities import si
from sizer.catalog.model import Catalog
from sizer.documents import FORMATS, INTERNAL, PDF_FORMS, document, file_name
from sizer.export.files import file_stem, zipped
from sizer.guide.engineer.short_chapters import assumptions_table
from sizer.guide.profile import Profile
from sizer.present.fonts.pango import weasyprint_state
from sizer.present.text.assumptions import question_texts
from sizer.present.text.verdict import reason_texts, selection_text
from sizer.present.words import plural, question, sentence
from sizer.sizing.result import SizingResult
from sizer.ui import look
from sizer.ui.app_server import turns
from sizer.ui.designs import saving
from sizer.ui.document import branding
from sizer.ui.state import View
from sizer.ui.typed import plain

# Called with a word whenever another part of a file begins.
Progress = Callable[[str], None]
# Of all sessions together; a guide has some megabytes.
MAX_CACHED_BYTES = 200_000_000


class FileCache:
    """Files by what they were made from; the least recently used are dropped. Any thread may use it."""

    def __init__(self, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._making: dict[str, Lock] = {}
        self._lock = Lock()
        self._max_bytes = max_bytes

    def get(self, key: str) -> bytes | None:
        """A cached file."""
        with self._lock:
            content = self._files.get(key)
            if content is not None:
                self._files.move_to_end(key)
            return content

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """A file, made if it is not cached. A second caller waits while it is being made."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            try:
                content = self.get(key)
                if content is None:
                    content = make()
                    self._put(key, content)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return content

    def _put(self, key: str, content: bytes) -> None:
        with self._lock:
            self._files[key] = content
            while len(self._files) > 1 and sum(map(len, self._files.values())) > self._max_bytes:
                self._files.popitem(last=False)


@st.cache_resource(show_spinner=False)
def file_cache() -> FileCache:
    """The files of all sessions."""
    return FileCache()


@dataclass(frozen=True)
class DocumentSource:
    """Everything that the files are made from, as they are made in threads without a session."""

    result: SizingResult
    catalog: Catalog
    profile: Profile
    is_customer_copy: bool
    key: str
    revision: str = ""  # that it was saved as: "r3", "r3-changed" with unsaved changes
    cache: FileCache = field(default_factory=file_cache)

    def file(self, kind: str, progress: Progress | None = None) -> bytes:
        """One file; ``kind`` is a key of ``FORMATS``."""

        def make() -> bytes:
            return document(self.result, self.catalog, kind, self.profile, self.is_customer_copy, progress)

        return self.cache.get_or_make(self.key_of(kind), make)

    def key_of(self, kind: str) -> str:
        """Identifies a file by everything that it is made from."""
        return f"{kind} {self.key}"

    def name(self, kind: str) -> str:
        """Name of a file."""
        return file_name(self.result, kind, self.revision, datetime.now(UTC).date())

    @property
    def zip_name(self) -> str:
        """Name of the ZIP with all files."""
        return f"{file_stem(self.result, self.revision, datetime.now(UTC).date())}.files.zip"

    def all_files(self, kinds: Sequence[str], progress: Callable[[str, str], None]) -> bytes:
        """ZIP of files; ``progress`` is called with a file's short name and a word whenever something begins."""

        def make() -> bytes:
            files = {}
            for kind in kinds:
                progress(FORMATS[kind], "")
                files[self.name(kind)] = self.file(kind, partial(progress, FORMATS[kind]))
            return zipped(files)

        return self.cache.get_or_make(self.zip_key(kinds), make)

    def zip_key(self, kinds: Sequence[str]) -> str:
        """Identifies a ZIP by its content."""
        return f"zip {self.zip_name} {' '.join(kinds)} {self.key}"


def document_source(view: View, profile: Profile) -> DocumentSource:
    """Source of the files of the present result; in the customer view of customer copies."""
    is_customer_copy = view.is_customer_mode
    branding = hashlib.sha256(f"{profile.model_dump_json()} {profile.logo_uri}".encode()).hexdigest()
    key = f"{is_customer_copy:d} {branding} {view.key}"
    opened = saving.saved()
    changed = "-changed" if saving.is_unsaved(view) else ""
    revision = "" if opened is None else f"r{opened['revision']}{changed}"
    return DocumentSource(view.result, view.catalog, profile, is_customer_copy, key, revision)


# Format -> name, purpose, media type.
_FILES = {
    "pdf": (
        "Guide, PDF",
        "The reference architecture for the customer: design with its reasons, performance, bill, tests.",
        "application/pdf",
    ),
    "engineer": (
        "Engineer's file, PDF",
        "The evidence: assumptions, claims, calibration, every part, cable, address and formula. Not for the customer.",
        "application/pdf",
    ),
    "summary": ("Summary, PDF", "The answer on one page.", "application/pdf"),
    "html": ("Guide, web page", "The guide in one HTML file.", "text/html"),
    "xlsx": (
        "Bill, workbook",
        "The bill with formulas; fill in prices.",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "csv": ("Bill, CSV", "The bill for a quoting tool.", "text/csv"),
    "csv-semicolon": ("Bill, CSV (;)", "The same for spreadsheets with a decimal comma.", "text/csv"),
    "cables": (
        "Cable list, CSV",
        "Every cable with both ends, length, part number and labels, for the installers.",
        "text/csv",
    ),
    "addresses": ("Address plan, CSV", "A proposed subnet and address for every port.", "text/csv"),
    "netbox": (
        "NetBox import, ZIP",
        "Sites, racks, devices, cables and power cords, in the import order of NetBox.",
        "application/zip",
    ),
    "slides": (
        "Slides, PowerPoint",
        "A deck to present: need, verdict, architecture, bottleneck, racks, growth, price, risks and next steps.",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    "archive": (
        "Archive, PDF/A",
        "The guide for archiving, with the design and the workbook attached.",
        "application/pdf",
    ),
    "design": (
        "Design, JSON",
        "Every number of the result, and the request. Opening it in this app gives the same design.",
        "application/json",
    ),
}
# Groups of files in their order on the page.
_GROUPS = (
    ("Documents", ("pdf", "engineer", "summary", "slides", "html")),
    ("Ordering", ("xlsx", "csv", "csv-semicolon")),
    ("Installation", ("cables", "addresses", "netbox")),
    ("Archive", ("archive", "design")),
)


def show(view: View) -> None:
    """Draw the page."""
    missing = weasyprint_state()
    if missing is not None:
        st.info(
            f"PDFs cannot be made on this machine: {plain(missing)} The web page has the same content.",
            icon=":material/info:",
        )
    if not view.is_current:
        st.warning(
            "Downloads are locked: the current request has no design yet.",
            icon=":material/warning:",
        )
    st.header("Document", anchor=False)
    if view.is_customer_mode:
        look.note("Customer copies: without discounts, internal notes and the engineer's file.")
    else:
        look.note("Files for your own use. The customer view makes copies without discounts and internal notes.")
    source = document_source(view, branding.profile())
    look.folded("Branding", "branding", branding.show, branding.summary(source.profile))
    branding.show_faults()
    st.header("Files", anchor=False)
    left_out = (*(PDF_FORMS if missing is not None else ()), *(INTERNAL if source.is_customer_copy else ()))
    kinds = tuple(kind for kind in FORMATS if kind not in left_out)
    with st.container(key="files"):
        _files(source, kinds, is_locked=not view.is_current)
    _all_files(source, kinds, is_locked=not view.is_current)
    _contents(view)


def _files(source: DocumentSource, kinds: tuple[str, ...], *, is_locked: bool) -> None:
    """List of all downloads; the first is the primary one. Locked while the request has no design."""
    look.note("Each file is made when you download it; a PDF takes some seconds.")
    first = next(kind for _, members in _GROUPS for kind in members if kind in kinds)
    for title, members in _GROUPS:
        present = [kind for kind in members if kind in kinds]
        st.subheader(title, anchor=False)
        for kind in present:
            label, purpose, media = _FILES[kind]
            left, right = st.columns([1, 3], vertical_alignment="center", gap="medium")
            with left:
                st.download_button(
                    label,
                    turns.for_session(partial(source.file, kind)),  # made in a thread of its own
                    source.name(kind),
                    media,
                    key=f"download-{kind}",
                    on_click="ignore",
                    type="primary" if kind == first else "secondary",
                    icon=":material/download:",
                    width="stretch",
                    disabled=is_locked,
                )
            with right:
                look.note(purpose)


def _all_files(source: DocumentSource, kinds: tuple[str, ...], *, is_locked: bool) -> None:
    """All files in one ZIP: made with a progress display, then offered for download."""
    st.subheader("All files", anchor=False)
    place = st.empty()
    wanted = place.button(
        "Make all files",
        key="make-all",
        icon=":material/folder_zip:",
        help="All files above in one ZIP. Files that exist already are reused.",
        disabled=is_locked,
    )
    archive = source.cache.get(source.zip_key(kinds))
    if archive is None and wanted:
        with place.status("All files: started") as box:
            archive = source.all_files(
                kinds, lambda file, word: box.update(label=f"{file}: {word}" if word else f"{file}: started")
            )
    if archive is not None and not is_locked:
        place.download_button(
            f"All files, ZIP, {si(len(archive), 'B')}",
            lambda: archive,
            source.zip_name,
            "application/zip",
            key="download-all",
            on_click="ignore",
            icon=":material/folder_zip:",
        )


def _contents(view: View) -> None:
    result = view.result
    st.header("Basis of the design", anchor=False)
    if reason_texts(result):
        with st.expander("**Reasons** for this design"):
            ranking = () if view.is_customer_mode else (selection_text(result),)
            look.notes([sentence(text) for text in (*reason_texts(result), *ranking)])
    if (table := assumptions_table(result)) is not None:
        look.table(table, view.catalog.sources, f"**Assumptions:** {plural(len(result.assumptions), 'input')}")
    if not view.is_customer_mode:
        _questions(result)


def _questions(result: SizingResult) -> None:
    if not result.questions:
        look.note("No questions to the vendors.")
        return
    with st.expander(f"**Questions to the vendors:** {len(result.questions)}"):
        look.notes([question(text) for text in question_texts(result)])
