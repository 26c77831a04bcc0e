"""``sizer catalog``: shows the catalogue, checks it, and converts NetBox device types to its files."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sizer.cli.options import AsJson, CatalogDir, print_document, print_message


def catalog_check(as_json: AsJson = False, catalog_dir: CatalogDir = None) -> None:
    """Check every catalogue file; list each error with its file and key."""
    from sizer.base.errors import CatalogError
    from sizer.catalog.checks import check_catalog, unknown_facts
    from sizer.catalog.loader import load_catalog

    catalog = load_catalog(overlay=catalog_dir)
    faults = check_catalog(catalog)
    if faults:
        raise CatalogError(faults)
    found = {
        "items": sum(1 for _ in catalog.items()),
        "sources": len(catalog.sources),
        "prices": len(catalog.prices),
        "assumed_values": len(catalog.assumptions()),
        "unknown_facts": len(unknown_facts(catalog)),
    }
    if as_json:
        print_document("catalog check", **found, digest=catalog.digest)
        return
    print(
        f"{found['items']} items, {found['sources']} sources, {found['prices']} prices: no errors. "
        f"{found['assumed_values']} assumed values, {found['unknown_facts']} unknown facts to confirm with vendors."
    )


def catalog_show(
    item: Annotated[str | None, typer.Argument(help="Item. Default: a list of all items.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Show an item with the source of every fact, or list all items."""
    from sizer.catalog.loader import load_catalog
    from sizer.catalog.schema import CATEGORIES
    from sizer.evidence.catalogue_tables import part_table

    catalog = load_catalog(overlay=catalog_dir)
    if item is None:
        listed = {name: list(catalog.folder(name)) for name in CATEGORIES}
        if as_json:
            print_document("catalog", items=listed)
            return
        for name, ids in listed.items():
            print(f"{name}: {', '.join(ids)}")
        return
    found = catalog.item(item)
    if as_json:
        print_document("catalog item", item=found.model_dump(mode="json", exclude_none=True))
        return
    known = part_table(found, catalog)
    title = Text(f"{found.name} ({found.id})")
    table = Table(*(column.title for column in known.columns), title=title, title_justify="left")
    for row in known.rows:
        table.add_row(*(Text(", ".join(filter(str.strip, (cell.text, *cell.cites, cell.where)))) for cell in row.cells))
    Console().print(table)


def catalog_import_netbox(
    file: Annotated[Path, typer.Argument(help="Device type of the NetBox library (YAML).", metavar="FILE.yaml")],
    folder: Annotated[
        Literal["switches", "servers", "gateways"], typer.Option(help="Catalogue folder of the item.")
    ] = "switches",
    source: Annotated[str, typer.Option(help="Key of the library in sources.toml.")] = "nbx",
    catalog_dir: CatalogDir = None,
) -> None:
    """Convert a NetBox device type to a catalogue file on stdout; missing facts are listed on stderr."""
    from sizer.base.formats.yaml_text import MAX_CHARACTERS
    from sizer.base.resources import text_of_file
    from sizer.catalog.loader import load_catalog
    from sizer.catalog.netbox.importer import import_device_type

    text = text_of_file(file, MAX_CHARACTERS, "a device type")
    imported = import_device_type(text, str(file), folder, source, load_catalog(overlay=catalog_dir))
    print(imported.toml, end="")
    print_message(f"save as {folder}/{imported.item_id}.toml")
    for question in imported.questions:
        print_message(f"missing: {question}")
