"""The answers whose finished documents are compared, and how these are written."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sizer.base.resources import data_dir
from sizer.documents import FORMATS, PDF_FORMS, write_documents
from sizer.guide.profile import PLAIN
from tests.guides.agreement.finished import DESIGN, PDFS, SLIDES, TABLES, WORKBOOK, Finished, read
from tests.guides.cases import CATALOG, DRAWN, PROFILES, REQUESTS, Document, answer, make_pdf

EXAMPLES = tuple(
    sorted(str(path.relative_to(data_dir("examples")))[:-5] for path in data_dir("examples").rglob("*.toml"))
)
# Not only the examples agree: random requests, and requests as customers put them: equipment that is
# there, a data set over a slow line.
SETS = (*EXAMPLES, *REQUESTS, *(f"{DRAWN}{number}" for number in (1, 2)), "extension", "slow-line")
FILES = (DESIGN, WORKBOOK, *TABLES, SLIDES, *PDFS)


@cache
def finished(case: str) -> Finished:
    """The finished documents of a case as they are read from their folder."""
    with TemporaryDirectory() as folder:
        _write(case, Path(folder))
        assert {path.name for path in Path(folder).iterdir()} == set(FILES)
        return read(Path(folder))


def _write(case: str, folder: Path) -> None:
    """The PDFs are those whose pages are read."""
    kinds = [kind for kind, name in FORMATS.items() if name in FILES]
    profile = PROFILES.get(case, PLAIN)
    write_documents(answer(case), CATALOG, folder, [kind for kind in kinds if kind not in PDF_FORMS], profile)
    for kind in kinds:
        if kind in PDF_FORMS:
            (folder / FORMATS[kind]).write_bytes(make_pdf(Document(case, PDF_FORMS[kind])))
