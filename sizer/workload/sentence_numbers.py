"""Numbers and units in a sentence, read by the rules of a request file."""

from sizer.base.errors import RequestError
from sizer.base.quantities import BYTES, QuantityKind, parse


def byte_unit(unit: str) -> str:
    """The unit, unless it could be bits."""
    if not unit.endswith("B"):
        raise RequestError(f"sentence: the unit {unit} means bits; write {unit[:-1]}B for bytes")
    return "kB" if unit == "KB" else unit


def number_of(text: str) -> float:
    """A number without a unit."""
    return checked(BYTES, f"{text} B")


def checked(kind: QuantityKind, written: str) -> float:
    """A quantity; an error of the sentence where it is none."""
    try:
        return parse(kind, written)
    except ValueError as error:
        raise RequestError(f"sentence: {error}") from None
