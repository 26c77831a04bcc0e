"""FLUX.1 in the catalogue: its counts follow from its shape."""

import pytest

from sizer.catalog.loader import shipped_catalog

# black-forest-labs/flux, src/flux/util.py, flux-schnell.
HIDDEN, DOUBLE_BLOCKS, SINGLE_BLOCKS, HEADS = 3072, 19, 38, 24
CHANNELS, TEXT, VECTOR, TIME = 64, 4096, 768, 256
# mlcommons/training, text_to_image/README.md: 256 x 256 images as 32 x 32 latents, in patches of 2 x 2; T5 of 256.
IMAGE_TOKENS, TEXT_TOKENS = 256, 256


def linear(inputs: int, outputs: int) -> int:
    """Weights and biases."""
    return inputs * outputs + outputs


def test_parameters_follow_from_the_shape():
    """A double block has two streams of modulation, qkv, norms of a head, projection and MLP; the others have one."""
    h, norms = HIDDEN, 2 * HIDDEN // HEADS
    stream = linear(h, 6 * h) + linear(h, 3 * h) + norms + linear(h, h) + linear(h, 4 * h) + linear(4 * h, h)
    single = linear(h, 3 * h) + linear(h, 7 * h) + norms + linear(5 * h, h)
    embeddings = linear(TIME, h) + linear(h, h) + linear(VECTOR, h) + linear(h, h)
    ends = linear(CHANNELS, h) + linear(TEXT, h) + linear(h, CHANNELS) + linear(h, 2 * h)
    found = shipped_catalog().dnns["flux-1"].parameters.value
    assert found == DOUBLE_BLOCKS * 2 * stream + SINGLE_BLOCKS * single + embeddings + ends
    assert found == pytest.approx(11.9e9, rel=0.002)  # as MLPerf prints it


def test_arithmetic_follows_from_the_shape():
    """Weights of a stream count for its own tokens, those of a single block for all, modulation once a sample."""
    h, tokens = HIDDEN, IMAGE_TOKENS + TEXT_TOKENS
    double = 12 * h * h * IMAGE_TOKENS + 12 * h * h * TEXT_TOKENS + 2 * 6 * h * h
    single = 12 * h * h * tokens + 3 * h * h
    attention = 2 * tokens * tokens * h
    ends = CHANNELS * h * IMAGE_TOKENS + TEXT * h * TEXT_TOKENS + h * CHANNELS * IMAGE_TOKENS + 2 * h * h
    once = TIME * h + VECTOR * h + 2 * h * h
    multiply_adds = DOUBLE_BLOCKS * double + SINGLE_BLOCKS * single + ends + once
    multiply_adds += (DOUBLE_BLOCKS + SINGLE_BLOCKS) * attention
    assert shipped_catalog().dnns["flux-1"].forward_flop.value == pytest.approx(2 * multiply_adds, rel=1e-3)


def test_the_data_set_is_as_large_as_its_read_me_says():
    """About 2.5 TB with the samples of the evaluation."""
    data = shipped_catalog().datasets["cc12m-flux-encodings"]
    assert data.n_validation_samples is not None
    samples = data.n_samples.value + data.n_validation_samples.value
    assert samples * data.sample_bytes.value == pytest.approx(2.5e12, rel=0.03)
