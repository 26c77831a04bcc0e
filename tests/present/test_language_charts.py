"""Charts and tables of a language model's training: parts that follow each other, findings as titles, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate
from sizer.calibrate.language.basis import RunBasis
from sizer.perf.language.step import GIB
from sizer.present.language_charts import memory_chart, step_chart
from sizer.present.performance_tables import stacks_table
from sizer.present.text.layouts import stacks_sentence
from tests.present.chart_cases import plain, rows, title

SHARES = {"compute": 0.6, "attention": 0.2, "exposed traffic": 0.1, "pipeline bubble": 0.05, "fixed": 0.05}
PARTS = {"state": 30 * GIB, "activations": 20 * GIB, "logits": 6 * GIB, "runtime": 4 * GIB}


def answer(**more: Any) -> Any:
    layout = SimpleNamespace(
        step_s={"linear": 7.0, "rest": 3.0},
        step_shares=SHARES,
        memory_parts=PARTS,
        memory_bytes=Estimate(np.array(60 * GIB), np.array(50 * GIB), np.array(72 * GIB)),
    )
    language = SimpleNamespace(layout=layout, gpus_used=64, stacks=(), basis=RunBasis(9, 8, 7, 3, 128))
    for name, value in more.items():
        setattr(language, name, value)
    return SimpleNamespace(
        language=language, memory=SimpleNamespace(memory_bytes=80 * GIB), stack=SimpleNamespace(name="NeMo")
    )


def test_parts_of_a_step_follow_each_other():
    chart = step_chart(answer())
    assert plain(title(chart)) == ("80 % of a step is computing; the largest loss is exposed traffic, 10 %")
    starts = [round(float(bar["from"]), 9) for bar in rows(chart, "from")]
    assert starts == [0.0, 6.0, 8.0, 9.0, 9.5]  # of a step of 10 s


def test_memory_adds_up_to_what_the_gpu_holds():
    chart = memory_chart(answer())
    # 60 of 80 GiB
    assert plain(title(chart)).startswith("75 % of the 80.0 GiB of a GPU are filled")
    assert title(chart).endswith("largest part: model state")


def test_other_workloads_have_no_such_charts():
    none: Any = SimpleNamespace(language=None, memory=None)
    assert step_chart(none) is None
    assert memory_chart(none) is None
    assert stacks_table(none, 1) is None


def test_other_stacks_are_compared():
    other = SimpleNamespace(
        stack=SimpleNamespace(name="torchtitan"),
        rate_ratio=Estimate(np.array(0.7), np.array(0.6), np.array(0.8)),
        runs=21,
    )
    found = answer(stacks=(other,))
    text = plain(stacks_sentence(found.language))
    assert text == "torchtitan 30 % slower (60 % to 80 % of the rate)"
    assert stacks_table(found, 1).rows[0].cells[-1].text == "21"
