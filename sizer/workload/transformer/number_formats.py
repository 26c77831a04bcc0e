"""Number formats of the matrix products of language models: what may be asked for, and which GPU has which."""

import difflib
from typing import Literal, get_args

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, NumberFormat

Computed = Literal["bf16", "fp16", "fp8", "fp4"]
NUMBER_FORMATS: tuple[NumberFormat, ...] = get_args(NumberFormat)
# Formats rated by the measurements of another: published runs do not distinguish kinds of FP8, or of FP4.
_COMPUTED: dict[NumberFormat, Computed] = {
    "fp16": "fp16",
    "bf16": "bf16",
    "fp8": "fp8",
    "mxfp8": "fp8",
    "fp4": "fp4",
    "nvfp4": "fp4",
}
# Of a request's ``precision``: mixed precision is BF16 for language models.
ASKED: dict[str, NumberFormat] = {"mixed": "bf16", **dict(zip(NUMBER_FORMATS, NUMBER_FORMATS, strict=True))}
# Software is listed with the families of formats that it trains with.
_OF_STACKS = {"bf16": "mixed", "fp16": "mixed", "mxfp8": "fp8", "nvfp4": "fp4"}
# Peaks by which a GPU is known to have a format.
_BY_PEAK: tuple[NumberFormat, ...] = ("fp8", "fp4")


def computed_as(number_format: NumberFormat) -> Computed:
    """The format that the model computes a format as."""
    return _COMPUTED[number_format]


def stack_precision(precision: str) -> str:
    """A request's precision as the software stacks of the catalogue list it."""
    return _OF_STACKS.get(precision, precision)


def format_text(number_format: NumberFormat) -> str:
    """A format as answers name it: 'BF16', 'MXFP8 (rated as FP8)'."""
    computed = _COMPUTED[number_format]
    return number_format.upper() + ("" if computed == number_format else f" (rated as {computed.upper()})")


def number_format_named(text: str, place: str) -> NumberFormat:
    """The format with a name.

    Raises RequestError if there is none.
    """
    name = text.strip().lower()
    if name in ASKED:
        return ASKED[name]
    close = difflib.get_close_matches(name, ASKED, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise RequestError(f"{place} = {text[:60]!r} is no number format{hint} Allowed are {_listed(NUMBER_FORMATS)}")


def formats_of(gpu: Gpu, catalog: Catalog) -> tuple[NumberFormat, ...]:
    """Formats that the matrix units of a GPU multiply: of its generation, else those with a peak."""
    generation = catalog.generations.get(gpu.generation or "")
    stated = gpu.number_formats or (generation.number_formats if generation is not None else None)
    if stated is not None:
        return stated.value
    return ("fp16", "bf16", *(name for name in _BY_PEAK if name in gpu.peak_flop_per_s))


def check_format(number_format: NumberFormat, gpu: Gpu, catalog: Catalog, place: str = "") -> None:
    """Refuse a format that a GPU does not have; ``place`` is where the request states it.

    Raises RequestError with the formats that it has.
    """
    known = formats_of(gpu, catalog)
    if number_format not in known:
        names = _listed([name.upper() for name in known])
        what = "format is" if len(known) == 1 else "formats are"
        raise RequestError(
            f"{place}precision = {number_format!r}: {gpu.name} does not compute in {number_format.upper()}; "
            f"its number {what} {names}"
        )


def _listed(names: "tuple[NumberFormat, ...] | list[str]") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
