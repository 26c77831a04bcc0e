"""Cost per million tokens of a language model, by hand."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sizer import Estimate, SizingRequest, ownership, size
from sizer.base.errors import RequestError
from sizer.bom.ownership import Footprint
from sizer.questions.ownership.analysis import OwnershipAnswer, _runs
from sizer.questions.ownership.text import finding, ownership_content, runs_table
from sizer.sizing.best_design import best_design
from sizer.workload.sentence.reader import read_sentence
from tests.bom.test_ownership import owned
from tests.bom.test_rental import line
from tests.factories.examples import catalog

RATE = Estimate(np.array(2e5), np.array(1.6e5), np.array(2.5e5))  # tokens/s of the steps alone
TRAINING = SimpleNamespace(total_s=Estimate(np.array(1e6), np.array(8e5), np.array(1.25e6)))  # 100 billion tokens


def answered(*lines: Any, asked: str | None = None, use: float | None = None) -> OwnershipAnswer:
    # Rates that add nothing, so that nothing but prices is missing.
    cost = owned(*(lines or (line("298000"),)), electricity_per_kwh="0.20", pue_ratio=1.5)
    work: Any = SimpleNamespace(
        workload=SimpleNamespace(name="8B"),
        serving=None,
        time=TRAINING,
        samples_trained=1e11,
        throughput=RATE,
        dnn=SimpleNamespace(sample="token"),
    )
    runs = tuple(_runs(work, cost, use, Footprint(0.0, False, 0.0, 0)))
    return OwnershipAnswer(cost, cost, use, runs, asked_per_million_tokens=None if asked is None else Decimal(asked))


def test_a_million_tokens_cost_their_share_of_the_years():
    """298,000 USD over three years of 8,760 h are 11.34 USD/h; a run of 1e11 tokens in 1e6 s takes 10 s a million."""
    training, tokens = answered().runs
    by_hand = 298_000 / (3 * 8760 * 3600) * 10
    assert float(tokens.cost) == pytest.approx(by_hand, abs=1e-6)
    assert [float(tokens.low), float(tokens.high)] == pytest.approx([0.8 * by_hand, 1.25 * by_hand], abs=1e-6)
    assert float(training.cost) == pytest.approx(100_000 * by_hand, abs=0.01)
    assert "0.0315 (0.0252 to 0.0394)" in runs_table(answered()).rows[1].cells[-1].text
    # Used in half of all hours, each costs twice as much.
    assert float(answered(use=0.5).runs[1].cost) == pytest.approx(2 * by_hand, abs=1e-6)


@pytest.mark.parametrize(
    ("lines", "asked", "meets", "says"),
    [
        ((), "0.05", True, "USD 0.0500 asked, which is met"),
        ((), "0.02", False, "which is not met"),
        # A missing price can only add to the cost.
        ((line("298000"), line(None)), "0.05", None, "which is open"),
        ((line("298000"), line(None)), "0.02", False, "which is not met"),
        ((line(None),), "0.02", None, "which is open"),
    ],
)
def test_the_cost_asked_is_met_missed_or_open(lines, asked, meets, says):
    answer = answered(*lines, asked=asked)
    assert answer.meets_cost_per_token(answer.runs[1]) is meets
    assert answer.meets_cost_per_token(answer.runs[0]) is None
    assert says in finding(answer)
    content = ownership_content(answer)
    assert content["cost_per_million_tokens_asked"] == asked
    assert content["runs"][1]["meets_cost_per_million_tokens"] is meets


def test_a_sentence_and_a_request_ask_for_it():
    reading = read_sentence("train Llama 3 8B on 16 H100, at most $0.40 per million tokens over four years", catalog())
    assert (reading.question, reading.unread) == (None, ())
    assert reading.request["ownership"] == {"cost_per_million_tokens": 0.4, "years": 4}
    answer = ownership(size(SizingRequest.from_dict(reading.request), catalog()))
    assert [run.is_million_tokens for run in answer.runs] == [True]


def test_other_networks_have_no_tokens():
    request = {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}]}
    asked = SizingRequest.from_dict(request | {"ownership": {"cost_per_million_tokens": 1}})
    with pytest.raises(
        RequestError, match=r"ownership\.cost_per_million_tokens = 1: no workload trains a language model"
    ):
        best_design(asked, catalog())
