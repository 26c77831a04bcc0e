"""Names of catalogue items in a sentence, and words that say nothing about a request."""

import re
from collections.abc import Mapping

from sizer.catalog.schema import Item

# Words without meaning for a request.
FILLERS = frozenset(
    re.findall(
        r"\w+",
        """
        a about an and any are around as at be best budget busy buy by can cluster customer data dataset deep done every
        for from get gpu gpus has have i images in is it its job keep kept learning less like limit limits machine model
        most must need needs network neural new of on or our per photos pictures please run samples server
        servers set should size some stored storage system take takes team than that the their them they
        this to total under up use using want wants we what which will with within would you your
        """,
    )
)


def aliases(items: Mapping[str, Item]) -> dict[str, str]:
    """Patterns that identify items, each only one item: id, name up to its first comma, distinctive words of it."""
    keys_of: dict[str, set[str]] = {}
    for key, item in items.items():
        short = short_name(item)
        words = [word for word in short.split() if re.search(r"\d", word) and re.search(r"[a-zA-Z]", word)]
        first = re.split(r"[\s-]", short)[0]
        for name in {key, short, *words, *([first] if len(first) > 2 and first.lower() not in FILLERS else [])}:
            keys_of.setdefault(_pattern(name), set()).add(key)
    exact = {_pattern(key): key for key in items}
    return {
        alias: exact.get(alias, next(iter(keys))) for alias, keys in keys_of.items() if len(keys) == 1 or alias in exact
    }


def _pattern(name: str) -> str:
    """Letters and digits of a name with any separators between them: ResNet-50, resnet 50, ResNet50."""
    return r"[\s._-]*".join(re.escape(part.lower()) for part in re.findall(r"[A-Za-z]+|\d+", name))


def short_name(item: Item) -> str:
    """Name of an item up to its first comma, bracket or "with"."""
    return re.split(r",| \(| with ", item.name)[0]
