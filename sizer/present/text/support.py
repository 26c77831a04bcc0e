"""Devices of a bill without a support line, in words."""

from sizer.bom.bill import Bill
from sizer.catalog.model import Catalog
from sizer.present import words

# Folders of the catalogue with devices that are sold with support.
_SUPPORTED = ("servers", "storage", "switches")
# What a support line is for, where it names no device.
_FOR_ALL = ("any", "cluster")


def unsupported_text(bill: Bill, catalog: Catalog) -> str:
    """That support of some devices is not in the bill; "" where each device has a line of support.

    A support line that the quote adds names no device: with it nothing is said.
    """
    lines = [line for line in bill.lines if line.category == "support"]
    if any(not line.item for line in lines):
        return ""
    covered = {name for line in lines for name in catalog.support[line.item].applies_to}
    bought = dict.fromkeys(line.item for line in bill.bought if line.item)
    missing = [
        item.name
        for item in (catalog.item(id_) for id_ in bought if catalog.category_of(id_) in _SUPPORTED)
        if not covered & {item.id, item.vendor, *_FOR_ALL}
    ]
    if not missing:
        return ""
    return (
        f"Support is not included for {words.listed(missing)}: no source gives its terms. Request it with the quotes; "
        "some vendors sell their systems only with support."
    )
