"""What software stacks are worth: rates with the same layout, from the effects that the fit found for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.estimate import Estimate
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import group_of_stack
from sizer.calibrate.language.fit import EFFECT_SD


@dataclass(frozen=True)
class StackWorth:
    """Rate of a stack compared with another one, with the same layout."""

    stack: str  # id
    rate_ratio: Estimate  # its rate over that of the other
    runs: int  # published runs of it that the fit has; 0: the interval is that of any stack


def stack_worths(
    calibration: LanguageCalibration, stacks: Mapping[str, str], chosen: str, *, is_lora: bool
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
    """
    fit = calibration.fit
    index = fit.model.layout.index
    runs = dict.fromkeys(stacks, 0)
    for case in fit.model.cases:
        for name, stack in stacks.items():
            runs[name] += case.levels.stack == stack
    mine = _effects(stacks[chosen], is_lora)

    def worth(name: str) -> StackWorth:
        theirs = _effects(stacks[name], is_lora)
        contrast = np.zeros(len(fit.values))
        unknown = 0.0
        for effects, sign in ((theirs, 1.0), (mine, -1.0)):
            for effect in effects:
                if effect in index:
                    contrast[index[effect]] += sign
                elif (effect in theirs) != (effect in mine):
                    unknown += EFFECT_SD[effect.split(":", 1)[0]] ** 2
        slower = float(contrast @ fit.values)
        return StackWorth(
            name,
            Estimate.log_normal(np.exp(-slower), np.sqrt(contrast @ fit.covariance @ contrast + unknown)),
            runs[name],
        )

    found = [worth(name) for name in stacks if name != chosen]
    return tuple(sorted(found, key=lambda one: -float(one.rate_ratio.value)))


def _effects(stack: str, is_lora: bool) -> Sequence[str]:
    found = [f"stack:{stack}", f"stack_group:{group_of_stack(stack)}"]
    return [*found, f"lora:{stack}"] if is_lora else found
