"""What describes one field of the request: its place, its words, and the widget that edits it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import QuantityKind

# Keys from the top of a request down; an entry of a list is its number.
RequestPath = tuple[str | int, ...]
# Value -> text; a function where the options come from the catalogue of the session.
Options = Mapping[Any, str] | Callable[[], Mapping[Any, str]]


@dataclass(frozen=True)
class Text:
    """Free text of at most ``longest`` characters."""

    longest: int = 120


@dataclass(frozen=True)
class Typed:
    """A number as people type it, with its unit where the kind has one."""

    kind: QuantityKind


@dataclass(frozen=True)
class Checkbox:
    """Yes or no."""


@dataclass(frozen=True)
class Dropdown:
    """One of several; ``default`` is what the request means where it has no value."""

    options: Options
    default: Any = ""


@dataclass(frozen=True)
class Segments:
    """One of two to four, all visible at once."""

    options: Mapping[str, str]
    default: str


@dataclass(frozen=True)
class Percentage:
    """One of some fractions, shown in percent; another fraction from a file joins them."""

    levels: tuple[float, ...]
    default: float


@dataclass(frozen=True)
class MultiSelect:
    """Any number of several."""

    options: Options


@dataclass(frozen=True)
class Day:
    """A date."""


Widget = Text | Typed | Checkbox | Dropdown | Segments | Percentage | MultiSelect | Day


@dataclass(frozen=True)
class FormField:
    """One field of the request."""

    # Keys that lead to it, without the numbers of list entries: ``("workload", "target", "samples_per_s")``.
    keys: tuple[str, ...]
    label: str  # label of the widget; ``{currency}`` stands for the currency of the request
    # Explanation, and the default where it takes more words than ``empty`` ("Default: ..." at its end). Shown on
    # demand, together with range and default (``help_text``).
    help: str
    widget: Widget  # how it is edited
    empty: str = ""  # shown while the field has no value: what that means
    name: str = ""  # in errors and in the list of changes; by default the label


# Fields in the columns in which a form shows them.
Columns = tuple[tuple[FormField, ...], ...]
