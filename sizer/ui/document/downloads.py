"""Files of a result for the pages: made once, on demand, and cached for preview, download and ZIP."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Lock

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.documents import FORMATS, document, file_name, zipped
from sizer.export.files import file_stem
from sizer.guide.profile import Profile
from sizer.sizing.result import SizingResult
from sizer.ui.designs import saving
from sizer.ui.state import View

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
