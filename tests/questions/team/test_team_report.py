"""Tables and charts of the team: what they say of numbers made by hand, and of texts that users typed."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sizer import SizingResult, size
from sizer.guide.chapters.compliance import requirements
from sizer.guide.chapters.team import applies, content, fragmentation, read_load
from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.guide.engineer import team as engineer_team
from sizer.guide.pdf.render import guide_html
from sizer.guide.plain_text import answer_text
from sizer.present.tables import Table
from sizer.questions.team.analysis import TeamAnswer, team_answer
from sizer.questions.team.charts import reads_chart, reads_finding
from sizer.questions.team.result import JobKindRun
from sizer.questions.team.tables import demand_table, erlang_table, gpus_table, share_text, sizes_table, waits_table
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories.examples import catalog
from tests.questions.team.test_team import request

TRAINING = {"name": "Training", "gpus": 4, "jobs_a_day_each": 0.5, "workload": "ResNet-50"}
NOTEBOOK = {"name": "Notebook", "kind": "notebook", "gpus": 1, "jobs_a_day": 12, "duration_s": "3 h", "wait_s": "5 min"}
STANDING = {"name": "Nightly", "gpus": 4, "always_running": 2, "workload": "ResNet-50"}


@cache
def sized(kinds: str, **team: float) -> SizingResult:
    """A team on C4140 and F800; ``kinds`` names its jobs by their first letters."""
    jobs = [{"t": TRAINING, "n": NOTEBOOK, "s": STANDING}[letter] for letter in kinds]
    asked = request(*jobs, team={"data_scientists": 12, "wait_s": "30 min", **team})
    return size(asked.model_copy(update={"title": "A <b>team</b>"}), catalog())


@cache
def answered(kinds: str, **team: float) -> TeamAnswer:
    found = team_answer(EvaluatedDesign(sized(kinds, **team), catalog()))
    assert found is not None
    return found


def texts(table: Table | None) -> list[list[str]]:
    return [[cell.text.replace("\u202f", " ").replace("\xa0", " ") for cell in row.cells] for row in table.rows]


def column(table: Table | None, place: int) -> list[str]:
    return [row[place] for row in texts(table)]


def test_waits_stand_beside_what_is_asked():
    table = waits_table(answered("tn"))
    assert column(table, 1) == ["30.0 min", "5.00 min"]
    assert set(column(table, 6)) == {"met"}
    assert waits_table(answered("s")) is None
    assert sizes_table(answered("s")) is None


@pytest.mark.parametrize(
    ("share", "error", "said"),
    [(0.9599, 0.0059, "96.0 ± 0.6 %"), (1.0, 0.0, "100 %"), (0.5, 0.0001, "50 %"), (0.9, 0.012, "90.0 ± 1.2 %")],
)
def test_a_share_has_the_digits_that_its_error_supports(share, error, said):
    kind = JobKindRun("a", 100, share, error, 0.0, (0.0, 0.0, 0.0), True)
    assert share_text(kind).replace("\u202f", " ") == said


def test_demand_is_set_against_the_least_that_is_carried():
    answer = answered("tn")
    run = answer.run
    capacity = replace(
        answer.read_capacity,
        storage_bytes_per_s=4e9,
        mounts_bytes_per_s=np.inf,
        network_bytes_per_s=8e9,
        bottleneck="storage",
    )
    demand = replace(run.demand, worst_bytes_per_s=8e9, asked_bytes_per_s=3e9, average_bytes_per_s=1e9)
    made = replace(answer, run=replace(run, demand=demand), read_capacity=capacity)
    rows = texts(demand_table(made))
    assert [row[1:] for row in rows] == [
        ["8.00 GB/s", "200 %"],
        ["3.00 GB/s", "75 %"],
        ["1.00 GB/s", "25 %"],
        ["4.00 GB/s", "bottleneck"],
        ["not limited", "–"],
        ["8.00 GB/s", "–"],
    ]
    assert "8.00\u202fGB/s" in read_load(made)
    assert "3.00\u202fGB/s" in read_load(made)
    for figure in ("3.00 GB/s", "95 %"):
        assert figure in reads_finding(made).replace("\u202f", " ")
    nothing = replace(made, run=replace(run, demand=replace(demand, worst_bytes_per_s=0.0)))
    assert demand_table(nothing) is None
    assert reads_chart(nothing) is None
    assert not any(letter.isdigit() for letter in read_load(nothing))


def test_shares_of_the_gpus_add_up():
    run = replace(
        answered("tn").run,
        n_servers=10,
        n_gpus=40,
        gpus_busy_fraction=0.5,
        gpus_reserved_fraction=0.1,
        idle_fraction=0.15,
        fragmentation_fraction=0.05,
    )
    table = gpus_table(run)
    assert column(table, 1) == ["50 %", "10 %", "10 %", "5 %", "25 %"]
    assert column(table, 2) == ["20", "4", "4", "2", "10"]
    assert "15 %" in fragmentation(replace(answered("tn"), run=run)).replace("\u202f", " ")


def test_erlang_stands_beside_the_simulation_for_one_kind_only():
    assert erlang_table(answered("tn")) is None
    rows = texts(erlang_table(answered("n")))
    assert rows[-1][0] == "Servers for the wait target"
    assert int(rows[-1][1]) >= int(rows[-1][2])  # the formula is an upper reading


def test_the_chapter_stands_where_a_team_is_and_the_guide_has_one_chart():
    result = sized("tn")
    context = GuideContext(result, catalog(), Edition("guide"))
    assert applies(context)
    assert content(context)["waits_chart"] is not None
    assert content(context)["reads_chart"] is None
    assert engineer_team.content(context)["reads_chart"] is not None
    without = replace(result, request=result.request.model_copy(update={"team": None}))
    assert not applies(GuideContext(without, catalog(), Edition("guide")))
    assert {one.is_met for one in requirements(context) if one.chapter == "team"} == {True}
    assert "of the jobs of each kind start within" in answer_text(result)


@pytest.mark.guides
def test_names_of_jobs_are_text_in_the_guide():
    result = sized("tn")
    team = result.request.team
    bad = "<script>alert(1)</script>"
    jobs = (team.job[0].model_copy(update={"name": bad}), team.job[1])
    request = result.request.model_copy(update={"team": team.model_copy(update={"job": jobs})})
    page = guide_html(replace(result, request=request), catalog(), Edition("guide"))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
