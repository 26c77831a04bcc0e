"""Names that the catalogue never saw: expectations follow from the naming rules of the vendors."""

import csv
import dataclasses
import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import CalibrationError
from sizer.calibrate.free_wording.stacks import suggest_stack
from sizer.calibrate.free_wording.suggest import files_with_ids, with_ids
from sizer.calibrate.ids import LINES, release_year, stack_of
from sizer.calibrate.observations import COLUMNS, ID_COLUMNS, Observation, load_observations
from sizer.catalog.schema import Stack
from tests.calibrate.wording_rows import CATALOG, row_of
from tests.factories.rows import every

EMPTY_IDS = dict.fromkeys(ID_COLUMNS, "") | {"has_ids": False}
# Texts that took longest or broke readers elsewhere.
HOSTILE = (
    "\x00\x07\x1b[31m",
    "jan " * 1250,
    "1" * 5000,
    "1." * 2500,
    "a." * 2500,
    "a-" * 2500,
    "mlperf-" * 714,
    "nvlink-" * 714,
    "v100" * 1250,
    "dgx-1" * 1000,
    "tf_cnn_" * 714,
    " " * 5000,
    "\u0301" * 5000,
    "ﷺ" * 5000,
    "٣.٤ TensorFlow ١٩.٠٧",
    "\ud800",
)


def observed() -> list[Observation]:
    """One row of each wording."""
    rows = [row for row in load_observations() if row.task in ("training", "inference")]
    return list({(row.software, row.source, row.framework): row for row in rows}.values())


def named(software: str, framework: str = "", **cells: object) -> Stack:
    """Stack that a wording is taken for."""
    (row,) = with_ids([row_of(software=software, framework=framework, **cells)], CATALOG)
    stack = stack_of(row, CATALOG)
    assert stack is not None
    return stack


def year_of(stack: str) -> float:
    year = release_year(CATALOG.stacks[stack])
    assert year is not None
    return year


@every(load_observations, lambda row: row.id)
def test_the_wording_of_every_shipped_row_means_its_ids(row):
    """The ids of the files were checked by hand; without them the wording must lead to the same."""
    (again,) = with_ids([dataclasses.replace(row, **EMPTY_IDS)], CATALOG)
    if is_of_a_loader_alone(row):
        # The reader takes the loader's framework for a stack that ran; no stack of the catalogue is meant either way.
        for stack in (row.stack, again.stack):
            assert stack not in CATALOG.stacks
        again = dataclasses.replace(again, stack=row.stack, assumed=row.assumed)
    assert again == row


def is_of_a_loader_alone(row: Observation) -> bool:
    """Whether a row is of one loader or decoder, without a training stack: it states the format of its samples.

    Its software names that loader ("tensorflow (decode only)", "tf.data, decoded strategy"), not a release that trains.
    The host work is fitted by format, library and source, so the stack was left empty, or given, by hand.
    """
    return row.task == "preprocess" and "sample_format" in row.extra


SPELLINGS = (str.upper, str.lower, lambda text: f" {text.replace(',', ' ;')} ")


@every(lambda: product(observed(), SPELLINGS), lambda row, spelled: spelled(f"{row.software} / {row.source}"))
def test_spelling_changes_nothing(row, spelled):
    (other,) = with_ids([dataclasses.replace(row, software=spelled(row.software), **EMPTY_IDS)], CATALOG)
    # The rule for rows that name no software is for those alone.
    if row.software:
        assert other.stack == row.stack


def test_every_stack_has_a_line_and_a_year():
    for stack in CATALOG.stacks.values():
        if stack.trains_language or stack.runs_mlperf:
            continue  # rows of MLPerf v1.0 and later have files and fits of their own
        assert stack.line in LINES
        assert 2016 <= year_of(stack.id) < 2024
        assert stack.xla == ("xla" in stack.id)
        assert (stack.line == "ngc") == ("ngc" in stack.id.lower() or stack.id == "pytorch-0.3")


@pytest.mark.parametrize(
    ("stack", "line"),
    [
        ("mxnet-ngc19.05-dali", "ngc"),
        ("tf-cnn-benchmarks-ngc18.09", "ngc"),
        ("tf-cnn-benchmarks-2.2", "cnn-benchmarks"),
        ("tf-1.4-tensorpack", "tensorpack"),
        ("tf-horovod-tensorpack", "tensorpack"),
        ("tf-official-2.3", "official"),
        ("pytorch-1.6-examples", "official"),
        ("tf-1.8-horovod", "horovod"),
        ("tensorflow-dell-2018", "horovod"),
        ("mxnet-1.2", "upstream"),
        ("oneflow-0.2", "upstream"),
    ],
)
def test_line_of_catalogue_stacks(stack, line):
    assert CATALOG.stacks[stack].line == line


@pytest.mark.parametrize(
    ("software", "framework", "loader", "stack"),
    [
        ("NGC TensorFlow 19.07", "tensorflow", "", "tf-ngc19.07"),
        ("nvcr.io/nvidia/tensorflow:19.07-py3", "", "", "tf-ngc19.07"),
        ("Horovod + TensorFlow container (NGC 19.07), XLA, --amp", "TF", "", "tf-ngc19.07-xla"),
        ("TensorFlow NGC 20.03", "tensorflow", "", "tf-ngc20.03"),
        ("TensorFlow 1.15 NGC 20.03, XLA, DALI", "tensorflow", "", "tf-ngc20.03-xla-dali"),
        ("TensorFlow NGC 20.03 + XLA", "tensorflow", "dali", "tf-ngc20.03-xla-dali"),
        ("NGC PyTorch 19.05", "torch", "", "pytorch-ngc19.05"),
        ("NGC PyTorch 19.05", "torch", "dali", "pytorch-ngc19.05-dali"),
        ("PyTorch, NVIDIA Release 20.06", "pytorch", "", "pytorch-ngc20.06"),
        ("PyTorch 20.03 DALI on CPU", "", "", "pytorch-ngc20.03-dali-cpu"),
        ("MXNet 0.11.1", "mxnet", "", "mxnet-0.11"),
        ("mxnet 1.6 GluonCV", "mxnet", "", "mxnet-1.6-gluoncv"),
        ("TF 1.15.3, tf-cnn-benchmarks, CUDA 10.0, cuDNN 7.6.5, no XLA", "", "", "tf-cnn-benchmarks-1.15.3"),
        ("tf_cnn_benchmarks TensorFlow 1.15.3 XLA", "", "", "tf-cnn-benchmarks-1.15.3-xla"),
        ("TensorFlow 1.5", "tensorflow", "", "tf-1.5"),
        ("Paddle 1.8.3 without DALI", "paddle", "", "paddle-1.8"),
        ("Paddle 1.8.3, DALI", "paddle", "", "paddle-1.8-dali"),
        ("TensorFlow official models (October 2018)", "", "", "tf-official-2018.10"),
        ("tf-ngc19.07-xla", "tensorflow", "", "tf-ngc19.07-xla"),
        ("MXNet NGC 19.05 with DALI", "mxnet", "", "mxnet-ngc19.05-dali"),
    ],
)
def test_same_wording_spelled_otherwise(software, framework, loader, stack):
    assert suggest_stack(CATALOG, row_of(software=software, framework=framework, loader=loader)) == (stack, "")


@pytest.mark.parametrize(
    ("software", "loader"),
    [
        ("TensorFlow NGC 19.05 + XLA", ""),  # the catalogue has it without XLA only
        ("NGC MXNet 19.05", "framework"),  # and this one with DALI only
        ("TensorFlow NGC 20.06-tf2 + XLA", ""),  # another TensorFlow in the same month's container
        ("PyTorch 1.1.1", ""),
        ("TensorFlow 1.15.3, tensorpack", ""),
        ("TensorFlow + Horovod", ""),  # a stack only of the sources that mean one by it
    ],
)
def test_other_software_is_described(software, loader):
    stack = named(software, loader=loader)
    assert stack.id not in CATALOG.stacks
    assert stack.id.startswith(f"{stack.framework}:{stack.line}:")
    assert stack.xla == ("XLA" in software)


@pytest.mark.parametrize(
    ("software", "framework", "year", "line"),
    [
        ("TensorFlow NGC 21.07 + XLA", "tensorflow", 2021 + 6.5 / 12, "ngc"),
        ("PyTorch, NVIDIA Release 20.09", "pytorch", 2020 + 8.5 / 12, "ngc"),
        ("MXNet 23.12", "mxnet", 2023 + 11.5 / 12, "ngc"),
        ("TensorFlow 1.4 container, CUDA 9.0, 18.01", "tensorflow", 2018 + 0.5 / 12, "ngc"),
        ("TensorFlow (Mar 2019)", "tf", 2019 + 2.5 / 12, "upstream"),
        ("PyTorch nightly 2019-06-15", "pytorch", 2019 + 5.5 / 12, "upstream"),
        ("tf-nightly-gpu dev20190405", "", 2019 + 3.5 / 12, "upstream"),
        ("PyTorch of 2020", "pytorch", 2020.5, "upstream"),
        ("TensorFlow official models, ILSVRC 2012", "tf", None, "official"),
        ("TensorFlow for MLPerf v0.6", "tensorflow", 2019 + 5.5 / 12, "upstream"),
        ("TensorFlow 1.13.1", "tensorflow", year_of("tf-1.13-tensorpack"), "upstream"),
        ("TensorFlow 1.5, tf_cnn_benchmarks", "", year_of("tf-1.5"), "cnn-benchmarks"),
        ("PyTorch 1.13.1", "pytorch", year_of("pytorch-1.6-examples"), "upstream"),
        ("TensorRT 4.0.0.1", "tensorrt", year_of("tensorrt-4.0"), "upstream"),
        ("TensorFlow 2.0, Horovod", "tf", year_of("tf-cnn-benchmarks-2.2"), "horovod"),
        ("PyTorch + Horovod", "pytorch", None, "upstream"),
        ("OpenAI scripts", "chainer", None, "upstream"),
        ("TensorFlow 1.x", "tensorflow", None, "upstream"),
    ],
)
def test_year_and_line_of_other_software(software, framework, year, line):
    stack = named(software, framework)
    assert stack.id not in CATALOG.stacks
    assert stack.line == line
    assert release_year(stack) == (None if year is None else pytest.approx(year, abs=1e-9))


@pytest.mark.parametrize(
    "software",
    [
        "TensorFlow, cuDNN 7.0.5",
        "TensorFlow, CUDA 9",
        "TensorFlow, NCCL 2.4.8",
        "TensorFlow, 8x V100",
        "TensorFlow 8 GPUs",
        "TensorFlow, ImageNet 224",
        "TensorFlow, Ubuntu 18.04",
        "TensorFlow, Docker 19.03",
        "TensorFlow, 18.09 s a step",
        "TensorFlow, Python 3.6, keras 2.2.4",
        "TensorFlow, COCO 2017",
        "TensorFlow decode 2x",
        "TensorFlow, driver 418.67",
    ],
)
def test_numbers_of_other_things_date_nothing(software):
    assert release_year(named(software)) is None


def test_version_between_two_known_ones_is_dated_between_them():
    """PyTorch 1.1 is of 2019-04 and 1.6 of 2020-07, 15 months: three fifths are 9 months, January 2020."""
    stack, assumed = suggest_stack(CATALOG, row_of(software="PyTorch 1.4", framework="pytorch"))
    assert stack == "pytorch:upstream:2020-01"
    assert "between PyTorch 1.1 and 1.6" in assumed


@pytest.mark.parametrize(
    ("cells", "year"),
    [
        ({"source": "mlperf-v0.7"}, 2020 + 6.5 / 12),
        ({"source": "mlperf_training_1.1"}, 2021 + 11.5 / 12),
        ({"id": "mlperf-v1.0-dgx1-resnet"}, 2021 + 5.5 / 12),
        ({"id": "mlperf-10"}, None),  # a tenth row, not round 1.0
        ({"source": "mlperf-storage-v0.5"}, 2023.5),  # another suite: dated by the catalogue's source
        ({"source": "gh-tfbm-283"}, 2019 + 0.5 / 12),  # its date in sources.toml
        ({"source": "tensorflow-releases"}, None),  # "2015 onward" dates nothing
    ],
)
def test_source_dates_software_without_release(cells, year):
    assert release_year(named("PyTorch", "pytorch", **cells)) == (None if year is None else pytest.approx(year))


@pytest.mark.parametrize(
    ("framework", "software", "name"),
    [
        ("PyTorch", "", "pytorch"),
        ("tf", "", "tensorflow"),
        ("TensorFlow 2", "", "tensorflow"),
        ("MXNet", "", "mxnet"),
        ("paddle", "", "paddlepaddle"),
        ("TensorRT", "", "tensorrt"),
        ("", "trtexec, TRT 7", "tensorrt"),
        ("n/a", "fastai", "pytorch"),
        ("", "tf_cnn_benchmarks", "tensorflow"),
        ("pytorch", "compared with TensorFlow 1.5.1", "pytorch"),
        ("My Engine", "fast", "my-engine"),
    ],
)
def test_framework_of_column_or_wording(framework, software, name):
    assert named(software, framework).framework == name


@pytest.mark.parametrize("software", ["", "CUDA 9", "cuDNN 7.0.5", "Horovod 0.19", "my scripts"])
def test_no_framework_no_stack(software):
    assert suggest_stack(CATALOG, row_of(software=software, framework="unknown")) is None


def test_spellings_of_other_software_have_one_description():
    texts = ("TensorFlow NGC 21.07 + XLA", "XLA, NGC tensorflow:21.07-py3")
    assert {named(text).id for text in texts} == {"tensorflow:ngc:2021-07:xla"}


def everything(text: str, other: str) -> list[str]:
    """What is assumed of two texts in every column."""
    row = row_of(software=text, framework=other, source=other, id=text, gpu=text, server=other, inter_link=text)
    swapped = row_of(software=other, framework="tf", source=text, gpu=f"v100 {text}", server=f"dgx-1 {text}")
    more = ((row, {"intra_link": text, "dnn": text}), (swapped, {"inter_link": f"edr {text}"}))
    rows = with_ids([dataclasses.replace(r, **cells) for r, cells in more], CATALOG)
    found = [stack_of(r, CATALOG) for r in rows]
    return [r.assumed for r in rows] + [stack.name for stack in found if stack]


VOCABULARY = """
TensorFlow PyTorch NGC 19.07 1.15.3 2018-06 Feb 2019 XLA DALI no + , ( ) -- v100 sxm2 32 gb dgx 1 2h edr 100 gbe ib
nvlink pcie resnet 50 mlperf v0.7 @ 8x tf1 . _ : /
"""
WORDS = st.sampled_from(VOCABULARY.split())


@settings(max_examples=300)
@given(
    text=st.text(max_size=80) | st.lists(WORDS, max_size=12).map(" ".join) | st.lists(WORDS, max_size=12).map("".join),
    other=st.text(max_size=40) | st.lists(WORDS, max_size=6).map("-".join),
)
def test_no_text_raises_and_notes_are_short_and_printable(text, other):
    for note in everything(text, other):
        assert note.isprintable()
        assert len(note) <= 4 * 320  # of four columns: two quotes of 60 characters and the sentence about them


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_takes_long(text):
    start = time.perf_counter()
    notes = everything(text[:5000], text[:5000])
    assert time.perf_counter() - start < 2.0  # 50,000 rows of one file share their wordings; a loaded machine is slow
    assert all(note.isprintable() for note in notes)


def test_files_get_their_ids_and_keep_their_other_cells(tmp_path):
    shipped = load_observations()[:5]
    (tmp_path / "in").mkdir()
    with (tmp_path / "in" / "mine.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for row in shipped:
            writer.writerow({**vars(row), "extra": "", **{k: "" for k, v in vars(row).items() if v is None}})
    ((name, content),) = files_with_ids([tmp_path / "in"], CATALOG).items()
    (tmp_path / name).write_bytes(content)
    assert [replaced(row) for row in load_observations(tmp_path / name)] == [replaced(row) for row in shipped]
    with pytest.raises(CalibrationError, match=r"mine\.csv: two files"):
        files_with_ids([tmp_path / "in", tmp_path / "mine.csv"], CATALOG)


def replaced(row: Observation) -> Observation:
    return dataclasses.replace(row, place="", extra={})
