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


UA_FAULTS: dict[str, tuple[Plant, str]] = {
    "other part": (xmp(b'pdfuaid:part="1"', b'pdfuaid:part="7"'), "5-2"),
    "not marked": (drop_root("/MarkInfo"), "6.2-1"),
    "figure unspoken": (drop("Figure", "/Alt"), "7.3-1"),
}
ARCHIVE_FAULTS: dict[str, tuple[Plant, str]] = {
    "other part": (xmp(b'pdfaid:part="3"', b'pdfaid:part="2"'), "6.6.4-2"),
    "no output intent": (drop_root("/OutputIntents"), "6.2.4.3-2"),
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
