"""The set of documents of an answer, as bytes. Every caller (command line, app) gets the same ones."""

from collections.abc import Sequence
from pathlib import Path

from sizer.base.errors import ReportError, RequestError
from sizer.catalog.model import Catalog
from sizer.drawings.pages import design_pages
from sizer.export.cable_table import cables_csv
from sizer.export.csv_bill import bill_csv
from sizer.export.design_json import design_document, to_json
from sizer.export.drawio import drawio
from sizer.export.files import write_whole
from sizer.export.netbox import netbox_zip
from sizer.export.slides import slides
from sizer.export.workbook import workbook
from sizer.report.render import guide_html, guide_pdf
from sizer.sizing.result import SizingResult

FORMATS = {
    "design": "design.json",
    "xlsx": "bom.xlsx",
    "csv": "bom.csv",
    "csv-semicolon": "bom-semicolon.csv",
    "cables": "cables.csv",
    "netbox": "netbox.zip",
    "drawio": "drawings.drawio",
    "slides": "drawings.pptx",
    "html": "guide.html",
    "pdf": "guide.pdf",
}


def document(result: SizingResult, catalog: Catalog, kind: str) -> bytes:
    """One document of the answer.

    Parameters
    ----------
    kind : str
        Key of :data:`FORMATS`.

    Raises
    ------
    RequestError
        If ``kind`` is unknown.
    ReportError
        If the PDF engine is missing; the sentence says what to install and that the HTML guide is the same document.
    """
    if kind == "design":
        return to_json(design_document(result)).encode()
    if kind == "xlsx":
        return workbook(result, catalog)
    if kind == "csv":
        return bill_csv(result)
    if kind == "csv-semicolon":
        return bill_csv(result, ";")
    if kind == "cables":
        return cables_csv(result, catalog)
    if kind == "netbox":
        return netbox_zip(result, catalog)
    if kind == "drawio":
        return drawio(design_pages(result.design, catalog))
    if kind == "slides":
        return slides(design_pages(result.design, catalog), result.request.title)
    if kind == "html":
        return guide_html(result, catalog).encode()
    if kind == "pdf":
        return guide_pdf(result, catalog)
    raise RequestError(f"unknown document {kind!r}; known: {', '.join(FORMATS)}")


def write_documents(
    result: SizingResult, catalog: Catalog, folder: Path, kinds: Sequence[str] = tuple(FORMATS)
) -> tuple[list[Path], str]:
    """Write the documents into a folder, whole or not at all.

    Returns
    -------
    (paths, remark)
        The files written, and a sentence about a document that this machine cannot make ("" when all are there).

    Raises
    ------
    OutputError
        If the folder or a file cannot be written.
    """
    made: dict[str, bytes] = {}
    remark = ""
    for kind in kinds:
        try:
            made[FORMATS[kind]] = document(result, catalog, kind)
        except ReportError as error:
            if kind != "pdf":
                raise
            remark = str(error)
    return write_whole(folder, made), remark
