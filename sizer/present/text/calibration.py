"""Words for the notes of the calibration, and for rates: of GPUs that were never measured none is printed."""

from collections.abc import Iterable

from sizer.base.estimate import Estimate
from sizer.base.quantities import by_count, grouped, plain, scaled_unit, significant
from sizer.calibrate.notes import CalibrationNote, FitNote, RowStatus, RowUse
from sizer.present import words
from sizer.present.words import shortened
from sizer.sizing.result import WorkloadAnswer

_MOST_CHARACTERS = 60
# An interval whose ends differ by this factor is named as a risk.
_WIDE = 1.5
# Values of a note stand in braces, in their order.
_TEXTS = {
    FitNote.NO_GPU_RAN: "no GPU took part",
    FitNote.GPU_UNKNOWN: "the GPU is not in the catalogue",
    FitNote.INT8: "8-bit integers: the catalogue has no peak for them",
    FitNote.EMULATED_COMPUTE: "emulated compute: a storage benchmark's waiting times, no training",
    FitNote.RECOMMENDER: "recommender: embedding look-ups set the rate, not arithmetic",
    FitNote.POOR_SCALING: (
        "8 GPUs reach 3.7 to 7.6 times the rate of one GPU, and the hardware is not the reason; "
        "the rows of one GPU are used"
    ),
    FitNote.PARAMETER_SERVER: "parameter server: another exchange scheme",
    FitNote.CPU_ALL_REDUCE: "all-reduce on the CPU: another exchange scheme",
    FitNote.CPU_BOUND: "limited by the host's CPU: the rate describes the loader, not the GPU",
    FitNote.DRIVE_BOUND: "limited by the local drives: the rate does not describe the GPUs",
    FitNote.NOT_REPRODUCED: "not reproduced: 1,270 images/s here, 786 and 1,199 elsewhere",
    FitNote.NOT_CAST: "half precision exactly as fast as single precision at every batch: the network was not cast",
    FitNote.ABOVE_PEAK: (
        "up to 2.46 times the GPU's peak with 16 layers, where Winograd's algorithm saves at most 2.25 times: "
        "the column says VGG, and another depth was run"
    ),
    FitNote.PROGRESSIVE_SIZES: "progressive image sizes: not comparable per image",
    FitNote.SMALL_MESSAGE: "small message: latency sets the time, not the links",
    FitNote.ONE_PROCESS: "one process of the loader is saturated: more threads do not show the work of a core",
    FitNote.LOADER_NOT_SATURATED: (
        "the loader delivered at least this: storage, the GPUs or the test itself set the rate"
    ),
    FitNote.TRAINING_SHARE_LOW: "the training rate explains less than 60 % of the run",
    FitNote.REPEATED: "another row holds the same number",
    FitNote.QUANTITY_NOT_MODELLED: "{0}",
    FitNote.TASK_NOT_MODELLED: "rate of task {0}",
    FitNote.STORAGE_ALONE: "rate of a storage system alone; the catalogue holds it",
    FitNote.DNN_NOT_NAMED: "names no neural network",
    FitNote.DNN_NOT_IN_CATALOGUE: "neural network '{0}' is not in the catalogue",
    FitNote.GPU_NOT_NAMED: "names no GPU",
    FitNote.NO_ROOM: "the model does not load on {0} GPUs",
    FitNote.CONTEXT_NOT_MEASURED: "{0} tokens of context, longer than those of the fitted measurements",
    FitNote.LENGTHS_NOT_STATED: "the tokens in and out of a request are not stated",
    FitNote.FACT_NOT_KNOWN: "{1} of {0} is not known",
    FitNote.SHAPE_NOT_STATED: "the shape of {0} is not stated",
    FitNote.SEQUENCE_NOT_STATED: "length of a sequence not stated",
    FitNote.BENCHMARK_NOT_KNOWN: "no run of {0} to a target is known to us",
    FitNote.EMULATION_NOT_KNOWN: "no MLPerf Storage result of {0} with emulated {1} is known",
    FitNote.FOR_CHECKS_ONLY: "an input is missing or odd: predicted, not fitted",
    FitNote.ONLY_FLOP_PUBLISHED: "only TFLOP/s are published, not how they are counted",
    FitNote.NOTHING_PUBLISHED: "no published rate, time or memory is known to us",
    FitNote.STACK_NOT_MEASURED: "no fitted run has the software '{0}'",
    FitNote.GPU_PRECISION_NOT_MEASURED: "no fitted run has {0}",
    FitNote.MODEL_NOT_MEASURED: "no fitted run is of the family of {0}",
    FitNote.PART_GUESSED: "{0} not stated: the usual is taken",
    FitNote.LAYOUT_CONTRADICTS: (
        "the layout contradicts the number of GPUs, layers or sequences: the usual is taken instead"
    ),
    FitNote.GPU_NOT_IN_CATALOGUE: "GPU '{0}' is not in the catalogue",
    FitNote.PRECISION_NOT_STATED: "precision not stated",
    FitNote.PRECISION_WITHOUT_PEAK: "the catalogue has no peak for {0}",
    FitNote.COUNTS_NOT_STATED: "number of servers or GPUs not stated",
    FitNote.UNEVEN_GPUS: "{0} GPUs do not spread evenly over {1} servers",
    FitNote.INTER_LINK_UNKNOWN: "link '{0}' between the servers is not known",
    FitNote.INTER_LINK_NOT_STATED: "link between the servers not stated",
    FitNote.INTRA_LINK_UNKNOWN: "link inside the servers not known",
    FitNote.STACK_UNKNOWN: "software '{0}' is not in the catalogue",
    FitNote.MESSAGE_NOT_BYTES: "size of the message is not a number of bytes",
    FitNote.LOADER_OR_CORES_NOT_STATED: "loader or cores not stated",
    FitNote.LOADER_UNKNOWN: "loader '{0}' is not known",
    FitNote.GPU_DECODES: "the GPU decodes, so a core of the host decodes nothing",
    FitNote.FORMAT_NOT_MODELLED: "host work of the sample format '{0}' is not modelled",
    FitNote.SAMPLE_BYTES_NOT_STATED: "bytes of a sample not stated",
    FitNote.CORES_UNKNOWN: "cores of the run not known",
    FitNote.RATE_UNKNOWN: "rate of the run not known",
    FitNote.NO_RECIPE: "the catalogue has no recipe for '{0}'",
    FitNote.BATCH_NOT_STATED: "global batch not stated",
    FitNote.RUN_NOT_DESCRIBED: "run not described",
    FitNote.DATASET_UNKNOWN: "data set of the run not known",
    FitNote.SPEEDUP_BASE_UNKNOWN: "speed-up over a base that the row does not describe",
    FitNote.CACHE_NOT_DESCRIBED: "an ideal cache, or access pattern not stated",
    FitNote.NO_FIT_WITHOUT_SOURCE: "predicted by the fit in use only",
    FitNote.AS_RECORDED: "{0}",
    FitNote.ONE_SERVER_ASSUMED: "servers not stated: one server with {0} GPUs assumed",
    FitNote.INTER_LINK_ASSUMED: "link between the servers not stated: {0} assumed",
    FitNote.RECIPE_ASSUMED: "recipe not published for this source: {0} assumed",
    FitNote.STACK_PRECISION: "{0} was not measured in {1} precision: its rate is estimated from its framework",
    FitNote.DNN_FROM_LIKE: "no published run used here trains {0}: its rate is estimated from {1}",
    FitNote.DNN_FROM_POOL: "no published run used here trains {0}: its rate is estimated from all neural networks",
    FitNote.DNN_OF_KIND: (
        "the rate of {0} is that of {1} published trainings of its kind ({2}), each with its team's own code"
    ),
    FitNote.DNN_OF_TUNED_KIND: (
        "the rate of {0} is that of {1} published runs of its kind ({2}), tuned by vendors or on prepared data, less "
        "what other kinds lose as people train them"
    ),
    FitNote.BATCH_TAKEN: "the batch of {0} per GPU is an assumption, and decides how many GPUs are needed",
    FitNote.MEASURED_FAR: (
        "your measured rate is {0} times what such networks reach: check its unit, the number of GPUs and the network"
    ),
    FitNote.DNN_FROM_FAMILY: "{0} was not measured in {1} precision: its rate is estimated from similar networks",
    FitNote.MODEL_FROM_SHAPE: (
        "no run known to us trains {0}: its rate is derived from its shape, as fitted to other models"
    ),
    FitNote.DNN_WITH_STACK: "{0} was not measured with {1} in {2} precision ({3})",
    FitNote.GENERATION_NOT_MEASURED: (
        "no GPU of the generation of the {0} was measured: rates are not predicted; figures are extrapolated from "
        "other GPUs by their peak"
    ),
    FitNote.GPU_MOVED_FROM_V100: "{0} was not measured on {1}: its V100 rate is extrapolated by what {2} gained",
    FitNote.MLPERF_DNN_ON_GPU: "no MLPerf run has {0} on {1}: its rate comes from runs on other GPUs",
    FitNote.MLPERF_GENERATION: "no tuned MLPerf run is of the generation of {0}: its level is that of Hopper, by the "
    "matrix products that were measured",
    FitNote.RATE_OF_OWN_CODE: (
        "the rate is that of people's own code; MLPerf submissions, tuned by vendors, are {0} times as fast"
    ),
    FitNote.MORE_ACCELERATORS: "published runs of {0} on {1} have at most {2} GPUs; {3} is extrapolated",
    FitNote.CONTEXT_BEYOND: "requests of {0} tokens are longer than those of every published run used here ({1}): "
    "their rates and times are not calibrated",
    FitNote.RATE_BY_PEAK: (
        "no published run has a GPU of the generation of the {0}: its rate follows from its peak alone, which widens "
        "the interval"
    ),
    FitNote.GPU_FROM_GENERATION: "no published run used here has the {0}: its rate is that of its generation",
    FitNote.EXCHANGE_FROM_POOL: (
        "published runs of {0} used one server only: the exchange between servers is estimated from other software"
    ),
    FitNote.BATCH_OUTSIDE: (
        "{0} was published with {1} samples per GPU in {2} precision, not {3}: the rate is an extrapolation"
    ),
    FitNote.EPOCHS_OUTSIDE: "epochs of {0} are published for a global batch of {1}: this is an extrapolation",
    FitNote.LOADER_NOT_MEASURED: "the load of the {0} loader on the host processors was not measured",
    FitNote.DALI_FROM_THREADS: "the GPU decodes: the host's work is derived from published thread counts",
    FitNote.LARGE_IMAGES: (
        "images of {0} are decoded on the GPU, and published runs decode images of {1}: what the larger ones take of "
        "the GPU is not in the rate; measure it before ordering"
    ),
    FitNote.LOADER_ASSUMED: "the stack was measured without a loader: decoding with TensorFlow's loader is assumed",
    FitNote.HOST_LINE_ASSUMED: (
        "the host's work per sample for {0} is not known to us: a wide assumption is used; "
        "state the core time of a sample of yours"
    ),
}
# Their second and third values are the least and the most published; one published value is no range.
_PUBLISHED_RANGES = (FitNote.BATCH_OUTSIDE, FitNote.EPOCHS_OUTSIDE)
_USES = {
    RowUse.CALIBRATED: "calibrated on",
    RowUse.CALIBRATED_HOST: "calibrated on (host decode)",
    RowUse.PREDICTED: "predicted",
    RowUse.PREDICTED_WITHOUT_SOURCE: "predicted without its source",
    RowUse.EXCLUDED: "excluded from the fit",
    RowUse.OUTSIDE: "not predicted",
    RowUse.NOT_MODELLED: "not modelled",
}


def note_text(note: CalibrationNote) -> str:
    """A note in words, as they stand inside a sentence."""
    if note.kind is FitNote.MORE_GPUS:
        stack, most, n_gpus = note.values
        gpus = by_count(int(most), "1 GPU", f"{grouped(float(most))} GPUs")
        return f"{stack} was published on at most {gpus}, not {grouped(float(n_gpus))}: its scaling is an extrapolation"
    if note.kind is FitNote.NO_RECIPE and note.values == ("",):
        return note_text(CalibrationNote(FitNote.DNN_NOT_NAMED))
    longest = None if note.kind is FitNote.AS_RECORDED else _MOST_CHARACTERS
    values = [_value(value, longest) for value in note.values]
    if note.kind in _PUBLISHED_RANGES:
        values[1:3] = [values[1] if values[1] == values[2] else f"{values[1]} to {values[2]}"]
    return _TEXTS[note.kind].format(*values)


def _value(value: str | float, longest: int | None) -> str:
    if not isinstance(value, str):
        return plain(value)
    text = "".join(one if one.isprintable() else " " for one in value)
    return text if longest is None else shortened(text, longest)


def note_texts(notes: Iterable[CalibrationNote]) -> tuple[str, ...]:
    """Several notes, each once."""
    return tuple(dict.fromkeys(note_text(note) for note in notes))


def status_text(status: RowStatus) -> str:
    """Use of a published number, with its reason: 'excluded from the fit: no GPU took part'."""
    use = _USES[status.use]
    return use if status.reason is None else f"{use}: {note_text(status.reason)}"


NOT_PREDICTED = "not predicted"


def throughput_text(answer: WorkloadAnswer) -> str:
    """Throughput with its interval, or that it is not predicted."""
    return rate_text(answer, answer.throughput)


def rate_text(answer: WorkloadAnswer, rate: Estimate) -> str:
    """A rate of a workload with its interval, or that it is not predicted."""
    return words.estimate(rate, words.sample_unit(answer.dnn)) if answer.rate_is_predicted else NOT_PREDICTED


def rounded_throughput(answer: WorkloadAnswer, *, with_unit: bool = True) -> str:
    """Throughput to three digits, or that it is not predicted."""
    if not answer.rate_is_predicted:
        return NOT_PREDICTED
    if not with_unit:
        return significant(float(answer.throughput.value))
    return words.rounded(answer.throughput, words.sample_unit(answer.dnn))


def time_text(answer: WorkloadAnswer) -> str:
    """Time to train with its interval, or that it is not predicted; "" without a length."""
    if answer.time is None:
        return ""
    if not answer.rate_is_predicted:
        return NOT_PREDICTED
    return words.estimate(answer.time.total_s, "s", like=compared_time_s(answer))


def compared_time_s(answer: WorkloadAnswer) -> float | None:
    """Time whose unit a time to train is printed in: that of the target, unless it is less than one of it. [s]"""
    target_s = answer.workload.target.time_to_train_s
    if target_s is None or answer.time is None:
        return None
    factor, _ = scaled_unit(target_s, "s")
    value = float(answer.time.total_s.value)
    return target_s if value >= factor else value


def evidence_warning(answer: WorkloadAnswer) -> str:
    """What the first page says of a wide interval that no published run of the workload supports; "" otherwise."""
    interval = wide_interval_text(answer)
    if not (answer.rate_is_predicted and interval):
        return ""
    if answer.kind.trains_language and not answer.trained.basis.all_three:
        return f"No run known to us combines model, GPU, number format and software stack{interval}."
    if not answer.unmeasured:
        return ""
    return f"{words.sentence(note_texts(answer.unmeasured)[0]).rstrip('.')}{interval}."


def wide_interval_text(answer: WorkloadAnswer) -> str:
    """A wide interval of the rate as a clause; "" where it is narrow."""
    _, low, high = (float(end) for end in answer.throughput)
    if high / low < _WIDE:
        return ""
    unit = words.sample_unit(answer.dnn)
    return f"; the 90\u202f% interval runs from {significant(low)} to {significant(high)} {unit}"
