"""Collects every visible text of the documents into reports/locale/guide.pot, which translations start from.

A translation is a copy named <language>.po beside it. Needs the development packages.
"""

import ast
import io
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

ROOT = Path(__file__).resolve().parent.parent
POT = ROOT / "reports" / "locale" / "guide.pot"
# Function -> which of its arguments are messages: "c" marks what tells two equal ones apart.
PYTHON_KEYWORDS = {"tr": (1,), "trn": (1, 2), "trc": ((1, "c"), 2), "mark": (1,), "mark_forms": (1, 2)}
TEMPLATE_KEYWORDS = {"_": (1,), "gettext": (1,), "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
# As the environment of the pages reads them.
TEMPLATE_OPTIONS = {"newstyle_gettext": "yes", "trimmed": "yes", "trim_blocks": "yes", "lstrip_blocks": "yes"}
# No date and no version: the file changes only with the texts.
HEADER = r"""# Every visible text of the documents, collected by "make text".
# A translation is a copy named <language>.po, with its own plural rule below. Fields in braces, and %(...)s, stay.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

"""


def python_messages(
    file: BinaryIO, keywords: Collection[str], *_: object, **__: object
) -> Iterator[tuple[int, str, tuple[str | None, ...], list[str]]]:
    """Literal arguments of the calls that mark a text, as Babel's extraction methods give them."""
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in keywords:
            texts = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
            messages = tuple(text if isinstance(text, str) else None for text in texts)
            yield node.lineno, node.func.id, messages, []


def catalog(root: Path = ROOT) -> Catalog:
    """All messages of the code and of the templates."""
    found = Catalog(charset="utf-8")
    for folder, pattern, method, keywords, options in (
        ("sizer", "**.py", python_messages, PYTHON_KEYWORDS, {}),
        ("reports", "**.html", "jinja2.ext:babel_extract", TEMPLATE_KEYWORDS, {**TEMPLATE_OPTIONS, "silent": "no"}),
    ):
        messages = extract_from_dir(
            root / folder, [(pattern, method)], {pattern: options}, keywords=keywords, strip_comment_tags=True
        )
        for _, _, message, _, context in messages:
            found.add(message, context=context)
    return found


def text(root: Path = ROOT) -> str:
    """The file of all messages, sorted, without places, so that it changes with the texts only."""
    buffer = io.BytesIO()
    write_po(buffer, catalog(root), width=110, no_location=True, omit_header=True, sort_output=True)
    return HEADER + buffer.getvalue().decode()


def main() -> None:
    """Write the file."""
    POT.parent.mkdir(exist_ok=True)
    POT.write_text(text(), encoding="utf-8")
    print(f"{POT.relative_to(ROOT)}: {len(catalog())} texts")


if __name__ == "__main__":
    sys.exit(main())
