"""The rate that a target in time takes, and what smaller sizes reach, agree with hand arithmetic."""

import pytest

from sizer import SizingRequest, size
from sizer.present.text.design_size import binding_limit_text, binding_text, required_rate_text
from sizer.present.text.verdict import reason_texts, verdict_text
from sizer.sizing.best_design import best_design
from sizer.sizing.reasons import Binding, BindingKind
from tests.factories import examples


def test_the_required_rate_is_samples_over_time() -> None:
    """10 epochs of 22.2 TB / 113 kB = 196.5 million images within 12 h: 1.9646e9 / 43 200 s = 45 480 images/s.

    All of it is read from storage: times 113 kB, 5.14 GB/s, less what the servers' memory holds.
    """
    (answer,) = examples.sized("questions/one-server-may-fail").design.workloads
    assert answer.required_samples_per_s == pytest.approx(22.2e12 / 113e3 * 10 / 43_200, rel=1e-3)
    assert answer.required_bytes_per_s == pytest.approx(5.14e9 * (1 - answer.cache_hit_fraction), rel=2e-3)
    assert required_rate_text(answer).startswith("45")


def test_a_smaller_size_that_is_enough_is_told() -> None:
    assert binding_limit_text(Binding(BindingKind.NONE, 3)).startswith("Three servers are enough")


def test_a_smaller_size_is_judged_by_its_rate_and_its_probability() -> None:
    """Rates of GPUs grow about as their number, and the text says 'but only' where the expected time is in time."""
    design = examples.sized("questions/one-server-may-fail").design
    (answer,) = design.workloads
    one_fewer, two_fewer = answer.smaller
    assert (one_fewer.n_servers, two_fewer.n_servers) == (design.n_servers - 1, design.n_servers - 2)
    each = float(answer.throughput.value) / design.n_servers
    assert one_fewer.samples_per_s == pytest.approx(each * one_fewer.n_servers, rel=0.02)
    assert one_fewer.probability is not None
    assert two_fewer.probability is not None
    assert two_fewer.probability < 0.9 <= one_fewer.probability
    text = binding_text(design)
    assert "would not tolerate the loss of one" in text
    assert "but meet the target with a probability of only" in text


def test_servers_at_the_expected_rate_are_those_of_a_sizing_at_even_odds() -> None:
    """The rate of a language model jumps with the layouts that a number of GPUs allows.

    A division by the rate of one server may miss it; a sizing at a confidence of 50 % is the count to print.
    """
    asked = examples.sized("llama-70b-dgx-h100")
    even = best_design(asked.request.model_copy(update={"confidence": 0.5}), examples.catalog()).design
    (answer,) = asked.design.workloads
    assert answer.servers_at_even_odds == even.n_servers
    assert f"At the expected rate {even.n_servers} servers" in " ".join(reason_texts(asked))


def test_one_server_needs_storage_for_what_the_target_reads() -> None:
    """4,630 images/s of 300 kB are 1.39 GB/s, whatever more its GPUs could read; memory holds little of a billion."""
    work = {
        "dnn": "resnet50",
        "task": "validation-inference",
        "dataset": {"name": "Own data", "n_samples": 1e9, "sample_bytes": "300 kB", "format": "raw files"},
        "target": {"samples_per_s": 4630},
    }
    request = {"workload": [work], "platforms": {"servers": ["lenovo-sr675v3"], "gpus": ["l40s-48gb"]}}
    text = verdict_text(size(SizingRequest.from_dict(request), examples.catalog()))
    assert "needs storage that sustains 1.39" in text
