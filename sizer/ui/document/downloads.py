"""Files of an answer for the pages: made once, on demand, and kept for preview, download and ZIP alike."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Lock

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.documents import FORMATS, as_handed_over, document, file_name, file_stem, zipped
from sizer.guide.profile import Profile
from sizer.sizing.result import SizingResult
from sizer.ui.designs import saving
from sizer.ui.state import View

# Called with a word whenever another part of a file begins.
Progress = Callable[[str], None]
# Of all sessions together; a guide has some megabytes.
MAX_KEPT_BYTES = 200_000_000


class Shelf:
    """Files by what they were made from; those used longest ago make room. Any thread may use it."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._making: dict[str, Lock] = {}
        self._lock = Lock()
        self._max_bytes = max_bytes

    def get(self, key: str) -> bytes | None:
        """A file that is there already."""
        with self._lock:
            found = self._files.get(key)
            if found is not None:
                self._files.move_to_end(key)
            return found

    def made(self, key: str, make: Callable[[], bytes]) -> bytes:
        """A file, made if it is not there. Who asks for one that is being made waits for it."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            try:
                found = self.get(key)
                if found is None:
                    found = make()
                    self._put(key, found)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return found

    def _put(self, key: str, content: bytes) -> None:
        with self._lock:
            self._files[key] = content
            while len(self._files) > 1 and sum(map(len, self._files.values())) > self._max_bytes:
                self._files.popitem(last=False)


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """The files of all sessions."""
    return Shelf()


@dataclass(frozen=True)
class Order:
    """What files are made from. It holds all that their making needs: that happens in threads without a session."""

    result: SizingResult
    catalog: Catalog
    profile: Profile
    is_customer_copy: bool
    key: str
    revision: str = ""
    kept: Shelf = field(default_factory=shelf)

    def file(self, kind: str, progress: Progress | None = None) -> bytes:
        """One file; ``kind`` is a key of ``FORMATS``."""

        def make() -> bytes:
            return document(self.result, self.catalog, kind, self.profile, self.is_customer_copy, progress)

        return self.kept.made(self.key_of(kind), make)

    def key_of(self, kind: str) -> str:
        """Names a file by all that it is made from."""
        return f"{kind} {self.key}"

    def name(self, kind: str) -> str:
        """Name of a file."""
        return file_name(self._named, kind, self.revision, datetime.now(UTC).date())

    @property
    def zip_name(self) -> str:
        """Name of the ZIP with all files."""
        return f"{file_stem(self._named, self.revision, datetime.now(UTC).date())}.files.zip"

    def all_files(self, kinds: Sequence[str], progress: Callable[[str, str], None]) -> bytes:
        """ZIP of files; ``progress`` is called with a file's short name and a word whenever something begins."""

        def make() -> bytes:
            found = {}
            for kind in kinds:
                progress(FORMATS[kind], "")
                found[self.name(kind)] = self.file(kind, partial(progress, FORMATS[kind]))
            return zipped(found)

        return self.kept.made(self.zip_key(kinds), make)

    def zip_key(self, kinds: Sequence[str]) -> str:
        """Names a ZIP by all that is in it."""
        return f"zip {self.zip_name} {' '.join(kinds)} {self.key}"

    @property
    def _named(self) -> SizingResult:
        return as_handed_over(self.result, self.profile)


def order(view: View, profile: Profile, is_customer_copy: bool) -> Order:
    """What the files of the answer shown are made from. In customer mode they are the customer's."""
    assert view.result is not None
    is_customer_copy = is_customer_copy or view.is_customer_mode
    look = hashlib.sha256(f"{profile.model_dump_json()} {profile.logo_uri}".encode()).hexdigest()
    key = f"{is_customer_copy:d} {look} {view.key}"
    return Order(view.result, view.catalog, profile, is_customer_copy, key, saved_revision(view))


def saved_revision(view: View) -> str:
    """Revision that the design was saved as: "r3", "r3-changed" once it is another one, "" before it is saved."""
    here = saving.saved()
    if here is None:
        return ""
    return f"r{here['revision']}{'-changed' if saving.is_unsaved(view) else ''}"
