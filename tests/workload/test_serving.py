"""Language models in use in requests: what is asked by hand arithmetic, defaults of a use, and what is refused."""

import math
from typing import Any

import pytest

from sizer.base.errors import RequestError
from sizer.workload.language import DefaultKind
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload, resolve
from sizer.workload.serving import USES, LoadKind
from tests.factories.examples import catalog

LENGTHS: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 500}


def served(target: dict[str, Any], task: str = "serving", dnn: Any = "llama-3-70b", **work: Any) -> ResolvedWorkload:
    asked = {"name": "work", "task": task, "dnn": dnn, "target": target, **work}
    return resolve(SizingRequest.from_dict({"workload": [asked]}), catalog(), {})[0]


def refusal(target: dict[str, Any], **work: Any) -> str:
    with pytest.raises(RequestError) as caught:
        served(target, **work)
    return str(caught.value)


@pytest.mark.parametrize(
    ("target", "counted", "rate"),
    [
        ({"requests_per_s": "600 requests/min"}, LoadKind.REQUESTS, 10.0),
        ({"concurrent_requests": 270}, LoadKind.IN_FLIGHT, 270.0),
        ({"active_users": 3000}, LoadKind.ACTIVE_USERS, 3000 * 12 / 3600),
        ({"users": 3000}, LoadKind.USERS, 3000 * 0.1 * 12 / 3600),
        ({"tokens_per_s": "432M tokens/day"}, LoadKind.TOKENS, 432e6 / 86_400 / 500),
        # One hour of three has all of it: three times the mean.
        ({"requests_per_day": 86_400}, LoadKind.REQUESTS_A_DAY, 3.0),
    ],
)
def test_every_target_comes_to_a_rate_of_requests_or_their_number(target, counted, rate):
    found = served(target, use="chat", load_by_hour=[7, 0, 0] * 8, **LENGTHS)
    assert found.serving is not None
    assert found.serving.load_kind is counted
    assert math.isclose(found.serving.asked_rate, rate, rel_tol=1e-9)
    assert math.isclose(found.request.target.samples_per_s, rate, rel_tol=1e-9)
    sample = "request in flight" if counted is LoadKind.IN_FLIGHT else "request"
    assert (found.dnn.sample, found.dnn.transformer, found.is_inference) == (sample, None, True)


def test_what_is_left_open_is_that_of_the_use_and_listed():
    found = served({"users": 100}, use="rag").serving
    use = USES["rag"]
    assert (found.input_tokens, found.output_tokens, found.prefix_cached) == (
        *(use.input_tokens, use.output_tokens, use.prefix_cached),
    )
    assert (found.first_token_s, found.token_s, found.percentile) == (2.0, 0.05, 95)
    assert {kind for kind, _ in found.defaults} >= {
        *(DefaultKind.INPUT_TOKENS, DefaultKind.OUTPUT_TOKENS, DefaultKind.FIRST_TOKEN, DefaultKind.TOKEN_TIME),
        *(DefaultKind.PERCENTILE, DefaultKind.REQUESTS_PER_USER, DefaultKind.ACTIVE_SHARE, DefaultKind.PREFIX_CACHED),
    }
    stated = served({"requests_per_s": 5}, first_token_s="400 ms", token_s="30 ms", latency_percentile=99, **LENGTHS)
    assert stated.serving.defaults == ()


def test_carbon_is_of_models_in_use():
    training = {"name": "work", "dnn": "resnet50", "target": {"gpus_busy": 8}}
    with pytest.raises(RequestError, match="carbon_g_per_kwh"):
        resolve(SizingRequest.from_dict({"workload": [training], "site": {"carbon_g_per_kwh": 380}}), catalog(), {})


def test_a_generation_has_no_limits():
    found = served({"requests_per_s": 5}, task="generation", **LENGTHS).serving
    assert (found.first_token_s, found.token_s) == (None, None)


@pytest.mark.parametrize(
    ("target", "work", "words"),
    [
        ({"users": 100}, {}, ["input_tokens", "output_tokens", "use"]),
        ({"requests_per_s": 1}, {"input_tokens": 200_000, "output_tokens": 500}, ["131 072", "context"]),
        ({"concurrent_requests": 5}, {"task": "generation", **LENGTHS}, ["nobody waits"]),
        ({"requests_per_s": 1}, {"task": "generation", "token_s": "50 ms", **LENGTHS}, ["latency limits"]),
        ({"requests_per_s": 1}, {"dnn": "resnet50", **LENGTHS}, ["no language model"]),
        ({"requests_per_s": 1}, {"adapters": 1000, "adapter_rank": 512, **LENGTHS}, ["adapters", "GPU memory"]),
        ({"requests_per_s": 1}, {"stack": "nemo", **LENGTHS}, ["stack", "engine"]),
        ({"requests_per_s": 1}, {"engine": "nemo", **LENGTHS}, ["engine", "vllm"]),
        ({"requests_per_s": 1}, {"tokens": 1e9, **LENGTHS}, ["tokens", "training"]),
        (
            {"requests_per_s": 1},
            {"measured": [{"samples_per_s": 2, "gpu": "h200-sxm-141gb"}], **LENGTHS},
            ["measured.0.concurrent_requests", "in flight", "add"],
        ),
        ({"gpus_busy": 8}, {"task": "training", **LENGTHS}, ["input_tokens", "serving"]),
        ({"users": 8}, {"task": "training"}, ["target.users", "serving"]),
        ({"requests_per_s": 1}, {"token_s": "5 h", **LENGTHS}, ["token_s", "ms"]),
        ({"requests_per_s": 1, "users": 3}, LENGTHS, ["exactly one", "requests_per_s and users"]),
        ({"requests_per_day": 1}, LENGTHS, ["requests_per_day", "daily_profile"]),
        ({"requests_per_s": 1}, {"load_by_hour": [0] * 24, **LENGTHS}, ["load_by_hour", "above 0"]),
        ({"requests_per_s": 1}, {"load_by_hour": [1] * 23, **LENGTHS}, ["load_by_hour", "24"]),
        ({"requests_per_s": 1}, {"daily_profile": "flat", "load_by_hour": [1] * 24, **LENGTHS}, ["not both"]),
        ({"requests_per_day": 1}, {"task": "generation", "daily_profile": "office", **LENGTHS}, ["nobody waits"]),
        ({"requests_per_s": 1}, {"night_hours": 8, **LENGTHS}, ["night_hours", "every hour"]),
        ({"requests_per_s": 1}, {"task": "generation", "night_hours": 8, **LENGTHS}, ["night_hours", "serves people"]),
        ({"requests_per_s": 1}, {"input_tokens_p95": 900, **LENGTHS}, ["input_tokens_p95", "the mean"]),
        ({"requests_per_s": 1}, {"output_tokens_p95": 2_100, **LENGTHS}, ["output_tokens_p95", "each kind"]),
        ({"requests_per_s": 1}, {"input_tokens_p50": 900, **LENGTHS}, ["input_tokens_p50", "input_tokens_p95"]),
        ({"requests_per_s": 1}, {"input_tokens_p95": 200_000, "input_tokens": 60_000}, ["131 072", "context"]),
    ],
)
def test_bad_input_is_one_sentence(target, work, words):
    text = refusal(target, **work)
    assert len(text.splitlines()) == 1
    plain = text.replace("\u202f", " ")
    assert [word for word in words if word not in plain] == []


def test_a_median_and_a_tail_tell_the_mean():
    """Exponential lengths: the median is 0.69 of the mean, the 95th percentile 3.00 (the approximation is 1 % off)."""
    found = served({"requests_per_s": 1}, input_tokens=1000, output_tokens_p50=69, output_tokens_p95=300).serving
    assert found.output_tokens == pytest.approx(100, rel=0.02)
    assert found.output_variation == pytest.approx(1.0, rel=0.05)
    assert found.input_variation is None


@pytest.mark.parametrize(("name", "over_mean", "over_valley"), [("office", 2.8, 34.6), ("consumer", 1.7, 3.3)])
def test_a_named_day_has_the_published_peak(name, over_mean, over_valley):
    """DynamoLLM, arXiv:2408.00741: a week of coding and of conversations at Azure."""
    loads = served({"requests_per_s": 1}, daily_profile=name, **LENGTHS).serving.load_by_hour
    assert max(loads) == 1
    assert len(loads) == 24
    assert 24 / sum(loads) == pytest.approx(over_mean, rel=2e-3)
    assert 1 / min(loads) == pytest.approx(over_valley, rel=1e-6)


@pytest.mark.parametrize(("engine", "stack"), [("NIM", "tensorrt-llm"), ("vLLM", "vllm"), (None, "vllm")])
def test_engines_go_by_their_names(engine, stack):
    work = {} if engine is None else {"engine": engine}
    assert served({"requests_per_s": 1}, **LENGTHS, **work).stack.id == stack
