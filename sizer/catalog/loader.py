"""Reads ``catalog/`` and an overlay into one :class:`Catalog`, or raises one error that lists every fault."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from sizer.base.errors import CatalogError, RequestError
from sizer.base.faults import check_size, in_words, nearest, shown
from sizer.base.formats.toml_text import parse_toml
from sizer.base.resources import data_dir
from sizer.catalog import price_books
from sizer.catalog.checks import check_catalog
from sizer.catalog.items import Item
from sizer.catalog.links import GPU_LINKS, LINKS, POWER_INLETS
from sizer.catalog.model import Catalog, Items
from sizer.catalog.price_books import Price, price_rows
from sizer.catalog.schema import CATEGORIES, Source

__all__ = ["Catalog", "load_catalog", "with_prices"]

# A catalogue file is written by a person; a larger one is something else.
MAX_FILE_BYTES = 1_000_000
MAX_FILES_PER_FOLDER = 5_000
# Folders beside the items that other parts of the program read.
_OTHER_FOLDERS = ("benchmarks", "calibration", "prices")


@dataclass
class _Content:
    """What the files say, before it is checked against the schema."""

    items: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # (folder, id) -> table
    places: dict[tuple[str, str], str] = field(default_factory=dict)  # where an item was said last
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    prices: list[Price] = field(default_factory=list)
    own_prices: frozenset[str] = frozenset()
    bands: list[price_books.PriceBand] = field(default_factory=list)
    evidence: list[price_books.BandEvidence] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def load_catalog(path: Path | str | None = None, overlay: Path | str | None = None) -> Catalog:
    """Load the catalogue, with an overlay over it when one is given.

    ``path``: folder of the catalogue; the one that the program ships when left out. ``overlay``: folder of the same
    layout. A file with a new id is a new item; a file with a known id replaces the top-level keys that it gives. Rows
    of ``prices/*.csv`` replace all prices of their items, those of ``prices/bands.csv`` the price bands. It is
    immutable; ``digest`` changes with every change of content. Raises CatalogError listing every fault of every file,
    one a line: file, key, value, what is allowed. References between files are checked for an overlay and for a folder
    given by ``path``; for the shipped catalogue tests do it.
    """
    content = _Content()
    root = _folder_given(data_dir("catalog") if path is None else Path(path), "catalogue")
    _read_root(root, content, label="", is_overlay=False)
    if overlay is not None:
        over = _folder_given(Path(overlay), "overlay")
        _read_root(over, content, label=f"{over.name}/", is_overlay=True)
    catalog = _validated(content)
    if catalog is not None and (path is not None or overlay is not None):
        content.faults += check_catalog(catalog)
    if content.faults or catalog is None:
        raise CatalogError(content.faults)
    if path is None and overlay is None:
        _shipped[:] = [catalog]
    return catalog


# The catalogue that the program ships, as it was read last.
_shipped: list[Catalog] = []


def shipped_catalog() -> Catalog:
    """The catalogue that the program ships, as :func:`load_catalog` read it last; read now where nobody has."""
    return _shipped[0] if _shipped else load_catalog()


def with_prices(catalog: Catalog, rows: Sequence[Price]) -> Catalog:
    """The catalogue with the prices of one more book, as if they stood in an overlay.

    ``rows``: they replace all prices of their items. The catalogue has a digest of its own. Raises CatalogError listing
    every row whose item the catalogue does not know, with the nearest id, and every price said twice.
    """
    own = frozenset(row.item for row in rows)
    prices = [*(row for row in catalog.prices if row.item not in own), *rows]
    said = [catalog.digest, sorted(json.dumps(row.model_dump(mode="json"), sort_keys=True) for row in rows)]
    laid = replace(
        catalog,
        prices=_in_order(prices),
        own_prices=catalog.own_prices | own,
        digest=hashlib.sha256(json.dumps(said).encode()).hexdigest(),
    )
    faults = check_catalog(laid)
    if faults:
        raise CatalogError(faults)
    return laid


def _in_order(prices: Iterable[Price]) -> tuple[Price, ...]:
    return tuple(sorted(prices, key=lambda row: (row.item, row.date, row.currency, row.amount)))


def _folder_given(folder: Path, what: str) -> Path:
    if not os.path.isdir(folder):
        raise CatalogError([f"{folder}: the {what} is not a folder"])
    return folder.resolve()


def _read_root(root: Path, content: _Content, label: str, is_overlay: bool) -> None:
    known = (*CATEGORIES, *_OTHER_FOLDERS)
    for entry in _entries(root, label or root.name, content):
        place = f"{label}{entry.name}"
        if entry.name == "sources.toml":
            _read_sources(entry, root, place, content)
        elif entry.name not in known:
            hint = nearest(entry.name, list(known))
            content.faults.append(f"{place}: unknown name{hint}; known are sources.toml, {', '.join(known)}")
        elif not entry.is_dir() or _leads_outside(entry, root):
            content.faults.append(f"{place}: is not a folder inside {root.name}/")
        elif entry.name in CATEGORIES:
            _read_items(entry, root, place, content, is_overlay)
        elif entry.name == "prices":
            _read_prices(entry, root, place, content, is_overlay)
        elif is_overlay:
            content.faults.append(f"{place}: an overlay cannot replace {entry.name}; it holds items and prices")


def _leads_outside(entry: Path, root: Path) -> bool:
    # A link may lead to a file that nobody meant to hand over.
    return entry.is_symlink() and not entry.resolve().is_relative_to(root)


def _entries(folder: Path, place: str, content: _Content) -> list[Path]:
    try:
        # Not a note for readers, and not what editors and version control leave behind.
        return [one for one in sorted(folder.iterdir()) if not one.name.startswith((".", "README", "__pycache__"))]
    except OSError as error:
        content.faults.append(f"{place}: cannot be read: {error.strerror}")
        return []


def _files(folder: Path, place: str, suffix: str, content: _Content) -> list[tuple[Path, str]]:
    """Files of a folder that may be read, with their places; everything else is a fault."""
    entries = _entries(folder, place, content)
    if len(entries) > MAX_FILES_PER_FOLDER:
        content.faults.append(f"{place}: {len(entries)} files are too many; at most {MAX_FILES_PER_FOLDER}")
        return []
    wanted = []
    for entry in entries:
        here = f"{place}/{entry.name}"
        if entry.suffix != suffix or not (entry.is_file() or entry.is_symlink()):
            content.faults.append(f"{here}: is not a {suffix} file")
        else:
            wanted.append((entry, here))
    return wanted


def _text(file: Path, root: Path, place: str, content: _Content) -> str | None:
    """Text of a file, or None with a fault noted."""
    try:
        if _leads_outside(file, root):
            content.faults.append(f"{place}: is a link that leads outside {root.name}/")
            return None
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, RuntimeError) as error:
        content.faults.append(f"{place}: cannot be read: {getattr(error, 'strerror', None) or error}")
        return None
    if len(data) > MAX_FILE_BYTES:
        content.faults.append(f"{place}: is larger than {MAX_FILE_BYTES} B, the most for a catalogue file")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        content.faults.append(f"{place} line {line}: is not UTF-8 text (byte {error.start})")
        return None


def _table(file: Path, root: Path, place: str, content: _Content) -> dict[str, Any] | None:
    text = _text(file, root, place, content)
    if text is None:
        return None
    try:
        table = parse_toml(text)
        check_size(table, place)
        return table
    except RequestError as error:
        content.faults.append(str(error))
        return None
    except (ValueError, RecursionError) as error:  # ValueError: TOMLDecodeError, and integers of thousands of digits
        # tomllib names line and column except at the end of a file.
        reason = str(error).replace("at end of document", f"at line {len(text.splitlines())}, end of document")
        content.faults.append(f"{place}: is not valid TOML: {reason}")
        return None


def _read_items(folder: Path, root: Path, place: str, content: _Content, is_overlay: bool) -> None:
    elsewhere = {item_id: name for name, item_id in content.items}
    for file, here in _files(folder, place, ".toml", content):
        table = _table(file, root, here, content)
        if table is None:
            continue
        item_id, key = file.stem, (folder.name, file.stem)
        if table.get("id") != item_id:
            content.faults.append(f"{here}: id = {shown(table.get('id'))} differs from the file's name {item_id!r}")
            continue
        if elsewhere.get(item_id, folder.name) != folder.name:
            other = elsewhere[item_id]
            content.faults.append(f"{here}: id {item_id!r} is in {other}/ already; ids are unique across folders")
            continue
        if is_overlay and key in content.items:
            table = {**content.items[key], **table}
        content.items[key] = table
        content.places[key] = here


def _read_sources(file: Path, root: Path, place: str, content: _Content) -> None:
    table = _table(file, root, place, content)
    entries = (table or {}).pop("source", [])
    if table or not isinstance(entries, list):
        content.faults.append(f"{place}: holds [[source]] tables only, got {shown(next(iter(table or {}), 'source'))}")
        return
    here: set[str] = set()
    for number, entry in enumerate(entries):
        key = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(key, str) or key in here:
            problem = "has no id" if key is None else f"id = {shown(key)} is used twice or no text"
            content.faults.append(f"{place}: source[{number}] {problem}")
            continue
        here.add(key)
        # An overlay may describe a document of the catalogue anew.
        content.sources[key] = entry


def _read_prices(folder: Path, root: Path, place: str, content: _Content, is_overlay: bool) -> None:
    rows: list[Price] = []
    for file, here in _files(folder, place, ".csv", content):
        text = _text(file, root, here, content)
        if text is None:
            continue
        if file.name == price_books.BANDS_FILE:
            bands, wrong = price_books.band_rows(text, here)
            content.bands += bands
        elif file.name == price_books.EVIDENCE_FILE:
            evidence, wrong = price_books.evidence_rows(text, here)
            content.evidence += evidence
        else:
            prices, wrong = price_rows(text, here)
            rows += prices
        content.faults += wrong
    if is_overlay:
        content.own_prices = frozenset(row.item for row in rows)
        content.prices = [row for row in content.prices if row.item not in content.own_prices]
    content.prices += rows


def _validated(content: _Content) -> Catalog | None:
    """Catalogue of what was read; None when a file does not fit the schema, with every fault noted."""
    folders: dict[str, dict[str, Item]] = {folder: {} for folder in CATEGORIES}
    named = {folder: folders[folder] for folder in (LINKS, GPU_LINKS, POWER_INLETS)}
    # Link types first: the other files name them.
    for (folder, item_id), table in sorted(content.items.items(), key=lambda entry: entry[0][0] not in named):
        try:
            folders[folder][item_id] = CATEGORIES[folder].model_validate(table, context=named)
        except ValidationError as error:
            content.faults += in_words(CATEGORIES[folder], error, content.places[folder, item_id])
    sources: dict[str, Source] = {}
    for key, table in content.sources.items():
        try:
            sources[key] = Source.model_validate(table)
        except ValidationError as error:
            content.faults += in_words(Source, error, f"sources.toml: source {key!r}")
    if content.faults:
        return None
    # An alias finds the document as well; a key of its own goes first.
    aliases = {alias: source for source in sources.values() for alias in source.aliases}
    prices = sorted(json.dumps(row.model_dump(mode="json"), sort_keys=True) for row in content.prices)
    bands = [row.model_dump(mode="json") for row in (*content.bands, *content.evidence)]
    said = [sorted(content.items.items()), sorted(content.sources.items()), prices, sorted(content.own_prices), bands]
    return Catalog(
        **cast(Any, {name: Items(name, items) for name, items in folders.items()}),
        sources=Items("sources.toml", {**aliases, **sources}),
        prices=_in_order(content.prices),
        digest=hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest(),
        own_prices=content.own_prices,
        bands=price_books.PriceBands(tuple(content.bands), tuple(content.evidence)),
    )
