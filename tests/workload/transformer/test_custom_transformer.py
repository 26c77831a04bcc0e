"""Language models that a request describes by their shape, and what is said of shapes that cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.workload.request import SizingRequest
from sizer.workload.transformer.custom_transformer import CustomTransformer, shape_from_text
from tests.factories import examples

# Parameters as model cards and papers print them.
PUBLISHED = {
    "mixtral-8x7b": 46.7e9,
    "mixtral-8x22b": 141e9,
    "mistral-7b": 7.25e9,
    "kimi-k2": 1.04e12,
    "llama-4-maverick": 402e9,
    "llama-4-scout": 109e9,
    "llama-2-7b": 6.74e9,
    "llama-2-13b": 13.0e9,
    "qwen2.5-72b": 72.7e9,
    "qwen3-8b": 8.2e9,
    "qwen3-14b": 14.8e9,
    "qwen3-32b": 32.8e9,
    "qwen3-next-80b-a3b": 80e9,
    "deepseek-v3": 671e9,
    "grok-1": 314e9,
}
# Parameters that one token uses, with the head and without the embedding; of the cards: 12.9, 39, 32, 17, 3 and 37 G.
USED = {
    "mixtral-8x7b": 12.9e9,
    "mixtral-8x22b": 39e9,
    "kimi-k2": 32e9,
    "llama-4-maverick": 17e9,
    "qwen3-next-80b-a3b": 3e9,
    "deepseek-v3": 37e9,
}


@pytest.mark.parametrize(("model", "published"), PUBLISHED.items())
def test_shapes_of_the_catalogue_have_the_published_parameters(model, published):
    dnn = examples.catalog().dnns[model]
    # One percent of a number printed to two or three digits, norms and embeddings that are counted once.
    assert dnn.transformer.total_parameters == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize(("model", "published"), USED.items())
def test_a_token_uses_the_published_part_of_a_mixture(model, published):
    # Cards count the embedding, too, or leave out the head.
    assert examples.catalog().dnns[model].transformer.used_parameters == pytest.approx(published, rel=0.06)


def test_a_shape_is_completed_as_usual():
    # hidden 5,120 are 40 heads of 128; gated blocks of 3.5 x 5,120
    found = shape_from_text("ours", "layers=40 hidden=5120")
    assert (found.heads, found.kv_heads, found.head_size, found.ffn, found.gated) == (40, 40, 128, 17920, True)


@given(parameters=st.floats(3e8, 1e12))
def test_parameters_alone_give_a_shape_of_about_as_many(parameters):
    found = CustomTransformer.model_validate({"name": "ours", "parameters": parameters})
    assert found.total_parameters == pytest.approx(parameters, rel=0.12)
    assert found.heads % found.kv_heads == 0
    # The file that is written back is the shape.
    assert CustomTransformer.model_validate(found.model_dump(exclude_none=True)) == found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("layers=0 hidden=5120", "layers = 0 must be between 1 and 10000"),
        ("layers=40 hidden=5120 heads=48", "heads = 48 does not divide hidden = 5120"),
        ("layers=40 hidden=5120 heads=40 kv_heads=7", "heads = 40 must be a multiple of kv_heads = 7"),
        ("1e15", "must be between 1e6 and 1e13"),
        ("layers=5000 hidden=131072", "parameters; at most 1e13"),
        ("layers=40 hidden=5120 heds=40", "did you mean 'heads'"),
        ("layers=40", "hidden missing"),
        ("layer=32 hidden=4096", "unknown key 'layer'; did you mean 'layers'"),
        ("layers=x hidden=5120", "layers = 'x' is not a whole number"),
        ("layers=40 hidden=5120 experts=64 active_experts=4", "expert_ffn is missing"),
        ("layers=40 hidden=5120 experts=4 active_experts=8 expert_ffn=64", "active_experts = 8 must be at most"),
        ("layers=40 hidden=5120 attention=sliding", "window, its number of tokens, must be given together"),
        ("layers=40 hidden=5120 attention=latent", "kv_rank is missing"),
        ("layers=40 hidden=5120 parameters=13e9", "not both"),
        ("layers=40 hidden=5000", "heads is missing"),
    ],
)
def test_a_shape_that_cannot_be_gets_one_sentence(text, says):
    with pytest.raises(RequestError) as refused:
        shape_from_text("ours", text)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_request_tells_a_shape_from_numbers():
    target = {"tokens_per_s": 1e5}
    shape = {"name": "ours", "layers": 40, "hidden": 5120}
    read = SizingRequest.from_dict({"workload": [{"dnn": shape, "target": target}]})
    assert isinstance(read.workload[0].dnn, CustomTransformer)
    numbers = {"name": "mine", "forward_flop": 8e9, "parameters": 25e6, "input_bytes": 6e5}
    read = SizingRequest.from_dict({"workload": [{"dnn": numbers, "target": {"samples_per_s": 1000}}]})
    assert read.workload[0].dnn.parameters == 25e6
    with pytest.raises(RequestError, match=r"workload\[0\].dnn.fnn'; did you mean 'ffn'"):
        SizingRequest.from_dict({"workload": [{"dnn": shape | {"fnn": 1}, "target": target}]})
