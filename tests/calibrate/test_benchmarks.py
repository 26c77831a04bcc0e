"""The published observations and the data beside them: every row has a source, a DNN and one software stack."""

import csv
import json
import math
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from sizer.calibrate.observations import COLUMNS, ID_COLUMNS, LOADERS, QUANTITIES, TASKS
from sizer.catalog.items import Item
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.price_books import Price
from sizer.catalog.schema import Dnn, Recipe, Source, Stack
from tests.factories.rows import every

CATALOG = Path(__file__).resolve().parents[2] / "catalog"
FILES = ("training", "inference", "storage", "preprocess", "network", "accuracy")
NUMBERS = [
    "batch_per_gpu",
    "servers",
    "gpus",
    "nics_per_server",
    "storage_nodes",
    "sample_bytes",
    "dataset_bytes",
    "value",
]
BASES = {"table", "text", "log", "figure-label", "figure-read", "derived"}
# Software wording that stands for three frameworks at once: a range over all of them.
SEVERAL_FRAMEWORKS = "tensorflow/mxnet/caffe2"


def read_rows(file: str) -> list[dict[str, str]]:
    with (CATALOG / "benchmarks" / f"{file}.csv").open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream, strict=True)
        assert reader.fieldnames == [*COLUMNS, *ID_COLUMNS]
        return list(reader)


def read_items(folder: str) -> dict[str, Item]:
    return dict(shipped_catalog().folder(folder))


def read_sources() -> list[Source]:
    return [Source(**entry) for entry in tomllib.loads((CATALOG / "sources.toml").read_text("utf-8"))["source"]]


ROWS = {file: read_rows(file) for file in FILES}
ALL_ROWS = [row for rows in ROWS.values() for row in rows]
RUNS = [row for row in ROWS["training"] + ROWS["inference"] if row["gpu"].startswith(("v100", "p100"))]
STACKS: dict[str, Stack] = read_items("stacks")  # type: ignore[assignment]
DNNS: dict[str, Dnn] = read_items("dnns")  # type: ignore[assignment]


def test_every_row_names_a_listed_source():
    known = {source.id for source in read_sources()}
    assert {row["source"] for row in ALL_ROWS} <= known


def test_source_names_and_aliases_are_unique():
    names = Counter(name for source in read_sources() for name in (source.id, *source.aliases))
    assert [name for name, times in names.items() if times > 1] == []


def test_every_word_of_a_row_is_one_of_its_column():
    """Files of others may have further words, whose rows are not predicted; the rows of the fit have none."""
    known = {"quantity": QUANTITIES, "task": TASKS, "precision": ("", "mixed", "fp32", "int8"), "loader": LOADERS}
    for row in ALL_ROWS:
        assert [row[column] for column, words in known.items() if row[column] not in words] == [], row["id"]


def test_row_ids_are_unique():
    times = Counter(row["id"] for row in ALL_ROWS)
    assert [name for name, n in times.items() if n > 1] == []


def test_every_row_says_where_it_stands_and_how_it_was_read():
    assert [row["id"] for row in ALL_ROWS if not row["where"] or row["basis"] not in BASES] == []


@pytest.mark.parametrize("file", FILES)
def test_rows_stand_in_the_file_of_their_task(file):
    assert {row["task"] for row in ROWS[file]} == {file}


@pytest.mark.parametrize("file", FILES)
def test_numbers_are_finite_and_not_negative(file):
    for row in ROWS[file]:
        assert row["value"], row["id"]
        for column in NUMBERS:
            if row[column]:
                assert 0 <= float(row[column]) < math.inf, (row["id"], column)
        for name, value in json.loads(row["extra"] or "{}").items():
            assert isinstance(value, str) or math.isfinite(value), (row["id"], name)


def test_every_dnn_of_a_row_is_in_the_catalogue():
    assert {row["dnn"] for row in ALL_ROWS} - {""} <= set(DNNS)


@every([row for row in RUNS if row["quantity"] == "samples_per_s"], lambda row: row["id"])
def test_every_rate_belongs_to_a_stack(row):
    stack = STACKS[row["stack"]]
    assert row["framework"] in ("", stack.framework)
    assert stack.task in ("both", row["task"])
    assert row["loader"] in ("", "none", stack.loader)  # none: synthetic data bypass the loader
    if row["precision"] == "":
        assert len(stack.precisions) == 1, "precision is neither in the row nor implied by the stack"
    elif row["precision"] != "int8":
        assert row["precision"] in stack.precisions


def test_other_quantities_belong_to_a_stack_too():
    assert {row["software"] for row in RUNS if row["stack"] not in STACKS} == {SEVERAL_FRAMEWORKS}


def test_ids_stand_where_the_source_names_no_part_of_the_catalogue():
    for column, folder in (("gpu", "gpus"), ("server", "servers")):
        known = set(read_items(folder))
        for row in ALL_ROWS:
            assert row[f"{column}_id"] in known - {row[column]} | {""}, row["id"]
            assert not (row[f"{column}_id"] and row[column] in known), row["id"]


@pytest.mark.parametrize(
    ("file", "row_id", "printed"),
    [
        # Dell EMC and NVIDIA blog of 2018-11, results: 5907 MB/s, 19,895 MB/s, CPU 46 % and 84 %.
        ("storage", "dgx1-isilon-resnet50-72gpu/storage", 5.907e9),
        ("storage", "dgx1-isilon-inception4-large-72gpu/storage", 19.895e9),
        ("preprocess", "dgx1-isilon-resnet50-72gpu/cpu", 0.46),
        ("preprocess", "dgx1-isilon-inception4-large-72gpu/cpu", 0.84),
        # Dell guide of 2018-08, table 7: 2,940 images/s and 2,680 megabit/s.
        ("training", "rs-isilon-resnet50-1node", 2940),
        ("storage", "rs-isilon-resnet50-1node/storage", 2680e6 / 8),
        # WekaIO blog of 2018-07, figure 3: just under 42,000 and around 17,000 images/s.
        ("inference", "weka2018-googlenet-wekaio-8g", 42_000),
        ("inference", "weka2018-googlenet-nvme-8g", 17_000),
    ],
)
def test_printed_numbers_of_the_reference_architectures(file, row_id, printed):
    (row,) = (row for row in ROWS[file] if row["id"] == row_id)
    assert float(row["value"]) == pytest.approx(printed, rel=1e-12)  # copied, not computed


def layer(side: int, channels_in: int, channels_out: int, kernel: int = 3, dimensions: int = 2) -> int:
    """Multiply-adds of one convolution with outputs of ``side`` in each dimension."""
    return side**dimensions * channels_in * channels_out * kernel**dimensions


def alexnet_multiply_adds() -> int:
    """Krizhevsky, arXiv:1404.5997: one tower, 224 x 224."""
    convolutions = layer(55, 3, 64, 11) + layer(27, 64, 192, 5) + layer(13, 192, 384)
    convolutions += layer(13, 384, 256) + layer(13, 256, 256)
    return convolutions + 9216 * 4096 + 4096 * 4096 + 4096 * 1000


def resnet50_multiply_adds() -> int:
    """He et al., CVPR 2016, table 1, with the stride in the 3 x 3 layer (version 1.5)."""
    total, side, channels = layer(112, 3, 64, 7) + 2048 * 1000, 56, 64
    for stage, (blocks, middle, out) in enumerate([(3, 64, 256), (4, 128, 512), (6, 256, 1024), (3, 512, 2048)]):
        for block in range(blocks):
            before = side
            side = side // 2 if stage and not block else side
            total += layer(before, channels, middle, 1) + layer(side, middle, middle) + layer(side, middle, out, 1)
            total += 0 if block else layer(side, channels, out, 1)
            channels = out
    return total


def ssd_resnet34_multiply_adds() -> int:
    """MLPerf reference: ResNet-34 up to its third stage on a 38 x 38 grid, SSD layers, 81 classes."""
    backbone = layer(150, 3, 64, 7) + 6 * layer(75, 64, 64)
    backbone += layer(38, 64, 128) + 7 * layer(38, 128, 128) + layer(38, 64, 128, 1)
    backbone += layer(38, 128, 256) + 11 * layer(38, 256, 256) + layer(38, 128, 256, 1)
    extra = layer(38, 256, 256, 1) + layer(19, 256, 512) + layer(19, 512, 256, 1) + layer(10, 256, 512)
    extra += layer(10, 512, 128, 1) + layer(5, 128, 256) + layer(5, 256, 128, 1) + layer(3, 128, 256)
    extra += layer(3, 256, 128, 1) + layer(1, 128, 256)
    grids = [(38, 256, 4), (19, 512, 6), (10, 512, 6), (5, 256, 6), (3, 256, 4), (1, 256, 4)]
    return backbone + extra + sum(layer(side, channels, boxes * (81 + 4)) for side, channels, boxes in grids)


def unet3d_multiply_adds() -> int:
    """MLPerf reference: 128 voxels a side, channels 32 to 320, two 3 x 3 x 3 layers a level on the way down and up."""
    sides, channels = (128, 64, 32, 16, 8, 4), (32, 64, 128, 256, 320, 320)
    total = layer(128, 32, 3, 1, 3)
    for level, (side, out) in enumerate(zip(sides, channels, strict=True)):
        total += layer(side, channels[level - 1] if level else 1, out, 3, 3) + layer(side, out, out, 3, 3)
        if level < 5:  # up: transposed 2 x 2 x 2 layer, then two layers on the joined channels
            total += side**3 * channels[level + 1] * out + layer(side, 2 * out, out, 3, 3) + layer(side, out, out, 3, 3)
    return total


@pytest.mark.parametrize(
    ("dnn", "multiply_adds"),
    [
        ("alexnet", alexnet_multiply_adds()),
        ("resnet50", resnet50_multiply_adds()),
        ("ssd-resnet34", ssd_resnet34_multiply_adds()),
        ("unet3d", unet3d_multiply_adds()),
    ],
)
def test_forward_flop_is_twice_the_multiply_adds_of_the_layers(dnn, multiply_adds):
    assert DNNS[dnn].forward_flop.value == pytest.approx(2 * multiply_adds, rel=5e-3)  # printed with three digits


def test_epochs_observed_on_v100_stand_in_a_recipe():
    """Each MLPerf log of benchmarks/accuracy.csv gives a point of the recipe of its DNN and round.

    Networks that are planned on today's equipment alone take epochs and target from MLPerf v1.0 and later.
    """
    recipes: list[Recipe] = list(read_items("recipes").values())  # type: ignore[arg-type]
    points = {(r.dnn, p.source, p.epochs, p.global_batch) for r in recipes for p in r.points}
    for row in ROWS["accuracy"]:
        if row["quantity"] == "epochs_to_target" and row["dnn"] in DNNS and DNNS[row["dnn"]].era is None:
            batch = float(row["batch_per_gpu"]) * float(row["gpus"])
            wanted = (row["dnn"], row["source"], float(row["value"]), batch)
            assert wanted in points, row["id"]


def test_published_prices_are_dated_and_sourced():
    known = {source.id for source in read_sources()}
    with (CATALOG / "prices" / "published.csv").open(newline="", encoding="utf-8") as stream:
        prices = [Price(**row) for row in csv.DictReader(stream, strict=True)]
    assert {price.source for price in prices} <= known
