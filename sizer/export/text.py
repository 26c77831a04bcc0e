"""Text that spreadsheets cannot take for a formula."""

# A spreadsheet reads a cell that starts with one of these as a formula, or skips the character and reads on.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
TO_BE_QUOTED = "to be quoted"


def is_formula_like(text: str) -> bool:
    """Whether a spreadsheet might calculate the text."""
    return text.lstrip(" ").startswith(FORMULA_STARTS) or text.startswith(FORMULA_STARTS)


def harmless(text: str) -> str:
    """Text with an apostrophe before what a spreadsheet might calculate; control characters become spaces."""
    clean = "".join(" " if ord(char) < 32 else char for char in text)
    return f"'{clean}" if is_formula_like(text) else clean
