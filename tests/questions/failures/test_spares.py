"""Spare servers of a large job: what repairs of a day call for, against what the design has."""

import math

from sizer import SizingRequest, load_catalog
from sizer.sizing.design.spares import spare_servers
from sizer.sizing.project import project


def _answer(servers):
    work = {"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict({"workload": [work], "platforms": {"fabrics": ["ndr"]}})
    design = project(request, load_catalog(), server="dgx-h100", servers=servers, storage="ai400x2", storage_nodes=1)
    return design, design.workloads[0]


def test_needed_spares_follow_poisson_repairs_and_the_design_has_none():
    """64 servers at 4 interruptions for 1,000 server-days: 0.256 in repair on average if a repair takes a day.

    Poisson: P(0) = 0.774, P(at most 1) = 0.972, P(at most 2) = 0.998: with two spares one is free at 99 % of failures
    (at most one other in repair is 97 %).
    """
    design, answer = _answer(64)
    spares = spare_servers(design, answer)
    mean = 64 * 4 / 1000
    within = [sum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(most + 1)) for most in range(3)]
    assert within[1] < 0.99 < within[2]
    used = answer.language.gpus_used
    assert spares.available == 64 - used // 8
    assert spares.needed == 2
