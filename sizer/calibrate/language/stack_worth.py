"""What software stacks are worth: rates with the same layout, from the effects that the fit found for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.fit import StepInputs, step_law
from sizer.calibrate.language.stacks import TUNED, group_of_stack
from sizer.perf.language.step import COEFFICIENTS


@dataclass(frozen=True)
class StackWorth:
    """Rate of a stack compared with another one, with the same layout."""

    stack: str  # id
    rate_ratio: Estimate  # its rate over that of the other
    runs: int  # published runs of it that the fit has; 0: the interval is that of any stack


def stack_worths(
    calibration: LanguageCalibration,
    stacks: Mapping[str, str],
    chosen: str,
    *,
    is_lora: bool,
    inputs: StepInputs | None = None,
) -> tuple[StackWorth, ...]:
    """Worth of every stack compared with the chosen one, the fastest first.

    Parameters
    ----------
    calibration : LanguageCalibration
    stacks : mapping
        Id of a stack to its name in the fit, the chosen one among them.
    chosen : str
        Id.
    is_lora : bool
        Whether adapters are trained: some stacks differ in it.
    inputs : StepInputs, optional
        The one layout that is compared: tuned software starts kernels faster, which counts more where they are short.
        Absent: only the effects of the stacks are compared.
    """
    runs = dict.fromkeys(stacks, 0)
    for case in calibration.cases:
        for name, stack in stacks.items():
            runs[name] += case.levels.stack == stack
    fit, mine = calibration.fit, _effects(stacks[chosen], is_lora)
    steps = {} if inputs is None else {is_tuned: _step(inputs, calibration, is_tuned) for is_tuned in (False, True)}

    def worth(name: str) -> StackWorth:
        theirs = _effects(stacks[name], is_lora)
        # What both stacks share cancels, known or not.
        contrast = [(0, name, float((name in theirs) - (name in mine))) for name in dict.fromkeys((*theirs, *mine))]
        slower, (tuned, plain) = 0.0, (stacks[stack].startswith(TUNED) for stack in (name, chosen))
        if inputs is not None and tuned != plain:
            (theirs_log_s, theirs_slopes), (mine_log_s, mine_slopes) = steps[tuned], steps[plain]
            slower = theirs_log_s - mine_log_s
            # The steps have the factors already, the interval also has their spread.
            moved = zip(COEFFICIENTS, (theirs_slopes - mine_slopes).tolist(), strict=True)
            contrast += [(1, factor, slope) for factor, slope in moved]
        values, covariance = fit.terms([one for one in contrast if one[2]], 2)
        return StackWorth(name, Estimate.log_normal(np.exp(-slower - values[0]), np.sqrt(covariance.sum())), runs[name])

    found = [worth(name) for name in stacks if name != chosen]
    return tuple(sorted(found, key=lambda one: -float(one.rate_ratio.value)))


def _step(inputs: StepInputs, calibration: LanguageCalibration, is_tuned: bool) -> tuple[float, Floats]:
    """Logarithm of the seconds of a step with software that is tuned or not, and its slopes by the factors."""
    shapes, layouts, machines = inputs
    law = step_law((shapes, replace(layouts, is_tuned=np.array([is_tuned])), machines))
    log_s, slopes = law(np.append(calibration.factors, 0.0)[None, :])
    return float(log_s[0]), slopes[0, :-1]


def _effects(stack: str, is_lora: bool) -> Sequence[str]:
    found = [f"stack:{stack}", f"stack_group:{group_of_stack(stack)}"]
    return [*found, f"lora:{stack}"] if is_lora else found
