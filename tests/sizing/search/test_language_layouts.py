"""The search of layouts for a language model: what divides, what fits, and that the fastest comes first."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.base.estimate import normal_cdf
from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.language.cases import arrays, gpu_of_case
from sizer.perf.gpu_memory import FITS_PROBABILITY, REFUSED
from sizer.perf.language.step import FILLED
from sizer.present.text.layouts import layouts_text, sharding_text
from sizer.sizing.stages.language_rates import LayoutQuestion, published_layouts, search_layouts
from sizer.workload.transformer.layout_pins import LayoutPins
from tests.factories import examples

GIB = 2**30
LLAMA_70B = LayoutQuestion("Llama3-70B", "H100", gpus=64, sequence=8192, batch=128)


def pinned(**pins):
    return dataclasses.replace(LLAMA_70B, pins=LayoutPins(**pins))


def search(question, count=5):
    return search_layouts(question, examples.catalog(), language_calibration(), count)


def test_llama_70b_on_64_h100_comes_near_the_published_run():
    # NVIDIA's recipes of three releases print 1,113 to 1,121 tokens/s a GPU with TP 4, PP 4, CP 2 and VP 5.
    published = search(pinned(tensor=4, pipeline=4, context=2, micro_batch=1), 20)
    with_five_chunks = [one for one in published.answers if one.virtual == 5]
    assert float(with_five_chunks[0].tokens_per_s.value) / 64 == pytest.approx(1117, rel=0.05)
    # The published layout has run, so the fastest that fits is at most the correction for choosing slower.
    best = search(LLAMA_70B).answers[0]
    assert 0.97 * with_five_chunks[0].tokens_per_s.value <= best.tokens_per_s.value <= 1.25 * 64 * 1117


def test_experts_are_divided_over_servers_and_61_layers_over_stages_as_in_published_runs():
    # Megatron-Bridge 25.09: TP 2, PP 8 in 4 chunks, EP 64, optimizer divided, 1,297 tokens/s a GPU.
    asked = LayoutQuestion("DeepSeek-V3", "H100", gpus=1024, sequence=4096, batch=8192, precision="fp8")
    published = LayoutPins(tensor=2, pipeline=8, chunks=4, expert=64, sharding="optimizer")
    ran = search(dataclasses.replace(asked, pins=published), 1).answers[0]
    best = search(asked, 1).answers[0]
    assert float(ran.tokens_per_s.low) < 1297 * 1024 < float(ran.tokens_per_s.high)
    assert not best.is_fully_sharded
    assert best.expert > 8
    assert best.tokens_per_s.value <= 1.15 * ran.tokens_per_s.value


def test_answers_divide_fit_and_come_fastest_first():
    found = search(LLAMA_70B, 30)
    rates = [float(one.tokens_per_s.value) for one in found.answers]
    assert rates == pytest.approx(sorted(rates, reverse=True), rel=1e-9)
    for one in found.answers:
        assert one.tensor * one.pipeline * one.context * one.data == 64
        assert 128 % (one.data * one.micro_batch) == 0
        # Embedding and output may count as a layer each.
        assert 80 % (one.pipeline * one.virtual) == 0 or 82 % (one.pipeline * one.virtual) == 0
        assert one.probability_fits >= FITS_PROBABILITY
        assert float(one.memory_bytes.value) < 80 * GIB
        # The terms of the step are those of the rate.
        assert 128 * 8192 / sum(one.step_s.values()) == pytest.approx(float(one.tokens_per_s.value), rel=1e-6)


def test_no_micro_batch_fits_that_the_search_over_all_leaves_out():
    # What the smallest micro batch takes bounds all others; of one micro batch alone it is the memory itself.
    def ways(micro):
        found = search(pinned(micro_batch=micro, sharding="optimizer"), 10**6)
        assert found.n_fitting == len(found.answers) < found.n_judged
        names = ("tensor", "pipeline", "virtual", "context", "micro_batch", "recompute")
        return [tuple(getattr(one, name) for name in names) for one in found.answers]

    each = [one for micro in (1, 2, 4, 8, 16) for one in ways(micro)]
    assert {one[4] for one in each} == {1, 2, 4, 8, 16}
    assert sorted(ways(None)) == sorted(each)


def test_each_context_parallel_gpu_has_as_many_tokens():
    # 12,290 = 2 x 5 x 1,229 tokens divide over two GPUs, not over four.
    for one in search(dataclasses.replace(LLAMA_70B, sequence=12_290), 50).answers:
        assert one.context in (1, 2)


def test_a_few_layers_of_a_model_that_ran_make_no_room_for_all_of_them():
    # NVIDIA ran 7 of the 126 layers of Llama 3.1 405B on 32 H100 with TP 8 and CP 2. All of them take 16 bytes a
    # parameter of weights, gradients and optimizer, 405e9 x 16 / 32 = 203 GB a GPU however they are divided.
    question = LayoutQuestion("Llama3.1-405B", "H100", gpus=32, sequence=8192, batch=512)
    for pins in (LayoutPins(), LayoutPins(tensor=8, pipeline=1, context=2)):
        with pytest.raises(RequestError, match="does not fit 32 x H100") as refused:
            search(dataclasses.replace(question, pins=pins))
        needed, there = re.findall(r"alone ([\d.]+)\sTB of the ([\d.]+)\sTB", str(refused.value))[0]
        # With TP 8, weights and gradients, four bytes, are there four times.
        assert float(needed) == pytest.approx(405e9 * (28 if pins.tensor else 16) / 1e12, rel=0.1)
        assert float(there) == pytest.approx(32 * 80 * GIB / 1e12, rel=0.01)


def test_a_run_that_shards_its_optimizer_makes_no_room_for_one_that_does_not():
    # 8.03e9 parameters of 16 bytes are 128 GB on each GPU that holds the whole model.
    question = LayoutQuestion("Llama3-8B", "H100", gpus=64, sequence=8192, batch=128, pins=LayoutPins(sharding="none"))
    found = search(question, 50)
    assert all(float(one.memory_bytes.value) < 80 * GIB for one in found.answers)
    assert all(one.tensor * one.pipeline > 1 for one in found.answers)
    assert "optimizer " not in layouts_text(found, "model").split("A step")[0]
    assert sharding_text(found.answers[0]) == "none"


def test_no_published_run_is_refused():
    calibration, catalog = language_calibration(), examples.catalog()
    whole = [one for one in calibration.cases if not one.guessed and one.row.kind != "pretrain_proxy"]
    assert len(whole) > 800
    for one in whole:
        ways = arrays([one])[1]
        assert published_layouts(one, calibration).holds(ways, ways.recompute).all(), one.row.row_id
    # The model of the memory is nowhere so far off that it would contradict a run, on a GPU as the catalogue has it.
    named = [one for one in whole if one.machine["memory_bytes"] == gpu_of_case(one, catalog).memory_bytes.value]
    peaks = calibration.memory.estimate(named)
    room = [FILLED * one.machine["memory_bytes"] for one in named]
    assert min(normal_cdf(np.log(room / peaks.value) / peaks.log_sd)) >= REFUSED


def test_experts_are_divided_inside_the_rack():
    question = LayoutQuestion("DeepSeek-V3", "GB300", 256, sequence=4096, batch=4096, precision="mxfp8")
    found = search(question)
    assert found.answers[0].expert > 1
    # Megatron-Bridge prints 6,304 tokens/s a GPU for this model, batch and number of GPUs.
    rate = found.answers[0].tokens_per_s
    assert float(rate.low) / 256 < 6304 < float(rate.high) / 256


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": "Lama3-70B"}, "did you mean 'Llama 3 70B'"),
        ({"gpu": "TPU"}, "GPU 'TPU' is not in the catalogue"),
        ({"gpus": 0}, "gpus is 0; allowed are 1 to"),
        ({"gpus": 8}, "does not fit 8 x H100: the smallest layout takes"),
        ({"batch": 3, "pins": LayoutPins(tensor=1, pipeline=1, context=1)}, "no layout divides"),
        ({"pins": LayoutPins(tensor=8, pipeline=16)}, "tensor x pipeline = 128 does not divide 64 GPUs; write 64"),
        ({"pins": LayoutPins(data=5)}, "layout.data = 5 does not divide 64 GPUs; write 4 or 8"),
        ({"pins": LayoutPins(micro_batch=1000)}, "layout.micro_batch = 1000 does not divide the batch of 128 seq"),
        ({"pins": LayoutPins(tensor=3)}, "layout.tensor = 3 does not divide the 64 attention heads"),
        (
            {"sequence": 8190, "pins": LayoutPins(context=4)},
            "does not divide the sequence of 8190 tokens; write at most 2",
        ),
        ({"sequence": 1}, "sequence is 1; allowed are 128 to"),
    ],
)
def test_a_question_without_an_answer_is_refused_in_one_sentence(change, says):
    with pytest.raises(RequestError) as refused:
        search(dataclasses.replace(LLAMA_70B, **change))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@given(exponent=st.integers(3, 9), precision=st.sampled_from(["bf16", "fp8"]))
def test_twice_the_gpus_are_never_slower(exponent, precision):
    question = LayoutQuestion("Llama3-8B", "H100", 2**exponent, sequence=8192, batch=2048, precision=precision)
    once, twice = (
        search(dataclasses.replace(question, gpus=n), 1).answers[0] for n in (2**exponent, 2 ** (exponent + 1))
    )
    assert float(twice.tokens_per_s.value) >= float(once.tokens_per_s.value)


def test_a_stack_that_nobody_ran_on_a_gpu_is_no_faster_than_any_published_run():
    """NeMo on A100 is in no source. Of 271 TFLOP/s of large matrices no run kept more than 76 % busy over its steps.

    Llama 2 7B: 6 x 6.61e9 FLOP a token for its matrices and 3.2e9 for its attention, 4,096 tokens.
    """
    asked = LayoutQuestion("llama-2-7b", "A100", 8, sequence=4096, batch=128, software="NeMo")
    rate = float(search(asked).answers[0].tokens_per_s.value) / 8
    assert 0.5 * 312e12 < rate * (6 * 6.61e9 + 3.2e9) < 0.77 * 271e12


def test_llama_405b_on_512_gb200_is_near_mlperf():
    """MLPerf v5.0, NVIDIA on 512 GB200 with 896 sequences: 742 and 736 tokens/s a GPU with TP 4, PP 8 x 8, CP 2."""
    pins = LayoutPins(tensor=4, pipeline=8, chunks=8, context=2, micro_batch=1)
    question = LayoutQuestion("Llama3.1-405B", "GB200", 512, sequence=8192, batch=896, precision="fp8", pins=pins)
    found = search(question).answers[0]
    assert float(found.tokens_per_s.value) / 512 == pytest.approx(739, rel=0.05)
