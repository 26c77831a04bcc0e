"""The rate that a target in time takes, and what smaller sizes reach, agree with hand arithmetic."""

import pytest

from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.present.availability import checkpoint_sentence
from sizer.present.text.design_size import asked_target_text, binding_text, required_rate_text
from sizer.present.text.verdict import reason_texts, verdict_text
from sizer.questions.failures.tables import single_failures_table, tolerated_sentence
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from sizer.workload.target_text import target_text
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


def test_a_smaller_size_whose_memory_the_model_exceeds_has_no_time() -> None:
    """70.55 G parameters of 18 bytes are 1.27 TB: eight H200 NVL of 141 GB hold 1.13 TB, twelve 1.69 TB."""
    work = {"dnn": "llama-3-70b", "method": "fine-tuning", "tokens": 1e6, "target": {"time_to_train_s": "8 h"}}
    request = {"workload": [work], "platforms": {"servers": ["xe7745"], "gpus": ["h200-nvl-141gb"]}}
    design = size(SizingRequest.from_dict(request), examples.catalog()).design
    text = binding_text(design)
    fewer = {2: "One server is", 3: "Two servers are"}[design.n_servers]
    assert text.startswith(f"{fewer} not enough: the model does not fit the memory of")


def test_a_target_tells_its_epochs_where_they_are_not_one() -> None:
    """400 million tokens in 3 epochs are 1.2 billion: 41,700 tokens/s within 8 h."""
    catalog = examples.catalog()
    work = {"dnn": "llama-3-70b", "tokens": 4e8, "target": {"time_to_train_s": "8 h"}}
    once, thrice = (
        SizingRequest.from_dict({"workload": [{**work, **more}]}).workload[0] for more in ({}, {"epochs": 3})
    )
    dnn = catalog.dnns["llama-3-70b"]
    assert target_text(once, dnn).startswith("400 million tokens within")
    assert target_text(thrice, dnn).startswith("3 epochs of 400 million tokens within")


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


def test_a_checkpoint_time_of_an_assumed_write_rate_says_so() -> None:
    """No source gives the write rate of the PowerScale F210; that of the AI400X2 is published."""
    work = {"dnn": "llama-2-13b", "tokens": 3e11, "target": {"time_to_train_s": "30 d"}}
    for storage, is_assumed in (("powerscale-f210", True), ("ai400x2", False)):
        platforms = {"servers": ["dgx-h100"], "storage": [storage]}
        request = SizingRequest.from_dict({"workload": [work], "platforms": platforms})
        design = size(request, examples.catalog()).design
        assert ("write rate is assumed" in checkpoint_sentence(design, design.workloads[0])) == is_assumed
