"""Parameters of the joint fit: which effects a combination has, their priors, and the terms that they add up to.

Every term of :data:`sizer.perf.step_terms.TERM_NAMES` is a sum of effects, one parameter each, so that a combination
that was never measured still has a prediction: the pool it belongs to, with the spread of that pool.
"""

import math

from sizer.base.units import GIB
from sizer.calibrate.cases import Levels
from sizer.calibrate.engine import Effect, Prior, kind_of
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


# Kind of effect (text before the first ':') -> prior. Spreads are weak: about what separates the members of each pool
# in the published rows (the value at which values and variances of a pool agree, rounded), so that an effect without
# data stays wide rather than wrong.
PRIORS: dict[str, Prior] = {
    "base": Prior(math.log(0.3), 0.7, "DNN training reaches tenths of the peak"),
    "trend": Prior(0.3, 0.3, "releases gained fast until 2018 and little after 2019, see maturity()"),
    "trend-framework": Prior(0.0, 0.15, "frameworks took up half precision at different times"),
    "xla": Prior(0.2, 0.1, "compiled graphs fuse element-wise kernels; releases printed both ways gain a quarter"),
    "framework": Prior(0.0, 0.3, "frameworks of one year differ by about a quarter"),
    "line": Prior(0.0, 0.1, "who builds and tunes a framework: NVIDIA's containers, benchmark scripts, examples"),
    "line-precision": Prior(0.0, 0.08, "half-precision paths are tuned apart"),
    "line-dnn": Prior(0.0, 0.1, "code of networks that few have written goes from release to release"),
    "stack": Prior(0.0, 0.11, "one framework gained 1.9 times over two years of releases, most of it the trend"),
    "stack-precision": Prior(0.0, 0.07, "half-precision kernels matured later than single-precision ones"),
    "family": Prior(0.0, 0.3, "small convolutions use the units less well than large ones"),
    "dnn": Prior(0.0, 0.2, "within a family of DNNs"),
    "gpu": Prior(0.0, 0.06, "clocks of one chip differ between boards"),
    "gpu-generation": Prior(0.0, 0.3, "chips reach different shares of their peak"),
    "server": Prior(0.0, 0.05, "power limits and cooling set the clocks that a GPU holds"),
    "real": Prior(-0.02, 0.05, "an input pipeline takes a little of the GPU's time"),
    "real-stack": Prior(0.0, 0.04, "input pipelines of releases"),
    "pair": Prior(0.0, 0.115, "kernels tuned for one DNN in one release"),
    "inference": Prior(0.0, 0.4, "forward passes alone, not whole steps"),
    "inference-framework": Prior(0.0, 0.25, "inference paths of a framework differ from its training paths"),
    "inference-stack": Prior(0.0, 0.06, "and those of a release from its framework's"),
    "inference-dnn": Prior(0.0, 0.1, "backward passes of DNNs differ in cost"),
    "launch": Prior(math.log(5e-3), 0.5, "some hundred kernels of some ten microseconds"),
    "launch-framework": Prior(0.0, 0.3, "frameworks differ in overhead per kernel"),
    "launch-stack": Prior(0.0, 0.35, "and so do releases"),
    "launch-precision": Prior(0.0, 0.3, "half-precision kernels are shorter at small batches"),
    "launch-stack-precision": Prior(0.0, 0.3, "as far as a release has them"),
    "launch-dnn": Prior(0.0, 1.0, "DNNs differ in number of kernels: 8 layers to 150"),
    "launch-dnn-precision": Prior(0.0, 0.2, "and in how short half precision makes them"),
    "launch-server": Prior(0.0, 0.2, "clocks of the host CPU"),
    "launch-inference": Prior(math.log(0.3), 0.5, "a third of the kernels, no optimiser"),
    "launch-inference-dnn": Prior(0.0, 0.25, "backward passes differ in number of kernels"),
    "launch-inference-stack": Prior(0.0, 0.4, "inference engines fuse kernels"),
    "run-ahead": Prior(-1.0, 0.5, "launches of the published releases hardly run ahead: q about 1.4"),
    "fill": Prior(math.log(5.0), 0.5, "a V100 has 80 multiprocessors; one image of 224 x 224 fills some of them"),
    "fill-dnn": Prior(0.0, 0.45, "wide layers fill a GPU sooner"),
    "fill-framework": Prior(0.0, 0.4, "choice of algorithms"),
    "fill-task": Prior(0.0, 0.3, "the backward pass has more to do"),
    # Rate of one GPU, one direction: what NCCL counts on (nccl-source: 20 GB/s per NVLink of V100, 18 of P100, at most
    # 100 GB/s in one server; of later GPUs as noted; 12 GB/s per PCIe x16, 6 to 9 through a CPU) less what two GPUs
    # measured (7 GB/s, PCIe).
    "intra:nvlink1": Prior(math.log(40e9), 0.4, "four links of P100, some rings share them"),
    "intra:nvlink2": Prior(math.log(80e9), 0.4, "two to six links of V100"),
    "intra:nvswitch": Prior(math.log(100e9), 0.4, "six links of V100 through a switch"),
    "intra:nvlink3": Prior(math.log(240e9), 0.4, "twelve links of A100, 20 GB/s each"),
    "intra:nvlink4": Prior(math.log(370e9), 0.4, "18 links of H100, 20.6 GB/s each"),
    "intra:nvlink4-direct": Prior(math.log(370e9), 0.4, "the same without a switch, between four GPUs"),
    "intra:nvlink4-h800": Prior(math.log(165e9), 0.4, "the same share of 200 GB/s"),
    "intra:nvlink5": Prior(math.log(720e9), 0.4, "18 links of B200, 40.1 GB/s each"),
    "intra:nvl72": Prior(math.log(720e9), 0.4, "the same in a rack"),
    "intra:xgmi3": Prior(math.log(370e9), 0.4, "assumed: the share of their line rate that NVLinks reach, of 448 GB/s"),
    "intra:xgmi2": Prior(math.log(165e9), 0.4, "assumed: the same share, of 200 GB/s between modules of MI250X"),
    "intra:pcie3": Prior(math.log(7e9), 0.4, "x16 links through switches or CPUs"),
    "intra": Prior(math.log(20e9), 1.0, "a link that is not known"),
    "inter:rdma": Prior(math.log(0.8), 0.3, "nccl-tests over EDR and RoCE reach 0.5 to 0.98 of the line"),
    "inter:tcp": Prior(math.log(0.35), 0.4, "nccl-tests over TCP reach 0.1 to 0.4 of the line"),
    "inter:efa": Prior(math.log(0.5), 0.4, "a cloud's adapter: tests reach 0.4 to 0.8 of the line"),
    "inter-link": Prior(0.0, 0.15, "adapters and switches of one kind"),
    "inter-stack": Prior(0.0, 0.7, "exchange libraries and their settings"),
    "inter-site": Prior(0.0, 0.3, "fabrics and settings of one laboratory's exchange tests"),
    "overlap": Prior(0.0, 1.0, "half of the backward pass"),
    "overlap-framework": Prior(0.0, 0.8, "whether gradients leave layer by layer"),
    "overlap-stack": Prior(0.0, 0.7, "and how a release groups them"),
    "straggler": Prior(math.log(0.016), 0.25, "median of the published pairs of one GPU and all GPUs of a server"),
    "straggler-framework": Prior(0.0, 0.3, "how a framework synchronises"),
    "straggler-stack": Prior(0.0, 0.7, "input pipelines and synchronisation of a release"),
    "scale-out": Prior(math.log(0.012), 0.3, "public clusters of 8 to 256 servers lose one to three per cent"),
    "scale-out-framework": Prior(0.0, 0.5, "how a framework synchronises"),
    "scale-out-stack": Prior(0.0, 1.0, "published runs lose nothing or a third when they leave the server"),
    "host-link": Prior(math.log(10.5 * GIB), 0.15, "HPE's example of one x16 link (hpe-dlbs)"),
    # Host work by sample format: ln of core-seconds per sample and per byte. Lines that no source prints are assumed,
    # with a spread of a factor of three or more.
    "host-fixed:jpeg": Prior(math.log(1.6e-3), 0.5, "crop, scale and feed one image"),
    "host-per-byte:jpeg": Prior(math.log(14e-9), 0.5, "entropy decoding at about 70 MB/s a core"),
    "host-fixed:dali": Prior(math.log(0.53e-3), 0.55, "MLPerf v0.6: 3 threads per GPU at 1,400 images/s, half of it"),
    "host-per-byte:dali": Prior(math.log(4.7e-9), 0.55, "the other half: entropy decoding stays on the host"),
    "host-fixed:tensors": Prior(math.log(20e-6), 1.0, "assumed: finding and batching one record"),
    "host-per-byte:tensors": Prior(math.log(1e-9), 0.7, "assumed: a core copies, crops and flips about 1 GB/s"),
    "host-fixed:volumes": Prior(math.log(0.1), 0.8, "assumed: flips, brightness and noise of one patch of 128 cubed"),
    "host-per-byte:volumes": Prior(math.log(1e-9), 0.6, "assumed: reading and cropping an array at 1 GB/s a core"),
    "host-fixed:tokens": Prior(math.log(10e-6), 1.0, "assumed: finding and batching one record of numbers"),
    "host-per-byte:tokens": Prior(math.log(2e-9), 1.0, "assumed: masking and copying small numbers"),
    "host-fixed:text": Prior(math.log(20e-6), 1.0, "assumed: reading one line"),
    "host-per-byte:text": Prior(math.log(0.4e-6), 1.0, "assumed: tokenizers split 1 to 6 MB/s a core"),
    "host-fixed:tabular": Prior(math.log(0.2e-6), 0.9, "assumed: rows of a binary table are read in batches"),
    "host-per-byte:tabular": Prior(math.log(5e-9), 0.8, "assumed: converting columns at 200 MB/s a core"),
    "host-fixed:audio": Prior(math.log(1e-3), 1.0, "assumed: one second of sound or less takes a millisecond"),
    "host-per-byte:audio": Prior(math.log(20e-9), 1.0, "assumed: decoding and a spectrogram at 50 MB/s a core"),
    "host-fixed:video": Prior(math.log(20e-3), 1.0, "assumed: opening a clip and seeking its key frame"),
    "host-per-byte:video": Prior(math.log(0.25e-6), 0.8, "assumed: H.264 decodes at 4 MB/s a core"),
    "host-loader": Prior(0.0, 0.5, "compiled loaders: different libraries and augmentations"),
    "host-loader:python": Prior(0.9, 0.4, "readers in Python take 2 to 4 times the work of TensorFlow's loader"),
    "host-loader:dali-cpu": Prior(0.5, 0.5, "DALI on the CPU decodes whole images"),
    "host-library": Prior(0.0, 0.25, "decoders on libjpeg-turbo differ by a quarter"),
    "host-cpu": Prior(0.0, 0.25, "clock and instructions per clock of processors"),
    "host-stack": Prior(0.0, 0.35, "hosts and releases"),
    # Epochs, relative to what a recipe prints: ln(E0 / fewest epochs), ln(B2 / largest batch), ln g.
    "epochs-base": Prior(0.0, 1.0, "epochs at small batches are the fewest printed"),
    "epochs-double": Prior(math.log(2.0), 0.8, "batches were chosen below the one that doubles the epochs"),
    "epochs-lone": Prior(math.log(16.0), 0.8, "a lone point is taken to lie on the flat part"),
    "epochs-growth": Prior(math.log(1.5), 0.3, "growth of the recipes with several points"),
    "cache-position": Prior(math.log(0.7), 0.5, "between a pure LRU and a cache that never evicts"),
    "run-start-up": Prior(math.log(15.0), 1.0, "seconds until the first step of a public run"),
    "run-evaluations": Prior(math.log(0.04), 1.0, "evaluations as a share of the training"),
    "epoch-samples": Prior(0.0, 0.3, "samples of an epoch over those of the data set: long sentences are dropped"),
}


def prior_of(name: str) -> Prior:
    """Prior of a parameter by its kind, or by its whole name where one link has its own."""
    return PRIORS.get(name) or PRIORS[kind_of(name)]


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
