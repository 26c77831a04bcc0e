"""Spare servers of a large job: what repairs of a day call for, against what the design has."""

import math
from dataclasses import replace

import pytest

from sizer import SizingRequest, project
from sizer.catalog.loader import shipped_catalog
from sizer.present.availability import missing_spares_text
from sizer.sizing.design.spares import spare_servers, wait_for_repairs
from tests.factories import examples


def _answer(servers):
    work = {"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict({"workload": [work], "platforms": {"fabrics": ["ndr"]}})
    design = project(request, shipped_catalog(), server="dgx-h100", servers=servers, storage="ai400x2", storage_nodes=1)
    return design, design.workloads[0]


def test_needed_spares_follow_poisson_repairs_and_the_design_has_none():
    """64 servers at 4 interruptions for 1,000 server-days: 0.256 in repair on average if a repair takes a day.

    Poisson: P(0) = 0.774, P(at most 1) = 0.972, P(at most 2) = 0.998: with two spares the job has its 64 servers
    99 % of the time (with one 97 %).
    """
    design, answer = _answer(64)
    spares = spare_servers(design, answer)
    mean = 64 * 4 / 1000
    within = [sum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(most + 1)) for most in range(3)]
    assert within[1] < 0.99 < within[2]
    used = answer.language.gpus_used
    assert spares.available == 64 - used // 8
    assert spares.needed == 2


def test_a_run_without_spares_waits_a_day_for_each_failure():
    """4 interruptions for 1,000 server-days (Llama 3: 54 days, 2,000 servers, 419): 22.02 d x 105 servers: 9.25.

    Of a day each they make 22.0 d about 31.3 d. The 90 % interval of 14.8 to 32.9 d is ln(32.9 / 14.8) / 3.29 = 0.243
    wide (one sigma), so 30 d are met with the probability of ln(30 / 31.3) / 0.243 = -0.17 sigma: 43 %.
    """
    design = examples.sized("llama-70b-dgx-h100").design
    (whole,) = design.workloads
    answer = replace(whole, time=replace(whole.time, whole_run=None))
    waits = wait_for_repairs(answer)
    assert waits.failures == pytest.approx(9.25, abs=0.05)
    assert waits.total_s / 86_400 == pytest.approx(31.3, abs=0.2)
    assert waits.probability == pytest.approx(0.43, abs=0.05)
    text = missing_spares_text(design, answer)
    assert "two spare servers" in text  # 0.42 failures a day: two are enough with 99.1 %
    assert "not in the bill" in text


def test_what_a_whole_run_lasts_beyond_its_steps_holds_repairs():
    """22.0 d are 1.65 times steps of 13.3 d, in which 5.6 of the failures fall: 18.9 d with a day for each."""
    design = examples.sized("llama-70b-dgx-h100").design
    (answer,) = design.workloads
    waits = wait_for_repairs(answer)
    assert waits.failures == pytest.approx(5.59, abs=0.05)
    assert waits.total_s == answer.time.total_s.value
    assert missing_spares_text(design, answer) == ""
