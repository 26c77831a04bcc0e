"""What the host reads for one sample of a workload: as stated, or derived from data set and network."""

from collections.abc import Mapping
from enum import Enum

from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Dataset, Dnn
from sizer.workload.custom_network import CustomDnn
from sizer.workload.request import Workload

# No camera writes JPEG files of this size: a larger image is read in tiles.
_LARGEST_JPEG_BYTES = 50e6
# No network of images takes less than 64 x 64 pixels in three colours.
_LEAST_IMAGE_INPUT_BYTES = 64 * 64 * 3
# A sequence of tokens is longer than a row of a table.
_LARGEST_ROW_BYTES = 1e3
# A tile takes about a fifth of its pixels as JPEG, and a random crop touches two to three stored tiles.
_TILE_SHARE_OF_PIXELS = 0.5


class FormatBasis(Enum):
    """What a sample format was derived from."""

    STATED = "stated"
    DATA_SET = "data-set"
    NETWORK = "network"
    SIZE = "size"


# Arrays of volumes are cropped to a tenth or more; a tile is a thousandth of its slide.
_SLIDE_SHARE = 1e-3
_ROWS = ("user-item pair", "table row", "graph node")
_TEXT = ("sentence pair", "sequence")


def sample_format(
    work: Workload, dataset: Dataset, dnn: Dnn, like: Dnn | None, sample_bytes: float, datasets: Mapping[str, Dataset]
) -> tuple[SampleFormat, FormatBasis]:
    """Sample format of a workload, and what says so.

    ``work``: its own statement comes first. ``dataset``: decoded tensors are what they are; data sets of the catalogue
    say what a sample is. ``dnn``, ``like``: network, and the one of the catalogue that a network of the request is
    like. ``sample_bytes``: sample as stored; decides where nothing else does [B]. ``datasets``: data sets of the
    catalogue: records for a network that is trained on tensors (latents) hold such.
    """
    if work.sample_format is not None:
        return SampleFormat(work.sample_format), FormatBasis.STATED
    if isinstance(work.dnn, CustomDnn) and work.dnn.kind == "volume":  # augmented, however they are stored
        return SampleFormat.VOLUMES, FormatBasis.NETWORK
    if dataset.format == "decoded tensors":
        return SampleFormat.TENSORS, FormatBasis.DATA_SET
    known = datasets.get(dnn.dataset)
    takes_tensors = known is not None and known.format == "decoded tensors" and dataset.format != "raw files"
    for kind, basis in (
        (dataset.sample, FormatBasis.DATA_SET),
        (dnn.sample, FormatBasis.NETWORK),
        (like.sample if like is not None else "sample", FormatBasis.NETWORK),
    ):
        if kind == "volume":
            return SampleFormat.VOLUMES, basis
        if kind in _ROWS:
            return SampleFormat.TABULAR, basis
        if kind == "utterance":
            return SampleFormat.AUDIO, basis
        if kind in _TEXT:
            # Records of a text pipeline hold token numbers; files of it hold text.
            return (SampleFormat.TEXT if dataset.format == "raw files" else SampleFormat.TOKENS), basis
        if kind == "image" and takes_tensors and basis is FormatBasis.NETWORK:
            return SampleFormat.TENSORS, basis
        if kind == "image":
            return (SampleFormat.SLIDES if sample_bytes > _LARGEST_JPEG_BYTES else SampleFormat.JPEG), basis
    return _by_size(sample_bytes, dnn.input_bytes.value), FormatBasis.SIZE


def _by_size(sample_bytes: float, input_bytes: float) -> SampleFormat:
    """Format of samples that nothing describes; an image, which costs the hosts most, wherever it can be one."""
    if input_bytes < _LEAST_IMAGE_INPUT_BYTES:
        return SampleFormat.TABULAR if sample_bytes <= _LARGEST_ROW_BYTES else SampleFormat.TOKENS
    if sample_bytes <= _LARGEST_JPEG_BYTES:
        return SampleFormat.JPEG
    # A large picture of which the network takes a small part, or an array that it takes whole.
    return SampleFormat.SLIDES if input_bytes < _SLIDE_SHARE * sample_bytes else SampleFormat.VOLUMES


def read_bytes(found: SampleFormat, stored_bytes: float, input_bytes: float) -> float:
    """Bytes that storage serves for a sample: of a slide a tile, else the whole sample. [B]"""
    if found is not SampleFormat.SLIDES:
        return stored_bytes
    return min(stored_bytes, max(1.0, _TILE_SHARE_OF_PIXELS * input_bytes))
