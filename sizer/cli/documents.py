"""Options for writing documents, shared by the commands that write them."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sizer.catalog.model import Catalog
    from sizer.documents import FileProgress
    from sizer.guide.profile import Profile
    from sizer.sizing.result import SizingResult


@dataclass(frozen=True)
class DocumentOptions:
    """Which documents are written, and how."""

    kinds: tuple[str, ...]
    profile: "Profile"
    customer_copy: bool

    def locale(self) -> AbstractContextManager[None]:
        """Number and date formats of the profile for everything printed inside."""
        from sizer.base.locale import use_locale

        return use_locale(self.profile.locale)

    def for_customer(self, result: "SizingResult") -> "SizingResult":
        """The answer as the documents show it."""
        from sizer.documents import as_handed_over

        return as_handed_over(result, self.profile, self.customer_copy)


def document_options(
    profile_file: Path | None, customer_copy: bool, formats: str | None, archive: bool
) -> DocumentOptions:
    """Documents that the options of a command request.

    Raises
    ------
    RequestError
        If a kind of document is unknown, a customer does not get it, or the profile cannot be read.
    """
    from sizer.documents import known_kinds, usual_kinds
    from sizer.guide.profile import PLAIN, Profile

    kinds = usual_kinds(customer_copy)
    if formats is not None:
        names = [name.strip() for name in formats.split(",") if name.strip()]
        kinds = known_kinds(names, "--formats", customer_copy)
    profile = PLAIN if profile_file is None else Profile.from_file(profile_file)
    return DocumentOptions((*kinds, "archive") if archive else kinds, profile, customer_copy)


def write_one(
    result: "SizingResult",
    catalog: "Catalog",
    folder: Path,
    options: DocumentOptions,
    tell: "FileProgress | None" = None,
) -> str:
    """Write the documents of one answer; returns the line that names the folder and the files."""
    from sizer.documents import write_documents

    written, remark = write_documents(
        result, catalog, folder, options.kinds, options.profile, options.customer_copy, progress=tell
    )
    names = ", ".join(file.name for file in written)
    return f"documents: {folder}/ ({names})" + (f"; {remark}" if remark else "")
