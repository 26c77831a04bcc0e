"""Writes users' files of this version by its real paths: ``python -m tests.earlier.write``, once for a version.

Requests, profiles and price books are typed by people: those of the folder of the version before are copied first.
"""

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from sizer import SizingRequest, __version__, size
from sizer.base.formats.toml_text import parse_toml
from sizer.catalog.loader import load_catalog, with_prices
from sizer.catalog.price_books import price_rows
from sizer.library.library import Library, content_of
from sizer.ui.sharing import link

FOLDER = Path(__file__).parent
# Requests whose answers are stored: short ones, of each kind of network.
ANSWERED = ("examples/small-team.toml", "examples/dgx1-f800-resnet50.toml", "examples/llama-70b-dgx-h100.toml")


def write(folder: Path) -> None:
    """Designs, links and a library, beside the requests and price books that people typed."""
    designs = folder / "designs"
    designs.mkdir()
    for name in ANSWERED:
        if Path(name).is_file():
            out = designs / Path(name).stem
            command = [sys.executable, "-m", "sizer.cli", "size", name, "--out", str(out), "--formats", "design"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            (out / "design.json").rename(designs / f"{out.name}.json")
            out.rmdir()
    drafts = {path.stem: parse_toml(path.read_text("utf-8")) for path in sorted(folder.glob("requests/*.toml"))}
    links = [link("https://sizer.example.org/", draft, "prices.csv") for draft in drafts.values()]
    (folder / "links.txt").write_text("\n".join(one for one in links if one) + "\n", encoding="utf-8")
    book = (folder / "prices" / "commas.csv").read_text("utf-8")
    shipped = load_catalog()
    priced = with_prices(shipped, price_rows(book, "price book")[0])
    library = Library(str(folder / "designs.sqlite"))
    draft = parse_toml(Path(ANSWERED[0]).read_text("utf-8"))
    for number, (prices, catalog) in enumerate((("", shipped), (book, priced))):
        content = content_of(draft, prices, size(SizingRequest.from_dict(draft), catalog), catalog)
        about = {"author": "Ann", "comment": f"state {number}", "now": datetime(2026, 11, 28, 12, number, tzinfo=UTC)}
        if number:
            library.save("small-team-1", 1, content, **about)
        else:
            library.create("small-team-1", "Small team", content, **about)
    library.close()
    shutil.copy("docs/api.md", folder)


if __name__ == "__main__":
    write(FOLDER / ".".join(__version__.split(".")[:2]))
