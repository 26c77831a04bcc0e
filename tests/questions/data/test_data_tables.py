"""Tables, sentences and the chart about the data: what they say where numbers are known, bounded or not known."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sizer import SizingRequest, load_catalog, size
from sizer.questions.data.analysis import Checkpoint, DataPlan, data_plan
from sizer.questions.data.charts import copy_chart, copy_finding
from sizer.questions.data.ingest import Fill, Ingest, PathLink, Way
from sizer.questions.data.local_copy import LocalCopy
from sizer.questions.data.tables import (
    account_table,
    break_even_text,
    checkpoints_table,
    copies_table,
    copy_text,
    fill_text,
    ways_table,
)
from sizer.questions.data.text import data_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign

CATALOG = load_catalog()


def plain(text: str) -> str:
    return re.sub(r"[\u202f\u00a0]", " ", text)


# 6 TB to each server in 2 h; 20 min an epoch from the storage, 15 from the drives.
COPY = LocalCopy(
    workload="Images",
    drives=CATALOG.storage["dgx1-ssd"],
    usable_bytes=7.68e12,
    copy_bytes=6e12,
    copy_s=7200.0,
    first_shared_s=1200.0,
    shared_s=1200.0,
    first_local_s=900.0,
    local_s=900.0,
    break_even_epoch=25.0,
    epochs=90.0,
    drives_are_bound=False,
    storage_is_bound=False,
    storage_nodes=8,
    nodes_for_data=4,
    copy_with_fewer_s=14_400.0,
)
NEVER = replace(COPY, break_even_epoch=np.inf, local_s=1500.0, first_local_s=1500.0)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (COPY, "the copy takes 2.00 h and is regained after 25 epochs: 15.0 min instead of 20.0 min each. "
               "The training has 90 epochs, so it pays."),
        (replace(COPY, epochs=10.0), "so it does not pay"),
        (COPY, "4 storage nodes would hold the data, and the copy would take 4.00 h"),
        (replace(COPY, usable_bytes=1.6e12), "each server would need a copy of 6.00 TB; its drives hold 1.60 TB"),
        (replace(COPY, usable_bytes=np.nan), "Whether 6.00 TB fit the drives of a server is not published"),
        (replace(COPY, drives_are_bound=True), "slower ones bring the break-even later, or never"),
        (replace(COPY, storage_is_bound=True), "the line rate of its ports stands in for it"),
        (NEVER, "never pays: an epoch takes 25.0 min from local drives and 20.0 min from the storage"),
        (replace(NEVER, local_s=1200.0), "never pays: later epochs from the storage are as fast as from the drives"),
    ],
)  # fmt: skip
def test_whether_a_copy_pays_is_said_with_its_reason(one, said):
    assert said in plain(copy_text(one))


def test_a_bound_break_even_says_so():
    assert plain(break_even_text(COPY)) == "25 epochs"
    assert plain(break_even_text(replace(COPY, drives_are_bound=True))) == "25 epochs at the earliest"
    assert break_even_text(NEVER) == "no number of epochs"


def test_the_chart_marks_the_break_even_where_the_lines_cross():
    """25 epochs: 2 h + 25 x 15 min = 8.25 h against 25 x 20 min = 8.33 h."""
    spec = copy_chart(COPY).to_dict(validate=False)
    assert " ".join(spec["title"]["text"]) == "Copying to local drives first is ahead after 25 epochs"
    marks = [row for values in spec["datasets"].values() for row in values if row.get("text")]
    assert marks[0]["epochs"] == 25
    assert marks[0]["time"] == pytest.approx(8.25)


def test_what_does_not_fit_or_makes_no_difference_is_not_drawn():
    assert copy_chart(replace(COPY, usable_bytes=1e12)) is None
    assert copy_chart(replace(NEVER, copy_s=1.0, first_local_s=1200.0, local_s=1200.0)) is None
    assert copies_table([replace(COPY, usable_bytes=1e12)]) is None
    assert copies_table([]) is None
    assert "never pays" in copy_finding(NEVER)


def ingest(*links: PathLink, write: float | None = None, **facts: object) -> Ingest:
    way = Way("front-end", "Through the front end of the storage", links)
    fill = Fill(way, 10e12, None, None if write is None else PathLink("writes", write))
    return Ingest(**{"fills": (fill,), "chosen": fill, "missing": None, "n_files": 0.0, **facts})


LINK = PathLink("ports", 5e9)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (ingest(LINK), "take at least 33.3 min; the slowest link is ports, 5.00 GB/s."),
        (
            ingest(LINK, write=1e9),
            "take 2.78 h at the only published write rate; the links alone would allow 33.3 min.",
        ),
        (ingest(LINK, write=8e9), "take at least 33.3 min"),
        (ingest(write=1e9), "take 2.78 h at the only published write rate."),
        (ingest(), "is not known: neither link nor write rate is published"),
        (ingest(LINK, missing="gateway"), "The way asked for, gateway, is not part of this design."),
        (ingest(LINK, n_files=1_281_167.0), "They are 1 280 000 single files, and no source gives a rate in files"),
        (Ingest((), None, None, 0.0), "No way into the storage is part of this plan"),
    ],
)
def test_how_long_it_takes_is_said_with_what_bounds_it(found, said):
    assert said in plain(fill_text(found))


def test_an_unknown_write_rate_is_said_to_be_unknown():
    table = ways_table(ingest(LINK))
    assert table.rows[0].cells[3].is_unknown
    assert "No source gives a write rate" in table.note
    unknown = Checkpoint("T", 1e9, 3600.0, 1, None, True, None, None, 27e6)
    cells = checkpoints_table([unknown]).rows[0].cells
    assert cells[3].is_unknown
    assert cells[4].is_unknown
    bound = checkpoints_table([replace(unknown, write_bytes_per_s=1e7, write_s=100.0, lost_fraction=100 / 3600)])
    assert plain(bound.rows[0].cells[3].text) == "at least 1.67 min"
    assert plain(bound.rows[0].cells[4].text) == "at least 2.8 %"


@pytest.fixture(scope="module")
def hostile() -> tuple[str, DataPlan]:
    name = "\x1b[31m<b>Images</b>"
    work = {"name": name, "dnn": "resnet50", "dataset": {"name": name, "n_samples": 1e7, "sample_bytes": "100 kB"}}
    request = {
        "workload": [{**work, "target": {"gpus_busy": 8}}],
        "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]},
        "data": {"checkpoint_every_s": "1 h", "transform_core_s": 0.01, "copy_to_local": True},
        "confidence": 0.5,
        "title": name,
    }
    result = size(SizingRequest.from_dict(request), CATALOG)
    return name, data_plan(EvaluatedDesign(result, CATALOG))


def test_a_hostile_name_leaves_nothing_for_the_terminal(hostile):
    name, plan = hostile
    text = data_text(name, "design", plan)
    assert "\x1b" not in text
    assert "<b>Images</b>" in text


def test_the_parts_of_the_account_add_up(hostile):
    _, plan = hostile
    held = plan.held
    parts = held.sets_bytes + held.raw_bytes + held.snapshots_bytes + held.reserve_bytes + held.checkpoints_bytes
    assert parts == pytest.approx(held.total_bytes)
    table = account_table(plan)
    assert [row.kind for row in table.rows].count("total") == 1
    assert plain(next(row for row in table.rows if row.kind == "total").cells[1].text) == "2.00 TB"
