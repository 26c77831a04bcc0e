"""Tables, sentences and the chart about the data: what they say where numbers are known, bounded or not known."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sizer import SizingRequest, size
from sizer.catalog.loader import shipped_catalog
from sizer.questions.data.analysis import Checkpoint, DataPlan, data_plan
from sizer.questions.data.charts import copy_chart, copy_finding
from sizer.questions.data.ingest import IngestEntry, IngestLink, IngestLinkRole, IngestPlan, IngestRoute
from sizer.questions.data.local_copy import LocalCopy
from sizer.questions.data.tables import checkpoints_table, copies_table, required_capacity_table, routes_table
from sizer.questions.data.text import data_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign

CATALOG = shipped_catalog()


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


def test_the_chart_marks_the_break_even_where_the_lines_cross():
    """25 epochs: 2 h + 25 x 15 min = 8.25 h against 25 x 20 min = 8.33 h."""
    spec = copy_chart(COPY).to_dict(validate=False)
    assert " ".join(spec["title"]["text"]) == "Copying to local drives first pays off after 25 epochs"
    marks = [row for values in spec["datasets"].values() for row in values if row.get("text")]
    assert marks[0]["epochs"] == 25
    assert marks[0]["time"] == pytest.approx(8.25)


def test_what_does_not_fit_or_makes_no_difference_is_not_drawn():
    assert copy_chart(replace(COPY, usable_bytes=1e12)) is None
    assert copy_chart(replace(NEVER, copy_s=1.0, first_local_s=1200.0, local_s=1200.0)) is None
    assert copies_table([replace(COPY, usable_bytes=1e12)]) is None
    assert copies_table([]) is None
    assert "never faster" in copy_finding(NEVER)


def ingest(*links: IngestLink, write: float | None = None, **facts: object) -> IngestPlan:
    writes = None if write is None else IngestLink(IngestLinkRole.PUBLISHED_WRITES, write)
    route = IngestRoute("front-end", IngestEntry.FRONT_END, links, 10e12, None, writes)
    return IngestPlan(**{"routes": (route,), "chosen": route, "missing": None, "n_files": 0.0, **facts})


LINK = IngestLink(IngestLinkRole.STORAGE_LINE, 5e9)


def test_an_unknown_write_rate_is_said_to_be_unknown():
    table = routes_table(ingest(LINK))
    assert table.rows[0].cells[3].is_unknown
    assert "No test of the write rate of this storage is published" in table.note
    unknown = Checkpoint("T", 1e9, True, 3600.0, 1, None, True, None, None, 27e6)
    cells = checkpoints_table([unknown]).rows[0].cells
    assert cells[3].is_unknown
    assert cells[4].is_unknown
    bound = checkpoints_table([replace(unknown, write_bytes_per_s=1e7, write_s=100.0, lost_fraction=100 / 3600)])
    assert plain(bound.rows[0].cells[3].text) == "at least 1.67 min"
    assert plain(bound.rows[0].cells[4].text) == "at least 2.8 %"


@pytest.fixture(scope="module")
def hostile() -> tuple[str, DataPlan]:
    name = "<b>Images</b>"
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


def test_a_hostile_name_stays_text(hostile):
    name, plan = hostile
    text = data_text(name, "design", plan)
    assert "<b>Images</b>" in text


def test_the_parts_of_the_capacity_add_up(hostile):
    _, plan = hostile
    need = plan.required
    parts = need.sets_bytes + need.raw_bytes + need.snapshots_bytes + need.reserve_bytes + need.checkpoints_bytes
    assert parts == pytest.approx(need.total_bytes)
    table = required_capacity_table(plan)
    assert [row.kind for row in table.rows].count("total") == 1
    assert plain(next(row for row in table.rows if row.kind == "total").cells[1].text) == "2.00 TB"
