"""How a sample lies in storage, as far as it decides what the host does with it, and the words for it."""

from enum import StrEnum


class SampleFormat(StrEnum):
    """What the host reads for one sample; each has its own line of host work."""

    JPEG = "jpeg"  # a compressed image, as a file of its own or inside a record
    SLIDES = "slides"  # a very large compressed image, of which a sample is one tile
    TENSORS = "tensors"  # decoded arrays: copied, cropped and flipped
    VOLUMES = "volumes"  # three-dimensional arrays: read whole, cropped and augmented
    TOKENS = "tokens"  # text that is numbers already
    TEXT = "text"  # plain text, split into tokens while the GPUs run
    TABULAR = "tabular"  # rows of numbers and categories, such as clicks
    AUDIO = "audio"  # compressed sound
    VIDEO = "video"  # compressed clips


def is_compressed_image(sample_format: SampleFormat) -> bool:
    """Whether a loader decodes the samples as images, on the host or on the GPU."""
    return sample_format in (SampleFormat.JPEG, SampleFormat.SLIDES)


# As a sentence names the samples.
FORMAT_NAMES: dict[SampleFormat, str] = {
    SampleFormat.JPEG: "compressed images",
    SampleFormat.SLIDES: "tiles of slides",
    SampleFormat.TENSORS: "decoded tensors",
    SampleFormat.VOLUMES: "volumes",
    SampleFormat.TOKENS: "token records",
    SampleFormat.TEXT: "text",
    SampleFormat.TABULAR: "table rows",
    SampleFormat.AUDIO: "audio",
    SampleFormat.VIDEO: "video clips",
}
# What the processors of the hosts do with them.
HOST_STEPS: dict[SampleFormat, str] = {
    SampleFormat.JPEG: "read, decode and crop",
    SampleFormat.SLIDES: "read and decode one tile",
    SampleFormat.TENSORS: "read, nothing to decode",
    SampleFormat.VOLUMES: "read, crop and augment, nothing to decode",
    SampleFormat.TOKENS: "read and batch, nothing to decode",
    SampleFormat.TEXT: "read and split into tokens",
    SampleFormat.TABULAR: "read and batch, nothing to decode",
    SampleFormat.AUDIO: "read and decode",
    SampleFormat.VIDEO: "read and decode",
}
