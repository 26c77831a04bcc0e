"""README, documents and help agree with the code."""

import re
from pathlib import Path

import pytest
import typer

import sizer
from sizer import SizingRequest, size
from sizer.base.resources import data_dir
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.modern.terms import modern_calibration
from sizer.calibrate.observations import load_observations
from sizer.calibrate.serving.calibration import serving_calibration
from sizer.calibrate.validate import ValidationReport, validate
from sizer.catalog.loader import shipped_catalog
from sizer.cli import app
from sizer.export.design_json import design_document
from sizer.guide.plain_text import answer_text
from tests.factories.examples import sized
from tools import api_page, request_page

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


# Row of the README's other tables of accuracy -> figures of `sizer validate`, in the order of the columns.
LANGUAGE = {
    "in sample": "language-median",
    "series held out": "language-held-out-series-median",
    "source held out, software stack known elsewhere": "language-held-out-source-median",
    "source held out, software stack unknown": "language-unknown-stack-median",
    "MLPerf v5.1 held out": "language-newest-round-rates",
    "time to train of MLPerf v5.1, held out": "language-newest-round-times",
    "GPU memory, in sample": "language-memory-median",
    "GPU memory, source held out": "language-memory-held-out-source-median",
}
SERVING = {
    "in sample": "serving-median",
    "model, engine, GPU and precision held out together": "serving-cell-left-out-median",
    "GPU held out": "serving-gpu-left-out-median",
    "model held out": "serving-model-left-out-median",
    "engine held out": "serving-engine-left-out-median",
    "MLPerf offline, none of its rows fitted": "serving-mlperf-offline-unfitted-median",
    "MLPerf server, none of its rows fitted": "serving-mlperf-server-unfitted-median",
    "MLPerf interactive, none of its rows fitted": "serving-mlperf-interactive-unfitted-median",
    "MLPerf, half of the systems held out": "serving-mlperf-half-of-systems-left-out-median",
}
OTHER_NETWORKS = {
    "in sample": ("modern-rate-in-sample-median", "modern-time-in-sample-median"),
    "system held out": ("modern-rate-system-left-out-median", "modern-time-system-left-out-median"),
    "v5.1 predicted from v1.0 to v5.0": (
        "modern-rate-newest-round-left-out-median",
        "modern-time-newest-round-left-out-median",
    ),
}


@pytest.fixture(scope="module")
def figures() -> dict[str, AccuracyTarget]:
    stored = (*language_calibration().figures, *modern_calibration().figures, *serving_calibration().figures)
    return {figure.measure: figure for figure in stored}


def _rows(head: str) -> dict[str, list[str]]:
    """Rows of the table of the README that begins with a cell, by their first cells."""
    (table,) = re.findall(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", README, flags=re.M)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in cells}


def _shares(figure: AccuracyTarget) -> list[str]:
    return [f"{figure.value:.1%}".replace("%", " %"), f"{figure.high:.0%}".replace("%", " %")]


def test_claimed_accuracy_of_language_models_is_what_validate_prints(
    figures: dict[str, AccuracyTarget],
) -> None:
    expected = {row: [str(figures[one].rows), *_shares(figures[one])] for row, one in LANGUAGE.items()}
    assert _rows("language models") == expected


def test_claimed_accuracy_of_serving_is_what_validate_prints(figures: dict[str, AccuracyTarget]) -> None:
    expected = {row: [f"{figures[one].rows:,}", *_shares(figures[one])] for row, one in SERVING.items()}
    assert _rows("serving of language models") == expected


def test_claimed_accuracy_of_other_networks_is_what_validate_prints(
    figures: dict[str, AccuracyTarget],
) -> None:
    assert _rows("other MLPerf networks") == {
        row: [f"{figures[rate].rows:,}", *_shares(figures[rate]), *_shares(figures[time])]
        for row, (rate, time) in OTHER_NETWORKS.items()
    }


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


@pytest.mark.xdist_group("examples")  # one worker sizes all of them
def test_figures_of_sized_examples_are_those_of_their_answers() -> None:
    """Rates have three digits; a row that states one for a GPU means the rate of the design divided by its GPUs."""
    rows = dict(re.findall(r"^\| \[`([\w-]+)\.toml`\]\S* \| (.*) \|$", README, flags=re.M))
    for name in ("llama-405b-gb200-nvl72", "llama-8b-continued-mi300x"):
        design = sized(name).design
        assert f"{_three_digits(design.workloads[0].throughput.value / design.n_gpus)} tokens/s a GPU" in rows[name]
    (diffusion,) = sized("stable-diffusion-h200").design.workloads
    assert f"sized: {_three_digits(diffusion.throughput.value)} images/s" in rows["stable-diffusion-h200"]
    driving = re.search(r"on (\d+) F800 and (\d+) H5600 nodes", rows["driving-two-tiers"])
    assert driving is not None
    nodes = f"{driving[1]} × Dell EMC Isilon F800 nodes + {driving[2]} × Dell EMC Isilon H5600 nodes"
    assert sized("driving-two-tiers").design.name.endswith(nodes)


def _three_digits(number: float) -> str:
    return f"{float(f'{number:.3g}'):,.0f}"


def test_every_verb_is_in_the_table_of_documents() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    answering = {
        name for name, verb in group.commands.items() if any("--json" in option.opts for option in verb.params)
    }
    assert answering <= set(re.findall(r"^\| `([\w-]+)` \| `", page, flags=re.M))


def test_the_page_of_the_request_is_written_from_its_schema() -> None:
    """`python -m tools.request_page` writes it again; every table of the schema is a section of it."""
    page = request_page.PAGE.read_text(encoding="utf-8")
    assert page == request_page.page()
    tables = [one for one in SizingRequest.model_json_schema()["$defs"].values() if "properties" in one]
    keys = {key for table in tables for key in table["properties"]} | set(SizingRequest.model_fields)
    assert keys == set(re.findall(r"^\| `(\w+)` \|", page, flags=re.M))


def test_the_page_of_the_stable_interface_is_written_from_the_code() -> None:
    """`python -m tools.api_page` writes it again; what goes has its successor (tests/earlier holds that)."""
    names = [Path(name).stem for name in api_page.EXAMPLES]
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(design_document(sized(name)) for name in names)


def test_the_change_log_begins_with_this_version_and_has_three_lists() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    assert any(
        one.startswith(f"{sizer.__version__} (") for one in releases[: 2 if releases[0].startswith("Unreleased") else 1]
    )
    for release in releases:
        assert re.findall(r"^### (.*)$", release, flags=re.M) == ["Answers moved", "New", "Removed"]
