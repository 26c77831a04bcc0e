"""Words for the notes of the calibration: exclusions, missing predictions, assumptions and extrapolations."""

from collections.abc import Iterable

from sizer.base.quantities import by_count, grouped, plain
from sizer.calibrate.notes import CalibrationNote, NoteKind, RowStatus, RowUse
from sizer.present.words import shortened

_MOST_CHARACTERS = 60
# Values of a note stand in braces, in their order.
_TEXTS = {
    NoteKind.NO_GPU_RAN: "no GPU took part",
    NoteKind.GPU_UNKNOWN: "the GPU is not in the catalogue",
    NoteKind.INT8: "8-bit integers: the catalogue has no peak for them",
    NoteKind.EMULATED_COMPUTE: "emulated compute: a storage benchmark's waiting times, no training",
    NoteKind.RECOMMENDER: "recommender: embedding look-ups set the rate, not arithmetic",
    NoteKind.POOR_SCALING: (
        "8 GPUs reach 3.7 to 7.6 times the rate of one GPU, and the hardware is not the reason; "
        "the rows of one GPU are used"
    ),
    NoteKind.PARAMETER_SERVER: "parameter server: another exchange scheme",
    NoteKind.CPU_ALL_REDUCE: "all-reduce on the CPU: another exchange scheme",
    NoteKind.CPU_BOUND: "limited by the host's CPU: the rate describes the loader, not the GPU",
    NoteKind.DRIVE_BOUND: "limited by the local drives: the rate does not describe the GPUs",
    NoteKind.NOT_REPRODUCED: "not reproduced: 1,270 images/s here, 786 and 1,199 elsewhere",
    NoteKind.NOT_CAST: "half precision exactly as fast as single precision at every batch: the network was not cast",
    NoteKind.ABOVE_PEAK: (
        "up to 2.46 times the GPU's peak with 16 layers, where Winograd's algorithm saves at most 2.25 times: "
        "the column says VGG, and another depth was run"
    ),
    NoteKind.PROGRESSIVE_SIZES: "progressive image sizes: not comparable per image",
    NoteKind.SMALL_MESSAGE: "small message: latency sets the time, not the links",
    NoteKind.QUANTITY_NOT_MODELLED: "{0}",
    NoteKind.TASK_NOT_MODELLED: "rate of task {0}",
    NoteKind.STORAGE_ALONE: "rate of a storage system alone; the catalogue holds it",
    NoteKind.DNN_NOT_NAMED: "names no neural network",
    NoteKind.DNN_NOT_IN_CATALOGUE: "neural network '{0}' is not in the catalogue",
    NoteKind.GPU_NOT_NAMED: "names no GPU",
    NoteKind.GPU_NOT_IN_CATALOGUE: "GPU '{0}' is not in the catalogue",
    NoteKind.PRECISION_NOT_STATED: "precision not stated",
    NoteKind.PRECISION_WITHOUT_PEAK: "the catalogue has no peak for {0}",
    NoteKind.COUNTS_NOT_STATED: "number of servers or GPUs not stated",
    NoteKind.UNEVEN_GPUS: "{0} GPUs do not spread evenly over {1} servers",
    NoteKind.INTER_LINK_UNKNOWN: "link '{0}' between the servers is not known",
    NoteKind.INTER_LINK_NOT_STATED: "link between the servers not stated",
    NoteKind.INTRA_LINK_UNKNOWN: "link inside the servers not known",
    NoteKind.STACK_UNKNOWN: "software '{0}' is not in the catalogue",
    NoteKind.MESSAGE_NOT_BYTES: "size of the message is not a number of bytes",
    NoteKind.LOADER_OR_CORES_NOT_STATED: "loader or cores not stated",
    NoteKind.GPU_DECODES: "the GPU decodes, so a core of the host decodes nothing",
    NoteKind.SAMPLE_BYTES_NOT_STATED: "bytes of a sample not stated",
    NoteKind.CORES_UNKNOWN: "cores of the run not known",
    NoteKind.RATE_UNKNOWN: "rate of the run not known",
    NoteKind.NO_RECIPE: "the catalogue has no recipe for '{0}'",
    NoteKind.BATCH_NOT_STATED: "global batch not stated",
    NoteKind.RUN_NOT_DESCRIBED: "run not described",
    NoteKind.DATASET_UNKNOWN: "data set of the run not known",
    NoteKind.SPEEDUP_BASE_UNKNOWN: "speed-up over a base that the row does not describe",
    NoteKind.CACHE_NOT_DESCRIBED: "an ideal cache, or access pattern not stated",
    NoteKind.NO_FIT_WITHOUT_SOURCE: "predicted by the fit in use only",
    NoteKind.AS_RECORDED: "{0}",
    NoteKind.ONE_SERVER_ASSUMED: "servers not stated: one server with {0} GPUs assumed",
    NoteKind.INTER_LINK_ASSUMED: "link between the servers not stated: {0} assumed",
    NoteKind.RECIPE_ASSUMED: "recipe not published for this source: {0} assumed",
    NoteKind.STACK_PRECISION: "{0} was not measured in {1} precision: the rates are those of its framework's pool",
    NoteKind.DNN_FROM_LIKE: "{0} was not measured: it takes the efficiency of {1}",
    NoteKind.DNN_FROM_POOL: "{0} was not measured: it takes the efficiency of the pool of all neural networks",
    NoteKind.DNN_FROM_FAMILY: "{0} was not measured in {1} precision: the rates are those of its family's pool",
    NoteKind.DNN_WITH_STACK: "{0} was not measured with {1} in {2} precision ({3})",
    NoteKind.GPU_FROM_GENERATION: "{0} was not measured: it takes the efficiency of its generation",
    NoteKind.EXCHANGE_FROM_POOL: (
        "{0} was measured on one server only: the exchange between servers is that of the pool"
    ),
    NoteKind.BATCH_OUTSIDE: (
        "{0} was published with {1} to {2} samples per GPU in {3} precision, not {4}: the rate is an extrapolation"
    ),
    NoteKind.EPOCHS_OUTSIDE: "epochs of {0} are published for global batches of {1} to {2}: this is an extrapolation",
    NoteKind.LOADER_NOT_MEASURED: "the host's work of the {0} loader was not measured",
    NoteKind.DALI_FROM_THREADS: "the GPU decodes: the host's work is derived from published thread counts",
}
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
    if note.kind is NoteKind.MORE_GPUS:
        stack, most, n_gpus = note.values
        gpus = by_count(int(most), "1 GPU", f"{grouped(float(most))} GPUs")
        return f"{stack} was published on at most {gpus}, not {grouped(float(n_gpus))}: its scaling is an extrapolation"
    if note.kind is NoteKind.NO_RECIPE and note.values == ("",):
        return note_text(CalibrationNote(NoteKind.DNN_NOT_NAMED))
    longest = None if note.kind is NoteKind.AS_RECORDED else _MOST_CHARACTERS
    return _TEXTS[note.kind].format(*(_value(value, longest) for value in note.values))


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
