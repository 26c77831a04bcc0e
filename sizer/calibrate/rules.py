"""Which observations belong to the fit, and how incomplete ones are read: rules as data, each with its reason."""

import fnmatch
from dataclasses import dataclass, replace

from sizer.calibrate.notes import CalibrationNote, FitNote
from sizer.calibrate.observations import Observation


@dataclass(frozen=True)
class Exclusion:
    """Rows that the fit of rates excludes. Empty fields match anything; ``ids`` are shell patterns."""

    reason: FitNote
    ids: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    dnns: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    software_has: str = ""
    n_gpus: int | None = None

    def covers(self, row: Observation) -> bool:
        """Whether the row is one of those."""
        return (
            (not self.ids or any(fnmatch.fnmatchcase(row.id, pattern) for pattern in self.ids))
            and (not self.sources or row.source in self.sources)
            and (not self.dnns or row.dnn in self.dnns)
            and (not self.gpus or row.gpu in self.gpus)
            and (not self.precisions or row.precision in self.precisions)
            and self.software_has in row.software
            and (self.n_gpus is None or row.gpus == self.n_gpus)
        )


EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion(FitNote.NO_GPU_RAN, n_gpus=0),
    Exclusion(FitNote.GPU_UNKNOWN, gpus=("", "p40", "m40"), ids=("p40-*", "m40-*", "v100blog-*")),
    Exclusion(FitNote.INT8, precisions=("int8",)),
    Exclusion(FitNote.EMULATED_COMPUTE, software_has="(emulated compute)"),
    Exclusion(FitNote.RECOMMENDER, dnns=("ncf", "dlrm")),
    Exclusion(
        FitNote.POOR_SCALING,
        sources=("lambda-tf",),
        n_gpus=8,
    ),
    Exclusion(FitNote.PARAMETER_SERVER, ids=("hvd2017-*-tf_ps", "hvd2017-*-tf_ps_cpu", "vil-1node-ps")),
    Exclusion(FitNote.CPU_ALL_REDUCE, ids=("hvd2017-*-tcp_cpu", "hvd2017-*-rdma_cpu")),
    Exclusion(
        FitNote.CPU_BOUND,
        ids=(
            "dlperf-mxnet-amp-b256-1n4g",
            "dlperf-mxnet-amp-b256-1n8g",
            "dlperf-mxnet-amp-b256-2n16g",
            "dlperf-mxnet-amp-b256-4n32g",
            "dlperf-paddle-nodali-*-1n4g",
            "dlperf-paddle-nodali-*-1n8g",
            "dlperf-paddle-nodali-*-2n16g",
            "dlperf-paddle-nodali-*-4n32g",
            "tfbench-p100-alexnet-real-b512-2g",
            "tfbench-p100-alexnet-real-b512-4g",
            "tfbm283-alexnet-fp16-real-3g",
            "tfbm283-alexnet-fp16-real-4g",
            # 40 cores at the 4.5 core-ms of the ResNet-50 run beside it carry 8,900 images/s at most, and 24 decode
            # threads at the 3.2 core-ms of the DGX-1 7,500: seen 7,095. The host decode fit uses this row.
            "rs-isilon-alexnet-1node",
        ),
    ),
    Exclusion(FitNote.DRIVE_BOUND, ids=("weka2018-googlenet-nvme-8g",)),
    Exclusion(
        FitNote.NOT_REPRODUCED,
        ids=("dle-tf2006-rn50-train-fp16-xla-*", "dle837-*"),
    ),
    Exclusion(
        FitNote.NOT_CAST,
        ids=("mxnet12-v100-infer-inception-bn-fp16-*",),
    ),
    Exclusion(
        FitNote.ABOVE_PEAK,
        ids=("mxnet09-p100-infer-vgg16-*",),
    ),
    Exclusion(FitNote.PROGRESSIVE_SIZES, ids=("dawn-fastai-*", "dawn-huawei-*")),
    # The sources say so: one Python process peaks near 16 threads, one main process collates near 4,000 images/s.
    Exclusion(
        FitNote.ONE_PROCESS,
        ids=(
            "fleetx-reader-*-16thr",
            "fleetx-reader-*-24thr",
            "fleetx-reader-*-32thr",
            "fleetx-reader-*-38thr",
            "pytorch-dataloader-512-px-jpeg-48thr",
            "pytorch-dataloader-512-px-jpeg-96thr",
        ),
    ),
    Exclusion(
        FitNote.LOADER_NOT_SATURATED, ids=("presto-*", "dlrm-split-binary-*", "dlio-*", "litdata-*", "ffcv-*-ebs-table")
    ),
    # Derived again from a row that is used, or the same number under another name.
    Exclusion(
        FitNote.REPEATED,
        ids=(
            "dgx1-cpu-cost-*",
            "rs-resnet50-cpu-cost",
            "rs-resnet50-cpu-cost/*",
            "ffcv-512-px-jpeg-90-96thr",
            "ffcv-256-px-raw-96thr",
        ),
    ),
)


@dataclass(frozen=True)
class ReadAs:
    """A precision that the source does not state, and why it is taken."""

    precision: str
    reason: str
    ids: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


PRECISION_READ_AS: tuple[ReadAs, ...] = (
    ReadAs("mixed", "the ResNet-50 run of the same table is FP16", ids=("rs-isilon-*", "rs-resnet50-*")),
    ReadAs("mixed", "the benchmark suite's configuration of the same page is half precision", ids=("weka2018-*",)),
    ReadAs(
        "fp32",
        "TensorFlow benchmarks on P100 of 2017; half precision came later",
        sources=("horovod-2017", "horovod-docs"),
    ),
    ReadAs("fp32", "frameworks of 2016 and P100: the blog names no half precision", sources=("dell-p100-blog-2016",)),
    ReadAs("fp32", "tensorpack's default; 359 images/s for a V100 fit no other", sources=("tensorpack-bm",)),
)


@dataclass(frozen=True)
class StatedLinear:
    """A source that states linear scaling down to fewer servers without printing those rates."""

    id: str  # row of the largest run
    servers: int
    where: str


STATED_LINEAR: tuple[StatedLinear, ...] = (
    StatedLinear("dgx1-isilon-resnet50-72gpu-derived-rate", 1, "image throughput scales linearly from 8 to 72 GPUs"),
    StatedLinear("dgx1-isilon-inception4-large-72gpu-derived-rate", 1, "as before, linear scaling from 8 to 72 GPUs"),
)


# Rates that a fact of the catalogue is derived from, so that they test nothing: the read rate of the Apollo's drives is
# 17,000 images/s x 150,528 B.
CATALOGUE_DERIVES_FROM = frozenset({"weka2018-googlenet-nvme-8g"})


def stated_of(row: Observation) -> str:
    """Id of the row whose rate a stated rate is a share of; empty for a printed rate."""
    main, at, _ = row.id.partition("@")
    return main if at and any(stated.id == main for stated in STATED_LINEAR) else ""


def stated_rows(rows: tuple[Observation, ...]) -> tuple[Observation, ...]:
    """Rates that sources state in words: the share of the servers in the rate of the largest run."""
    by_id = {row.id: row for row in rows}
    found = []
    for stated in STATED_LINEAR:
        row = by_id.get(stated.id)
        if row is not None and row.servers and row.gpus:
            share = stated.servers / row.servers
            gpus = round(row.gpus * share)
            found.append(
                replace(
                    row,
                    id=f"{row.id}@{gpus}gpus",
                    servers=stated.servers,
                    gpus=gpus,
                    value=row.value * share,
                    basis="derived",
                    where=stated.where,
                )
            )
    return tuple(found)


# Speed-ups over one GPU whose notes do not say so.
_OVER_ONE_GPU = ("p100-nvcaffe-*", "p100-tf-*", "p100-mxnet-inceptionbn-*", "sog-c4140m-resnet50-in-node/*")
# What the notes of a speed-up say that it is over: words -> base.
_SPEEDUP_WORDS = {
    "over one gpu": "gpu",
    "over 1 gpu": "gpu",
    "efficiency": "gpu",
    "over one node": "server",
    "nodes over one": "server",
    "over one server": "server",
    "servers over one": "server",
}


def speedup_base(row: Observation) -> str | None:
    """``gpu`` or ``server``: one of which a speed-up is over; None where the row does not describe it."""
    if row.gpus is None or row.gpus < 2:
        return None
    if any(fnmatch.fnmatchcase(row.id, pattern) for pattern in _OVER_ONE_GPU):
        return "gpu"
    said = row.notes.lower()
    return next((base for words, base in _SPEEDUP_WORDS.items() if words in said), None)


# Batch per GPU where a source states none: the ones printed for the Isilon and Dell tests (dell-ready-ai-nvidia-2018:
# ResNet-50 128 in fp32 and 256 in fp16, AlexNet 512 and 1,024), and 64 and 128, the usual ones of the rows that do
# state it, for everything else. At these sizes the rate depends little on the batch.
TYPICAL_BATCH: dict[str, dict[str, float]] = {
    "resnet50": {"fp32": 128, "mixed": 256},
    "alexnet": {"fp32": 512, "mixed": 1024},
    "": {"fp32": 64, "mixed": 128},
}

# Batches of these DNNs are printed in tokens while their samples are sentence pairs; the catalogue's mean length.
TOKENS_PER_SAMPLE = {"transformer-big": 27.0}

# Words of the observations for a GPU whose board they do not state: levels of their own in the fit.
UNSTATED_BOARDS = ("v100", "p100", "pascal")

# Link between the GPUs of a server where a source does not state it, by the part that stands for the GPU.
USUAL_INTRA_LINK = {"sxm2": {"v100": "nvlink2", "p100": "nvlink1"}, "sxm3": {"v100": "nvswitch"}, "pcie": {}}


def exclusion_of(row: Observation) -> CalibrationNote | None:
    """Why the fit of rates excludes a row; None where it belongs."""
    return next((CalibrationNote(rule.reason) for rule in EXCLUSIONS if rule.covers(row)), None)


def precision_of(row: Observation) -> str:
    """Precision as stated, or as a rule reads it; empty where neither knows."""
    if row.precision:
        return row.precision
    for rule in PRECISION_READ_AS:
        if (not rule.ids or any(fnmatch.fnmatchcase(row.id, p) for p in rule.ids)) and (
            not rule.sources or row.source in rule.sources
        ):
            return rule.precision
    return ""


def batch_of(row: Observation, precision: str) -> float:
    """Batch per GPU as stated, or the typical one."""
    if row.batch_per_gpu is not None:
        return row.batch_per_gpu / TOKENS_PER_SAMPLE.get(row.dnn, 1.0)
    return TYPICAL_BATCH.get(row.dnn, TYPICAL_BATCH[""])[precision]


def usual_intra_link(gpu: str, form_factor: str) -> str:
    """Link between GPUs that a part of this form factor usually has."""
    family = "p100" if gpu.startswith("p100") else "v100"
    return USUAL_INTRA_LINK.get(form_factor, {}).get(family, "pcie3")
