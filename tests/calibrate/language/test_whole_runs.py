"""Software stacks, what they are worth, and whole trainings."""

import numpy as np
import pytest

from sizer import SizingRequest, size
from sizer.calibrate.engine import priors
from sizer.calibrate.language.calibration import language_calibration, stack_worths
from sizer.calibrate.language.cases import TUNED, load_language_rows, stack_named
from sizer.calibrate.language.whole_runs import load_trainings, predicted_days, whole_run_accuracy, whole_runs
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.stages.language_rates import rate_of_training
from sizer.workload.resolve import resolve
from tests.factories.requests import report_on

ON_H100 = {"gpu": shipped_catalog().gpus["h100-sxm-80gb"], "precision": "bf16"}
STACKS = {"a": "nemo", "b": "torchtitan", "c": "megatron-lm"}


def test_worth_is_the_contrast_of_the_effects():
    calibration = language_calibration()
    effect = dict(zip(calibration.fit.names, calibration.fit.values.tolist(), strict=True))
    found = {one.stack: one for one in stack_worths(language_calibration(), STACKS, "a", **ON_H100, is_lora=False)}
    slower = effect["stack:torchtitan"] + effect["stack_group:pytorch"] + effect["stack_generation:torchtitan/hopper"]
    slower -= effect["stack:nemo"] + effect["stack_group:megatron"] + effect["stack_generation:nemo/hopper"]
    assert float(found["b"].rate_ratio.value) == pytest.approx(np.exp(-slower), rel=1e-12)
    assert found["b"].runs == sum(case.levels.stack == "torchtitan" for case in calibration.cases) > 0


def test_a_stack_without_runs_has_the_spread_of_any_stack():
    fit = language_calibration().fit
    sd = np.sqrt(fit.covariance(["stack:megatron-lm", "stack_generation:megatron-lm/hopper"]).sum())
    stacks = {"c": "megatron-lm", "d": "of nobody"}
    found = {one.stack: one for one in stack_worths(language_calibration(), stacks, "c", **ON_H100, is_lora=False)}
    # Of one group: the group's effect cancels, the stack's own and what it is on these GPUs are open.
    assert found["d"].runs == 0
    free = [priors("language-levels")[kind].sd for kind in ("stack", "stack_generation")]
    assert float(found["d"].rate_ratio.log_sd) == pytest.approx(np.linalg.norm([*free, sd]), rel=1e-9)


def test_stacks_stand_in_the_order_of_their_rates_without_the_chosen_one():
    found = stack_worths(language_calibration(), STACKS, "a", **ON_H100, is_lora=True)
    rates = [float(one.rate_ratio.value) for one in found]
    assert rates == sorted(rates, reverse=True)
    assert "a" not in {one.stack for one in found}


def test_published_order_of_megatron_and_fsdp():
    """NeMo's recipes print 12.3 s for 128 sequences of 8,192 tokens of Llama 3 8B on 8 H100 of 700 W (10,700 tokens/s a
    GPU); torchtitan prints 6,000 to 7,000 on H100 of 500 W: the Megatron stacks are the faster ones."""
    worth = {one.stack: one for one in stack_worths(language_calibration(), STACKS, "a", **ON_H100, is_lora=False)}["b"]
    assert float(worth.rate_ratio.high) < 1


def test_tuned_software_counts_its_faster_launches():
    """Of one layout the ratio is that of the two rates themselves: effects, and kernels that start faster."""
    from sizer.calibrate.language.calibration import step_law
    from sizer.sizing.stages.language_rates import LayoutQuestion, inputs_of, search_layouts
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
        float(stack_worths(calibration, stacks, "a", **ON_H100, is_lora=False, inputs=given)[0].rate_ratio.value)
        for given in (None, inputs)
    )
    assert log_s["MLPerf-tuned"] < log_s["NeMo"]
    assert whole / plain == pytest.approx(np.exp(log_s["NeMo"] - log_s["MLPerf-tuned"]), rel=1e-9)


def test_every_stack_that_runs_tell_apart_can_be_asked_for():
    """Submissions to MLPerf count as one stack, and software that no word tells stays unnamed."""
    named = {stack_named(row) for row in load_language_rows()}
    asked = {stack.id for stack in shipped_catalog().stacks.values() if stack.trains_language}
    assert {name for name in named if not name.startswith((TUNED, "other:"))} <= asked


DAY = 86_400.0


def test_days_of_families_that_were_left_out():
    found = {one.measure: one for one in whole_run_accuracy(shipped_catalog())}
    assert found["whole-run-coverage"].is_reached
    assert found["whole-run-bias"].is_reached
    assert found["whole-run-half-width"].is_reached


def test_the_stored_days_are_those_that_are_predicted():
    catalog = shipped_catalog()
    training = next(one for one in load_trainings() if one.id == "phi-1")
    days = training.tokens / float(rate_of_training(training, catalog).value) / DAY
    assert float(predicted_days()["phi-1"].value) == pytest.approx(days, rel=1e-3)


def test_a_gpu_without_a_published_training_has_a_wider_interval():
    catalog = shipped_catalog()
    fit = whole_runs(catalog)
    h100, b200 = (fit.factor(catalog.gpus[gpu], False, "", catalog) for gpu in ("h100-sxm-80gb", "b200-sxm-180gb"))
    assert float(b200.value) == float(h100.value)
    assert float(b200.log_sd) > 1.3 * float(h100.log_sd)


def request(**workload):
    """Phi-4's 14 G parameters on 64 GPUs: 100 G tokens."""
    work = {"name": "w", "dnn": {"name": "14B", "parameters": 14e9}, "tokens": 1e11, "target": {"gpus_busy": 64}}
    platforms = {"servers": ["dgx-h100"], "storage": ["ai400x2"]}
    return SizingRequest.from_dict({"workload": [work | workload], "platforms": platforms})


def test_a_benchmark_run_takes_its_steps_alone_and_a_whole_one_longer():
    whole, steps = (size(request(run=run), shipped_catalog()).design.workloads[0] for run in ("whole", "benchmark"))
    assert float(whole.throughput.value) == float(steps.throughput.value)
    seconds = 1e11 / float(steps.throughput.value)
    start_up = steps.time.start_up_s
    assert float(steps.time.total_s.value) == pytest.approx(start_up + seconds, rel=1e-6)
    assert steps.time.whole_run is None
    factor = float(whole.time.whole_run.value)
    assert float(whole.time.total_s.value) == pytest.approx(start_up + factor * seconds, rel=1e-6)
    wide, narrow = (np.log(float(one.time.total_s.high / one.time.total_s.low)) for one in (whole, steps))
    assert wide > narrow


def test_utilization_is_useful_flop_over_the_peak():
    answer = size(request(), shipped_catalog()).design.workloads[0]
    # 6 FLOP a parameter and token, and some attention; the usual shape of 14 G has an embedding that does not multiply.
    useful = 6 * 14e9 * float(answer.throughput.value) / 64
    assert answer.language.model_flop_per_s(float(answer.throughput.value)) == pytest.approx(useful, rel=0.15)
    assert answer.language.utilization(float(answer.throughput.value)) == pytest.approx(useful / 989e12, rel=0.15)


@pytest.mark.parametrize(("stated", "taken"), [(2051, 2048), (2046, 2048), (2200, 2176), (16, 16)])
def test_a_stated_batch_moves_by_two_per_cent_at_most(stated, taken):
    work = resolve(request(batch_sequences=stated, sequence_tokens=4096), shipped_catalog(), {})[0].language
    assert work.batch(2048) == taken


HEADER = "run_id,model,arch,gpu,gpus,precision,kind,layers,hidden,ffn,heads,kv_heads,vocab,seq,tokens,days_published"


def test_a_list_of_whole_trainings_is_predicted_in_days(tmp_path):
    """A shape that is stated, one that is known by its name, and what is no training of a language model."""
    path = tmp_path / "trainings.csv"
    rows = (
        "a,Own 7B,dense,A100-SXM4-80GB,512,bf16,pretrain,32,4096,11008,32,32,32000,2048,1e12,6.7",
        "b,Llama 2 70B,,A100-SXM4-80GB,2000,bf16,pretrain,,,,,,,4096,2e12,35.9",
        "c,ViT,vit,A100-SXM4-80GB,8,bf16,vision,24,1024,4096,16,16,,,1e9,2",
        "d,Own 7B,dense,Hopper X,512,bf16,pretrain,32,4096,11008,32,32,32000,2048,1e12,6.7",
    )
    path.write_text("\n".join([HEADER, *rows]), encoding="utf-8")
    found = {row.id: row for row in report_on(path).rows}
    # 6 x 6.7e9 x 1e12 FLOP at 312 TFLOP/s of 512 GPUs are 2.9 days; teams reach a third to a half of that.
    assert 2.9 / 0.6 < found["a"].predicted < 2.9 / 0.25
    # Meta: 1,720,320 GPU hours.
    assert found["b"].low < 35.9 < found["b"].high
    assert found["c"].predicted is None
    assert found["d"].predicted is None
