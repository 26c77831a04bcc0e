"""Which documents a verb is asked to write, and how; shared by those that write some."""

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
class Order:
    """Which documents are written, and how."""

    kinds: tuple[str, ...]
    profile: "Profile"
    customer_copy: bool

    def locale(self) -> AbstractContextManager[None]:
        """Signs and dates of everything that is printed inside."""
        from sizer.base.locale import use_locale

        return use_locale(self.profile.locale)

    def handed_over(self, result: "SizingResult") -> "SizingResult":
        """The answer as the documents tell it, for the one that is printed."""
        from sizer.documents import as_handed_over

        return as_handed_over(result, self.profile, self.customer_copy)


def order_of(profile_file: Path | None, customer_copy: bool, formats: str | None, archive: bool) -> Order:
    """What the options of a verb ask for.

    Raises
    ------
    RequestError
        If a kind of document is unknown or the profile cannot be read.
    """
    from sizer.documents import USUAL, known_kinds
    from sizer.guide.profile import PLAIN, Profile

    kinds = USUAL
    if formats is not None:
        kinds = known_kinds([name.strip() for name in formats.split(",") if name.strip()], "--formats")
    profile = PLAIN if profile_file is None else Profile.from_file(profile_file)
    return Order((*kinds, "archive") if archive else kinds, profile, customer_copy)


def write_one(
    result: "SizingResult", catalog: "Catalog", folder: Path, order: Order, tell: "FileProgress | None" = None
) -> str:
    """Write the documents of one answer, and the line that tells where they lie."""
    from sizer.documents import write_documents

    written, remark = write_documents(
        result, catalog, folder, order.kinds, order.profile, order.customer_copy, progress=tell
    )
    names = ", ".join(file.name for file in written)
    return f"documents: {folder}/ ({names})" + (f"; {remark}" if remark else "")
