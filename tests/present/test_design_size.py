"""The rate that a target in time takes, and what smaller sizes reach, agree with hand arithmetic."""

import pytest

from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.present.text.design_size import asked_target_text, binding_text, required_rate_text
from sizer.present.text.verdict import reason_texts
from sizer.questions.failures.tables import single_failures_table, tolerated_sentence
from sizer.sizing.size import size
from tests.factories import examples


def test_the_required_rate_is_samples_over_time() -> None:
    """10 epochs of 22.2 TB / 113 kB = 196.5 million images within 12 h: 1.9646e9 / 43 200 s = 45 480 images/s.

    All of it is read from storage: times 113 kB, 5.14 GB/s, less what the servers' memory holds.
    """
    (answer,) = examples.sized("questions/one-server-may-fail").design.workloads
    assert answer.required_samples_per_s == pytest.approx(22.2e12 / 113e3 * 10 / 43_200, rel=1e-3)
    assert answer.required_bytes_per_s == pytest.approx(5.14e9 * (1 - answer.cache_hit_fraction), rel=2e-3)
    assert required_rate_text(answer).startswith("45")


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
    even = size(asked.request.model_copy(update={"confidence": 0.5}), examples.catalog()).design
    (answer,) = asked.design.workloads
    assert answer.servers_at_even_odds == even.n_servers
    assert f"At the expected rate {even.n_servers} servers" in " ".join(reason_texts(asked))


def test_a_highest_rate_is_no_target_of_its_own() -> None:
    result = examples.sized("questions/most-within-budget")
    (answer,) = result.design.workloads
    assert asked_target_text(result, answer).startswith("the highest rate within USD")
    assert "highest rate" in binding_text(result.design, result.maximum)


def test_losses_that_are_not_tolerated_are_shown_too() -> None:
    context = GuideContext(examples.sized("questions/one-server-may-fail"), examples.catalog(), Edition("guide"))
    table = single_failures_table(context.failures, context.tolerated_losses)
    assert table is not None
    targets = {row.cells[0].text: row.cells[-1].text for row in table.rows}
    assert targets["One GPU server fails"].startswith("met")
    # Each server has one of its four ports on each of four leaves: three quarters of a network used to 16 % are left.
    assert targets["One leaf switch fails"].startswith("met")
    # A DGX-1 keeps two of four supplies and needs three ("DGX-1 System User Guide": 3 + 1).
    assert targets["One PDU or one power feed fails"].startswith("not known")
    sentence = tolerated_sentence(context.tolerated_losses, context.failures, context.answers)
    assert "after the loss of one power feed it is not known" in sentence
