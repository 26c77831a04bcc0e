"""Tables of failures: targets met or missed, maintenance, and the losses that a design tolerates."""

from dataclasses import replace

import pytest

from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.charts import failure_chart
from sizer.questions.failures.scenarios import JobsContinue, JobsRestart
from sizer.questions.failures.tables import failures_table, single_failures_table, targets_text, tolerated_losses_table

CASE = FailureCase(
    key="server",
    effect=JobsRestart("servers", 8, has_training=False),
    throughput=(900.0,),
    share=(0.9,),
    loss="server",
    probability=(0.97,),
    meets_target=(True,),
    outage_s=(float("inf"),),
    keeps_targets=True,
)
MISSED = replace(CASE, probability=(0.61,), meets_target=(False,), outage_s=(4.9 * 3600,), keeps_targets=False)


def cells(table, column):
    return [row.cells[column].text.replace("\u202f", " ").replace("\xa0", " ") for row in table.rows]


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (CASE, "met, 97 %"),
        (replace(CASE, probability=(1.0,)), "met, over 99 %"),  # no model makes an outcome certain
        (MISSED, "missed, 61 %"),
        (replace(MISSED, probability=(0.0,)), "missed"),
        (replace(MISSED, probability=(0.0,), too_few_gpus=(240, 248)), "missed, 240 of 248\xa0GPUs"),
        (replace(CASE, keeps_targets=False, within_wait=0.4), "jobs start too late"),
        (replace(CASE, probability=(), meets_target=(), outage_s=(), keeps_targets=None), "not known"),
        (replace(CASE, probability=(0.98, 0.97), meets_target=(True, True)), "met, 95 %"),  # 0.98 x 0.97 = 0.9506
    ],
)
def test_targets_have_their_probability(case, text):
    assert targets_text(case).replace("\u202f", " ") == text


def test_the_worst_case_of_a_kind_counts():
    other = replace(CASE, key="head", effect=JobsContinue(9), share=(1.0,), probability=(0.99,), loss="switch")
    leaf = replace(CASE, key="leaf", effect=JobsRestart("servers", 4, has_training=False), share=(0.5,), loss="switch")
    table = tolerated_losses_table(["switch", "gateway"], [other, leaf])
    assert cells(table, 0) == ["One switch", "One gateway"]
    assert cells(table, 1) == ["Jobs restart on 4 servers.", "The design has no such part."]
    assert cells(table, 3) == ["met, 97 %", "met"]


def test_a_rate_that_is_not_known_is_no_number_in_any_table_or_chart():
    unknown = replace(CASE, key="power-feed", keeps_targets=None, rate_is_known=False)
    assert cells(failures_table([unknown], []), 2) == ["not known"]
    assert cells(single_failures_table([unknown], ()), 2) == ["not known"]
    chart = failure_chart([CASE, unknown], 0, "images/s")
    texts = [row["text"] for row in next(iter(chart.to_dict()["datasets"].values()))]
    assert texts == ["900\u202fimages/s · 90\u202f%", "not known"]
