"""README, documents and help agree with the code."""

import re
from pathlib import Path

import pytest

import sizer
from sizer import SizingRequest, size
from sizer.base.resources import data_dir
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.observations import load_observations
from sizer.calibrate.validate import ValidationReport, validate
from sizer.catalog.loader import shipped_catalog
from sizer.guide.plain_text import answer_text

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Row of the README's accuracy table -> summary of `sizer validate`.
ACCURACY = {
    "training rate": "training: samples_per_s",
    "inference rate": "inference: samples_per_s",
    "time to train (not fitted)": "training: time_to_train_s",
    "epochs to target": "accuracy: epochs_to_target",
    "host CPU load": "preprocess: cpu_utilization_fraction",
    "rate of loaders and decoders": "preprocess: samples_per_s",
    "rate per core of loaders": "preprocess: samples_per_s_per_core",
    "cores per GPU with DALI (not fitted)": "preprocess: cores_per_gpu",
}


@pytest.fixture(scope="module")
def report() -> ValidationReport:
    return validate(load_observations(), shipped_catalog(), stored_calibration())


@pytest.mark.parametrize("claim", ACCURACY)
def test_claimed_accuracy_is_what_validate_prints(report: ValidationReport, claim: str) -> None:
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {claim} |")]
    rows, median, p90, coverage = (float(cell.strip(" %")) for cell in line.strip("|").split("|")[1:])
    (found,) = [one for one in report.by_quantity if one.name == ACCURACY[claim]]
    assert rows == found.predicted_rows
    # Two digits are printed, three from 100 % on: half a unit of the last one.
    assert median == pytest.approx(100 * found.median_error, abs=0.06 if median < 100 else 0.6)
    assert p90 == pytest.approx(100 * found.p90_error, abs=0.6)
    assert coverage == pytest.approx(100 * found.coverage, abs=0.6)


def test_claimed_error_of_unseen_sources_is_the_stored_one() -> None:
    unseen = stored_calibration().unseen_sources
    text = " ".join(README.split())
    training, inference = (round(100 * unseen[task]["median_error"]) for task in ("training", "inference"))
    assert f"the median error is {training} % for training and {inference} % for inference" in text


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_answer_on_the_first_screen_is_what_the_tool_prints() -> None:
    published = SizingRequest.from_file(data_dir("examples") / "dgx1-f800-inception-v4.toml")
    result = size(published.model_copy(update={"confidence": 0.9}), shipped_catalog())
    (shown,) = re.findall(r"^```text\n(.*?)\n```", README, flags=re.M | re.S)
    assert answer_text(result).startswith(shown)


def test_every_example_is_in_the_readme() -> None:
    for path in data_dir("examples").glob("*.toml"):
        assert path.name in README


def test_public_names_can_be_had() -> None:
    for name in sizer.__all__:
        assert getattr(sizer, name) is not None


def test_code_cites_no_document_that_the_repository_does_not_hold() -> None:
    sources = [path for folder in ("sizer", "tests", "tools") for path in (ROOT / folder).rglob("*.py")]
    cited = re.compile(r"\b(?:(?:DESIGN|RULES|STYLE|LANGUAGE|LOOK|FIELD|ECOSYSTEM)(?:\.md|,? section)|RULES \d)")
    found = [
        f"{path.relative_to(ROOT)}: {citation}"
        for path in sources
        for citation in cited.findall(path.read_text(encoding="utf-8"))
        if path != Path(__file__)
    ]
    assert found == []
