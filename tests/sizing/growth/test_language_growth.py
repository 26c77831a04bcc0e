"""Growth of language models: rates, days and tokens grow; the shape does not."""

import pytest

from sizer import SizingRequest, size
from sizer.base.errors import RequestError
from sizer.sizing.best_design import best_design
from sizer.sizing.growth.result import yearly_requests
from tests.factories.examples import catalog

CATALOG = catalog()


def asked(growth: dict, **work: object) -> SizingRequest:
    given = {"dnn": "llama-3-8b", "tokens": 1e12, "target": {"tokens_per_s": 400_000}, **work}
    stated = {key: value for key, value in given.items() if value is not None}
    platforms = {"servers": ["dgx-h200"]}
    return SizingRequest.from_dict({"workload": [stated], "growth": {"years": 3, **growth}, "platforms": platforms})


def test_data_grow_by_tokens():
    third = yearly_requests(asked({"data": 2}), CATALOG)[2].workload[0]
    assert third.tokens == pytest.approx(4e12)
    assert third.dataset_bytes is None


@pytest.mark.laws
def test_the_first_purchase_is_enough_for_the_first_year():
    grown = size(asked({"target": 1.4}), CATALOG)
    (alone,) = best_design(asked({"target": 1.4}).model_copy(update={"growth": None}), CATALOG).design.workloads
    (answer,) = grown.design.workloads
    assert float(answer.throughput.value) >= float(alone.throughput.value) >= 400_000


@pytest.mark.parametrize(
    ("growth", "work", "says"),
    [
        ({"dnn_size": 2}, {}, r"growth\.dnn_size = 2: 'workload' trains a language model"),
        ({"sample_size": 1.5}, {}, r"growth\.sample_size = 1\.5: 'workload' trains a language model"),
        ({"data": 2}, {"tokens": None}, r"growth\.data = 2: 'workload' does not state its tokens; add tokens"),
    ],
)
def test_what_cannot_grow_is_refused(growth, work, says):
    with pytest.raises(RequestError, match=says):
        yearly_requests(asked(growth, **work), CATALOG)
