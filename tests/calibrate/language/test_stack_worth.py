"""What software stacks are worth: contrasts of the fitted effects, and what is not known of a stack."""

import numpy as np
import pytest

from sizer.calibrate.language.calibration import language_calibration, stack_worths
from sizer.calibrate.language.fit import EFFECT_SD

STACKS = {"a": "nemo", "b": "torchtitan", "c": "megatron-lm", "d": "primus"}


def test_worth_is_the_contrast_of_the_effects():
    calibration = language_calibration()
    effect = dict(zip(calibration.fit.names, calibration.fit.values.tolist(), strict=True))
    found = {one.stack: one for one in stack_worths(language_calibration(), STACKS, "a", is_lora=False)}
    slower = effect["stack:torchtitan"] + effect["stack_group:pytorch"]
    slower -= effect["stack:nemo"] + effect["stack_group:megatron"]
    assert float(found["b"].rate_ratio.value) == pytest.approx(np.exp(-slower), rel=1e-12)
    assert found["b"].runs == sum(case.levels.stack == "torchtitan" for case in calibration.cases) > 0


def test_a_stack_without_runs_has_the_spread_of_any_stack():
    fit = language_calibration().fit
    sd = np.sqrt(fit.covariance(["stack:nemo"])[0, 0])
    found = {one.stack: one for one in stack_worths(language_calibration(), STACKS, "a", is_lora=False)}
    # Of one group: the group's effect cancels, the stack's own is open.
    assert found["d"].runs == 0
    assert float(found["d"].rate_ratio.log_sd) == pytest.approx(np.hypot(EFFECT_SD["stack"], sd), rel=1e-9)


def test_stacks_stand_in_the_order_of_their_rates_without_the_chosen_one():
    found = stack_worths(language_calibration(), STACKS, "a", is_lora=True)
    rates = [float(one.rate_ratio.value) for one in found]
    assert rates == sorted(rates, reverse=True)
    assert "a" not in {one.stack for one in found}


def test_published_order_of_megatron_and_fsdp():
    """NeMo's recipes print 12.3 s for 128 sequences of 8,192 tokens of Llama 3 8B on 8 H100 of 700 W (10,700 tokens/s a
    GPU); torchtitan prints 6,000 to 7,000 on H100 of 500 W: the Megatron stacks are the faster ones."""
    worth = {one.stack: one for one in stack_worths(language_calibration(), STACKS, "a", is_lora=False)}["b"]
    assert float(worth.rate_ratio.high) < 1


def test_tuned_software_counts_its_faster_launches():
    """Of one layout the ratio is that of the two rates themselves: effects, and kernels that start faster."""
    from sizer.calibrate.language.fit import step_law
    from sizer.sizing.stages.language_layouts import LayoutQuestion, inputs_of, search_layouts
    from tests.factories import examples

    catalog, calibration = examples.catalog(), language_calibration()
    question = LayoutQuestion("Llama 3 8B", "H100", 64, sequence=8192, batch=128)
    layout = search_layouts(question, catalog, calibration, 1).answers[0]
    terms = np.append(calibration.factors, 0.0)[None, :]
    log_s = {}
    for software in ("NeMo", "MLPerf-tuned"):
        asked = LayoutQuestion("Llama 3 8B", "H100", 64, sequence=8192, batch=128, software=software)
        log_s[software] = float(step_law(inputs_of(asked, layout, catalog))(terms)[0][0])
    stacks = {"a": "nemo", "m": "mlperf"}
    inputs = inputs_of(question, layout, catalog)
    plain, whole = (
        float(stack_worths(calibration, stacks, "a", is_lora=False, inputs=given)[0].rate_ratio.value)
        for given in (None, inputs)
    )
    assert log_s["MLPerf-tuned"] < log_s["NeMo"]
    assert whole / plain == pytest.approx(np.exp(log_s["NeMo"] - log_s["MLPerf-tuned"]), rel=1e-9)
