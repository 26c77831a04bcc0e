"""What pages say of failures: targets kept or missed, maintenance, and the losses that a design bears."""

from dataclasses import replace

import pytest

from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.tables import failures_table, kept_table, maintenance_table, targets_text

CASE = FailureCase(
    key="server",
    what="One GPU server fails",
    effect="Jobs restart.",
    remedy="Repair it.",
    throughput=(900.0,),
    share=(0.9,),
    loss="server",
    chance=(0.97,),
    meets=(True,),
    window_s=(float("inf"),),
    keeps_targets=True,
)
MISSED = replace(CASE, chance=(0.61,), meets=(False,), window_s=(4.9 * 3600,), keeps_targets=False)


def cells(table, column):
    return [row.cells[column].text.replace("\u202f", " ") for row in table.rows]


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (CASE, "kept, 97 %"),
        (replace(CASE, chance=(1.0,)), "kept, over 99 %"),  # no model makes an outcome certain
        (MISSED, "missed, 61 %"),
        (replace(MISSED, chance=(0.0,)), "missed"),
        (replace(CASE, keeps_targets=False, starts_in_time=0.4), "jobs start too late"),
        (replace(CASE, chance=(), meets=(), window_s=(), keeps_targets=None), "not known"),
        (replace(CASE, chance=(0.98, 0.97), meets=(True, True)), "kept, 95 %"),  # 0.98 x 0.97 = 0.9506
    ],
)
def test_targets_are_told_with_their_probability(case, text):
    assert targets_text(case).replace("\u202f", " ") == text


def test_maintenance_says_when():
    head = replace(CASE, key="head", loss=None)
    rate = replace(MISSED, key="leaf", window_s=(0.0,))
    found = cells(maintenance_table([CASE, MISSED, head, rate]), 2)
    assert found == [
        "any time, one after the other",
        "for at most 4.90 h of a run, or between two runs",
        "any time; no job starts meanwhile",
        "between two runs: the targets are missed as long as it is out",
    ]
    assert maintenance_table([replace(CASE, key="drive")]) is None  # a drive is changed while all goes on


def test_the_worst_case_of_a_kind_tells_what_is_left():
    other = replace(CASE, key="spine", effect="All goes on.", share=(1.0,), chance=(0.99,), loss="switch")
    leaf = replace(CASE, key="leaf", effect="Half is left.", share=(0.5,), loss="switch")
    table = kept_table(["switch", "gateway"], [other, leaf])
    assert cells(table, 0) == ["One switch", "One gateway"]
    assert cells(table, 1) == ["Half is left.", "The design has no such part."]
    assert cells(table, 3) == ["kept, 97 %", "kept"]


def test_a_team_has_a_column_and_a_note():
    without = failures_table([CASE], [None])
    team = failures_table([replace(CASE, starts_in_time=0.93)], [None])
    assert len(team.columns) == len(without.columns) + 1
    assert "93 %" in cells(team, 4)
    assert "within its wait" in team.note
    assert failures_table([], []) is None
