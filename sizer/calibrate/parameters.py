"""Parameters of the joint fit: which effects a combination has, their priors, and the terms that they add up to.

Every term of :data:`sizer.perf.step_terms.TERM_NAMES` is a sum of effects, one parameter each, so that a combination
that was never measured still has a prediction: the pool it belongs to, with the spread of that pool.
"""

import math
from functools import partial

from sizer.calibrate.cases import Levels
from sizer.calibrate.engine import Effect, stated_prior
from sizer.perf.step_terms import (
    EFFICIENCY,
    FILL,
    HOST_LINK,
    INTER,
    INTRA,
    LAUNCH,
    OVERLAP,
    RUN_AHEAD,
    SCALE_OUT,
    STRAGGLER,
)

# Parameter of the rate of one x16 link between host and GPUs.
HOST_LINK_RATE = "host-link:all"

prior_of = partial(stated_prior, "vision")


# Releases gained fast while half precision was new and hardly after: the gain follows 1 - exp(-(t - 2017) / 0.5 years).
_TREND_START, _TREND_YEARS = 2017.0, 0.5
# Where nothing tells a release's date: the middle of the published ones.
_UNKNOWN_YEAR = 2019.0

# Families of image classifiers: every framework trains them with much the same code.
_CLASSIFIERS = ("alexnet", "inception", "resnet", "vgg")


def maturity(year: float | None) -> float:
    """Share of the gain of later releases that one of this date has, 0..1; a saturating trend. [-]"""
    known = _UNKNOWN_YEAR if year is None else year
    return 1.0 - math.exp(-max(0.0, known - _TREND_START) / _TREND_YEARS)


def active_effects(levels: Levels, n_gpus: int) -> tuple[Effect, ...]:
    """Effects that the rate of a measurement can tell something about: no exchange on one GPU."""
    only_exchange = (INTRA, INTER, OVERLAP, STRAGGLER, SCALE_OUT)
    return tuple(
        (term, name, coefficient)
        for term, name, coefficient in effects(levels)
        if not (term in only_exchange and (n_gpus == 1 or levels.task == "inference"))
        and not (term == HOST_LINK and levels.task == "training")
        and not (term in (INTER, SCALE_OUT) and not levels.inter_link)
        # Servers without a name are not one server: in a prediction they count with their prior.
        and not (name.startswith(("server:", "launch-server:")) and not levels.server)
    )


def effects(levels: Levels) -> tuple[Effect, ...]:
    """(term, parameter, coefficient) of every effect that a combination adds up."""
    found = [*_efficiency(levels), *_launch(levels), *_exchange(levels)]
    found += [(HOST_LINK, HOST_LINK_RATE), (RUN_AHEAD, "run-ahead:all"), (FILL, "fill:all")]
    found += [(FILL, f"fill-dnn:{levels.dnn}"), (FILL, f"fill-framework:{levels.framework}")]
    found += [(FILL, f"fill-task:{levels.task}")]
    with_one = [(term, name, 1.0) for term, name in found]
    gained, p = maturity(levels.year), levels.precision
    trend = [(EFFICIENCY, name, gained) for name in (f"trend:{p}", f"trend-framework:{levels.framework}/{p}")]
    return (*with_one, *trend)


def _efficiency(levels: Levels) -> list[tuple[int, str]]:
    e, p = levels, levels.precision
    line = f"{e.framework}-{e.line}"
    names = [
        f"base:{p}",
        f"framework:{e.framework}/{p}",
        f"line:{line}",
        f"line-precision:{line}/{p}",
        f"stack:{e.stack}",
        f"stack-precision:{e.stack}/{p}",
        f"family:{e.family}/{p}",
        f"dnn:{e.dnn}/{p}",
        f"gpu:{e.gpu}",
        f"gpu-generation:{e.generation}/{p}",
        f"server:{e.server}/{e.gpu}",
        f"pair:{e.stack}/{e.dnn}/{p}/{e.task}",
    ]
    if e.family not in _CLASSIFIERS:
        names.append(f"line-dnn:{line}/{e.dnn}/{p}")
    if e.has_xla:
        names.append(f"xla:{p}")
    if e.is_real:
        names += ["real:all", f"real-stack:{e.stack}"]
    if e.task == "inference":
        names += [f"inference:{p}", f"inference-framework:{e.framework}/{p}", f"inference-stack:{e.stack}/{p}"]
        names += [f"inference-dnn:{e.dnn}/{p}"]
    return [(EFFICIENCY, name) for name in names]


def _launch(levels: Levels) -> list[tuple[int, str]]:
    e, p = levels, levels.precision
    names = [
        "launch:all",
        f"launch-framework:{e.framework}",
        f"launch-stack:{e.stack}",
        f"launch-precision:{p}",
        f"launch-stack-precision:{e.stack}/{p}",
        f"launch-dnn:{e.dnn}",
        f"launch-dnn-precision:{e.dnn}/{p}",
        f"launch-server:{e.server}",
    ]
    if e.task == "inference":
        names += ["launch-inference:all", f"launch-inference-stack:{e.stack}", f"launch-inference-dnn:{e.dnn}"]
    return [(LAUNCH, name) for name in names]


def _exchange(levels: Levels) -> list[tuple[int, str]]:
    e, p = levels, levels.precision
    found = [
        (INTRA, f"intra:{e.intra_link}"),
        (OVERLAP, "overlap:all"),
        (OVERLAP, f"overlap-framework:{e.framework}"),
        (OVERLAP, f"overlap-stack:{e.stack}"),
        (STRAGGLER, "straggler:all"),
        (STRAGGLER, f"straggler-framework:{e.framework}"),
        (STRAGGLER, f"straggler-stack:{e.stack}/{p}"),
        (SCALE_OUT, "scale-out:all"),
    ]
    # On one server the share is not read; it still needs a value, the one of RDMA.
    found += [(INTER, f"inter:{e.inter_link.partition('/')[2] or 'rdma'}")]
    if e.inter_link:
        found += [(INTER, f"inter-link:{e.inter_link}"), (INTER, f"inter-stack:{e.stack}/{p}")]
        found += [(SCALE_OUT, f"scale-out-framework:{e.framework}"), (SCALE_OUT, f"scale-out-stack:{e.stack}/{p}")]
    return found
