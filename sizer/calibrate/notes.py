"""Notes of the calibration as data: why a row is not fitted or predicted, assumptions, extrapolations."""

from dataclasses import dataclass
from enum import StrEnum


class FitNote(StrEnum):
    """What a note says; the comment names its values. ``sizer.present.text.calibration`` has the words."""

    # Rows that the fit excludes by a rule.
    NO_GPU_RAN = "no-gpu-ran"
    GPU_UNKNOWN = "gpu-unknown"
    INT8 = "int8"
    EMULATED_COMPUTE = "emulated-compute"
    RECOMMENDER = "recommender"
    POOR_SCALING = "poor-scaling"
    PARAMETER_SERVER = "parameter-server"
    CPU_ALL_REDUCE = "cpu-all-reduce"
    CPU_BOUND = "cpu-bound"
    DRIVE_BOUND = "drive-bound"
    NOT_REPRODUCED = "not-reproduced"
    NOT_CAST = "not-cast"
    ABOVE_PEAK = "above-peak"
    PROGRESSIVE_SIZES = "progressive-sizes"
    SMALL_MESSAGE = "small-message"
    ONE_PROCESS = "one-process"
    LOADER_NOT_SATURATED = "loader-not-saturated"
    REPEATED = "repeated"
    TRAINING_SHARE_LOW = "training-share-low"
    # Rows that cannot be predicted.
    QUANTITY_NOT_MODELLED = "quantity-not-modelled"  # quantity
    TASK_NOT_MODELLED = "task-not-modelled"  # task
    STORAGE_ALONE = "storage-alone"
    DNN_NOT_NAMED = "dnn-not-named"
    DNN_NOT_IN_CATALOGUE = "dnn-not-in-catalogue"  # as the row names it
    GPU_NOT_NAMED = "gpu-not-named"
    GPU_NOT_IN_CATALOGUE = "gpu-not-in-catalogue"  # as the row names it
    PRECISION_NOT_STATED = "precision-not-stated"
    PRECISION_WITHOUT_PEAK = "precision-without-peak"  # precision
    COUNTS_NOT_STATED = "counts-not-stated"
    UNEVEN_GPUS = "uneven-gpus"  # GPUs, servers
    INTER_LINK_UNKNOWN = "inter-link-unknown"  # as the row names it
    INTER_LINK_NOT_STATED = "inter-link-not-stated"
    INTRA_LINK_UNKNOWN = "intra-link-unknown"
    STACK_UNKNOWN = "stack-unknown"  # as the row words it
    MESSAGE_NOT_BYTES = "message-not-bytes"
    LOADER_OR_CORES_NOT_STATED = "loader-or-cores-not-stated"
    LOADER_UNKNOWN = "loader-unknown"  # as the row names it
    GPU_DECODES = "gpu-decodes"
    FORMAT_NOT_MODELLED = "format-not-modelled"  # as the row names it
    SAMPLE_BYTES_NOT_STATED = "sample-bytes-not-stated"
    CORES_UNKNOWN = "cores-unknown"
    RATE_UNKNOWN = "rate-unknown"
    NO_RECIPE = "no-recipe"  # neural network as the row names it
    BATCH_NOT_STATED = "batch-not-stated"
    RUN_NOT_DESCRIBED = "run-not-described"
    DATASET_UNKNOWN = "dataset-unknown"
    SPEEDUP_BASE_UNKNOWN = "speedup-base-unknown"
    CACHE_NOT_DESCRIBED = "cache-not-described"
    NO_FIT_WITHOUT_SOURCE = "no-fit-without-source"
    NO_ROOM = "no-room"  # GPUs
    LENGTHS_NOT_STATED = "lengths-not-stated"  # tokens in and out
    FACT_NOT_KNOWN = "fact-not-known"  # part of the catalogue, its field
    SHAPE_NOT_STATED = "shape-not-stated"  # model as the row names it
    SEQUENCE_NOT_STATED = "sequence-not-stated"
    EMULATION_NOT_KNOWN = "emulation-not-known"  # benchmark of MLPerf Storage, accelerator
    BENCHMARK_NOT_KNOWN = "benchmark-not-known"  # model as the row names it
    FOR_CHECKS_ONLY = "for-checks-only"
    ONLY_FLOP_PUBLISHED = "only-flop-published"
    NOTHING_PUBLISHED = "nothing-published"
    # Assumptions about a row.
    AS_RECORDED = "as-recorded"  # text of the column ``assumed``
    ONE_SERVER_ASSUMED = "one-server-assumed"  # GPUs
    INTER_LINK_ASSUMED = "inter-link-assumed"  # link
    RECIPE_ASSUMED = "recipe-assumed"  # recipe
    # Predictions beyond what was measured.
    STACK_PRECISION = "stack-precision"  # stack, precision
    DNN_FROM_LIKE = "dnn-from-like"  # neural network, the one whose efficiency it takes
    DNN_FROM_POOL = "dnn-from-pool"  # neural network
    DNN_OF_KIND = "dnn-of-kind"  # neural network, trainings, kind
    DNN_OF_TUNED_KIND = "dnn-of-tuned-kind"  # the same of a kind that nobody published as people train it
    BATCH_TAKEN = "batch-taken"  # batch per GPU that the request does not state
    MEASURED_FAR = "measured-far"  # factor between a rate of the customer and its prediction
    DNN_FROM_FAMILY = "dnn-from-family"  # neural network, precision
    MODEL_FROM_SHAPE = "model-from-shape"  # language model
    DNN_WITH_STACK = "dnn-with-stack"  # neural network, stack, precision, task
    GPU_MOVED_FROM_V100 = "gpu-moved-from-v100"  # neural network, GPU, network of MLPerf that tells the gain
    MLPERF_DNN_ON_GPU = "mlperf-dnn-on-gpu"  # neural network, GPU
    MLPERF_GENERATION = "mlperf-generation"  # GPU
    RATE_OF_OWN_CODE = "rate-of-own-code"  # factor by which tuned runs are faster
    MORE_ACCELERATORS = "more-accelerators"  # neural network, GPU, most published, GPUs
    GPU_FROM_GENERATION = "gpu-from-generation"  # GPU
    GENERATION_NOT_MEASURED = "generation-not-measured"  # GPU: its rates are no predictions
    RATE_BY_PEAK = "rate-by-peak"  # GPU: of a generation without published runs, with a wide interval
    CONTEXT_BEYOND = "context-beyond"  # tokens of a request, most of a published row
    EXCHANGE_FROM_POOL = "exchange-from-pool"  # stack
    MORE_GPUS = "more-gpus"  # stack, most published, GPUs
    BATCH_OUTSIDE = "batch-outside"  # neural network, least and most published batch, precision, batch
    EPOCHS_OUTSIDE = "epochs-outside"  # recipe, least and most published global batch
    LOADER_NOT_MEASURED = "loader-not-measured"  # framework
    DALI_FROM_THREADS = "dali-from-threads"
    LARGE_IMAGES = "large-images"  # size of an image, and that of published runs whose GPUs decode
    LOADER_ASSUMED = "loader-assumed"
    HOST_LINE_ASSUMED = "host-line-assumed"  # samples in words
    STACK_NOT_MEASURED = "stack-not-measured"  # software as the row words it
    GPU_PRECISION_NOT_MEASURED = "gpu-precision-not-measured"  # GPU and precision
    MODEL_NOT_MEASURED = "model-not-measured"  # model as the row names it
    CONTEXT_NOT_MEASURED = "context-not-measured"  # tokens
    PART_GUESSED = "part-guessed"  # part of the shape or layout
    LAYOUT_CONTRADICTS = "layout-contradicts"


@dataclass(frozen=True)
class CalibrationNote:
    """A note with its values, in the order that :class:`FitNote` gives."""

    kind: FitNote
    values: tuple[str | int | float, ...] = ()


def note(kind: FitNote, *values: str | int | float) -> CalibrationNote:
    """Note with its values."""
    return CalibrationNote(kind, values)


class RowUse(StrEnum):
    """What a published number is to the calibration."""

    CALIBRATED = "calibrated"
    CALIBRATED_HOST = "calibrated-host"  # by the fit of the host's work
    PREDICTED = "predicted"
    PREDICTED_WITHOUT_SOURCE = "predicted-without-source"
    EXCLUDED = "excluded"  # from the fit, for a reason
    OUTSIDE = "outside"  # not predicted: something is not stated or not known
    NOT_MODELLED = "not-modelled"


@dataclass(frozen=True)
class RowStatus:
    """Use of a row, and the reason where it is excluded or not predicted."""

    use: RowUse
    reason: CalibrationNote | None = None


CALIBRATED = RowStatus(RowUse.CALIBRATED)
PREDICTED = RowStatus(RowUse.PREDICTED)
