"""The PDFs pass veraPDF, as PDF/UA-1 and as PDF/A-3b; and veraPDF, as it is run here, finds planted faults."""

import io
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest

from tests.guides import ua
from tests.guides.cases import Document, grouped, laid_out, make_pdf
from tests.guides.sample import pdf_of, sound

pytestmark = pytest.mark.guides

TAGGED = (Document("small-team", "guide"), Document("two-hundred-servers", "guide"), Document("letter", "summary"))
ARCHIVES = (Document("letter", "guide", is_archive=True),)
LEAST_CHECKS = 5_000


def assert_passes(flavour: str, pdf: bytes, folder: Path) -> None:
    """Fail with what veraPDF finds."""
    [verdict] = ua.verdicts(flavour, {"guide": pdf}, folder).values()
    if verdict.faults:
        pytest.fail("\n".join(f"{rule}: {says}" for rule, says in verdict.faults.items()), pytrace=False)
    assert verdict.passes
    assert verdict.checks > LEAST_CHECKS  # everything was looked at


@pytest.mark.parametrize("document", [grouped(one.case, one) for one in TAGGED])
def test_the_guide_is_pdf_ua(document: Document, tmp_path: Path) -> None:
    assert_passes("ua1", make_pdf(document), tmp_path)


@pytest.mark.parametrize("document", [grouped(one.case, one) for one in ARCHIVES])
def test_the_archive_is_pdf_a_and_holds_the_design(document: Document, tmp_path: Path) -> None:
    pdf = make_pdf(document)
    assert_passes("3b", pdf, tmp_path)
    with pikepdf.open(io.BytesIO(pdf)) as file:
        assert set(file.attachments) == {"design.json", "bill.csv"}
        assert {str(one.UF) for one in file.Root.AF} == set(file.attachments)


@pytest.mark.xdist_group("letter")
@pytest.mark.parametrize("rule", [pytest.param(rule, id=name) for name, rule in ua.RULES.items()])
def test_structure_beyond_verapdf(rule: ua.Rule) -> None:
    findings = list(rule(laid_out(Document("letter", "guide"))))
    if findings:
        pytest.fail("\n".join(findings), pytrace=False)


# --- planted faults

Plant = Callable[[pikepdf.Pdf], None]


def elements(pdf: pikepdf.Pdf, tag: str) -> list[pikepdf.Dictionary]:
    """Structure elements of a tag."""
    return [one for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and one.get("/S") == f"/{tag}"]


def retag(old: str, new: str) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        elements(pdf, old)[0].S = pikepdf.Name(f"/{new}")

    return plant


def drop(tag: str, key: str) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        for one in elements(pdf, tag):
            del one[key]

    return plant


def drop_root(*keys: str) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        holder = pdf.Root
        for key in keys[:-1]:
            holder = holder[key]
        del holder[keys[-1]]

    return plant


def xmp(old: bytes, new: bytes) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        text = pdf.Root.Metadata.read_bytes()
        assert old in text
        pdf.Root.Metadata.write(text.replace(old, new))

    return plant


def draw(content: bytes) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        page = pdf.pages[0]
        page.obj.Contents.write(page.obj.Contents.read_bytes() + content)

    return plant


def from_fonts(key: str) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        for one in pdf.objects:
            if isinstance(one, pikepdf.Dictionary):
                for found in [name for name in list(one.keys()) if name.startswith(key)]:
                    del one[found]

    return plant


def every_annotation(key: str, value: object = None) -> Plant:
    def plant(pdf: pikepdf.Pdf) -> None:
        for page in pdf.pages:
            for one in page.obj.Annots:
                if value is None:
                    del one[key]
                else:
                    one[key] = value

    return plant


def no_tabs(pdf: pikepdf.Pdf) -> None:
    for page in pdf.pages:
        del page.obj.Tabs


def no_headers(pdf: pikepdf.Pdf) -> None:
    for one in elements(pdf, "TD"):
        del one.A.Headers
    for one in elements(pdf, "TH"):
        del one.ID


def first_glyph(pdf: pikepdf.Pdf) -> None:
    font = next(iter(pdf.pages[0].obj.Resources.Font.keys())).encode()
    draw(b"\n/P <</MCID 0>> BDC BT " + font + b" 10 Tf 50 50 Td <0000> Tj ET EMC")(pdf)


def script(pdf: pikepdf.Pdf) -> None:
    action = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=pikepdf.String("app.alert(1)"))
    pdf.Root.OpenAction = pdf.make_indirect(action)


def unrelated(pdf: pikepdf.Pdf) -> None:
    for one in pdf.objects:
        if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/Filespec":
            del one["/AFRelationship"]


UA_FAULTS: dict[str, tuple[Plant, str]] = {
    "no identification": (xmp(b"http://www.aiim.org/pdfua/ns/id/", b"http://example.org/id/"), "5-1"),
    "other part": (xmp(b'pdfuaid:part="1"', b'pdfuaid:part="7"'), "5-2"),
    "not marked": (drop_root("/MarkInfo"), "6.2-1"),
    "artifact of nothing": (draw(b"\n0 0 9 9 re f"), "7.1-3"),
    "own tag": (retag("P", "Verse"), "7.1-5"),
    "no metadata": (drop_root("/Metadata"), "7.1-8"),
    "no title": (xmp(b"dc:title", b"dc:tattle"), "7.1-9"),
    "title hidden": (drop_root("/ViewerPreferences", "/DisplayDocTitle"), "7.1-10"),
    "no structure": (drop_root("/StructTreeRoot"), "7.1-11"),
    "no language": (drop_root("/Lang"), "7.2-34"),
    "torn table": (retag("TBody", "Sect"), "7.2-3"),
    "torn row": (retag("TR", "P"), "7.2-8"),
    "cell of none": (retag("TD", "P"), "7.2-10"),
    "torn list": (retag("LI", "P"), "7.2-19"),
    "body of no item": (retag("LBody", "P"), "7.2-20"),
    "figure unspoken": (drop("Figure", "/Alt"), "7.3-1"),
    "level skipped": (retag("H1", "H3"), "7.4.2-1"),
    "head of no cell": (no_headers, "7.5-1"),
    "no tab order": (no_tabs, "7.18.3-1"),
    "link untagged": (retag("Link", "Span"), "7.18.5-1"),
    "link unspoken": (every_annotation("/Contents"), "7.18.5-2"),
    "font outside": (from_fonts("/FontFile"), "7.21.4.1-1"),
    "no text behind glyphs": (from_fonts("/ToUnicode"), "7.21.7-1"),
    "empty box": (first_glyph, "7.21.8-1"),
}
ARCHIVE_FAULTS: dict[str, tuple[Plant, str]] = {
    "no identification": (xmp(b"http://www.aiim.org/pdfa/ns/id/", b"http://example.org/id/"), "6.6.4-1"),
    "other part": (xmp(b'pdfaid:part="3"', b'pdfaid:part="2"'), "6.6.4-2"),
    "no output intent": (drop_root("/OutputIntents"), "6.2.4.3-2"),
    "script": (script, "6.5.1-1"),
    "font outside": (from_fonts("/FontFile"), "6.2.11.4.1-1"),
    "not printed": (every_annotation("/F", 0), "6.3.2-2"),
    "unrelated file": (unrelated, "6.8-3"),
    "files of nobody": (drop_root("/AF"), "6.8-4"),
}


def planted(pdf: bytes, plant: Plant) -> bytes:
    """The file with a fault."""
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        plant(document)
        document.save(written)
    return written.getvalue()


def archive() -> bytes:
    """The sound page as PDF/A-3b with a file in it."""
    import weasyprint

    design = weasyprint.Attachment(string=b"{}", name="design.json", relationship="Source")
    return pdf_of(pdf_variant="pdf/a-3b", attachments=[design])


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # WeasyPrint's colour profile
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("flavour", "faults"), [("ua1", UA_FAULTS), ("3b", ARCHIVE_FAULTS)], ids=["ua1", "3b"])
def test_verapdf_finds_planted_faults(flavour: str, faults: dict[str, tuple[Plant, str]], tmp_path: Path) -> None:
    pdf = sound().pdf if flavour == "ua1" else archive()
    files = {"sound": pdf} | {name: planted(pdf, plant) for name, (plant, _) in faults.items()}
    found = ua.verdicts(flavour, files, tmp_path)
    assert found.pop("sound").faults == {}
    missed = {
        name: (rule, sorted(found[name].faults)) for name, (_, rule) in faults.items() if rule not in found[name].faults
    }
    assert missed == {}
