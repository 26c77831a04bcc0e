"""Edition of a document: its form, its branding, and its reader."""

from dataclasses import dataclass
from typing import Literal

from sizer.guide.profile import PLAIN, Profile

Form = Literal["guide", "engineer", "summary"]


@dataclass(frozen=True)
class Edition:
    """One form of the guide about a result."""

    form: Form = "guide"  # the guide for the customer, the file with the evidence for engineers, or one page
    profile: Profile = PLAIN
    is_customer_copy: bool = False  # whether the result is without discounts and internal notes
    is_archive: bool = False  # whether the PDF is PDF/A-3b, which may carry files, instead of PDF/UA-1


GUIDE = Edition()
