"""Terms of a step of a language model, and the fitted values that they come from."""

import math
from collections.abc import Iterator

from sizer.base.estimate import Z90
from sizer.base.quantities import duration, grouped, significant
from sizer.calibrate.language.calibration import language_calibration
from sizer.explain.inputs import StageInput, number
from sizer.present.text.layouts import layout_sentence
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages.language_rates import language_answer

FORMULA = (
    "C = a · B · S / t, t = t linear + t attention + t elementwise + t tensor + t expert + t context + t data + "
    "t bubble + t optimizer + t fixed"
)
_TERMS = {
    "linear": "t linear, products of matrices",
    "attention": "t attention, products inside attention",
    "elementwise": "t elementwise, other layers, at the rate of the GPU memory",
    "tensor": "t tensor, exposed traffic of tensor parallelism",
    "expert": "t expert, exposed traffic of experts",
    "context": "t context, exposed traffic of context parallelism",
    "data": "t data, exposed traffic of weights and gradients",
    "bubble": "t bubble, waiting for the pipeline to fill",
    "optimizer": "t optimizer, update of the parameters",
    "fixed": "t fixed, launches and what a step always takes",
}
# Coefficients that a reader may compare with other publications.
_COEFFICIENTS = {
    "linear": "Time of matrix products over that at the measured rate",
    "experts": "The same of the experts' products, beyond that",
    "attention": "Time of attention over that at the measured rate of matrices",
    "elementwise_bytes": "Bytes moved for each layer, token and hidden element",
    "tensor": "Exposed share of tensor-parallel traffic inside NVLink",
    "context": "Exposed share of context-parallel traffic",
    "data": "Exposed share of the exchange of gradients and weights",
    "bubble": "Pipeline bubble over (p − 1) / (M v)",
    "straggler": "Loss for each doubling of the NVLink domains",
}


def step_terms(model: WorkloadOnDesign) -> tuple[tuple[StageInput, ...], str]:
    """Inputs of :data:`FORMULA` on a design, and its layout in words."""
    n_gpus = model.n_servers * int(model.run.cols.gpus_per_server[0])
    found = language_answer(model.work, model.platform, n_gpus, model.catalog)
    assert found is not None  # a design of a language model holds it
    plan = found.plan
    terms = [
        StageInput(
            "a, goodput",
            number(plan.goodput[0]),
            note=f"an interruption every {duration(plan.between_s[0])}, a checkpoint every {duration(plan.interval_s)}",
        ),
        StageInput("B, sequences of a step", grouped(found.batch), note="request, or usual"),
        StageInput("S, tokens of a sequence", grouped(found.work.sequence), note="request, or usual"),
    ]
    note = "model of a step, fitted to published runs"
    terms += [
        StageInput(_TERMS[part], f"{number(time_s)} s", note=note) for part, time_s in found.layout.step_s.items()
    ]
    return tuple(terms), layout_sentence(found)


def fitted_values() -> Iterator[tuple[str, str, str]]:
    """Label, median and 90 % interval of the fitted coefficients of a step."""
    fit = language_calibration().fit
    for name, label in _COEFFICIENTS.items():
        median, reach = fit.value(name), Z90 * fit.sd_of(name)
        low, middle, high = (significant(math.exp(median + way * reach), 2) for way in (-1, 0, 1))
        yield label, middle, f"{low} to {high}"
