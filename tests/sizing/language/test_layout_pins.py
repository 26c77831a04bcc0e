"""What a request fixes of a language model: degrees of the layout, methods, packing, and a shape of its own."""

import pytest

from sizer.base.errors import InfeasibleError, RequestError
from sizer.sizing.best_design import best_design
from sizer.sizing.stages.language_rates import layout_refusal
from sizer.workload.request import SizingRequest
from tests.factories import examples

DGX_H100 = {"servers": ["dgx-h100"]}


def sized(dnn="llama-3-70b", target=None, platforms=None, **work):
    data = {"workload": [{"dnn": dnn, "target": target or {"gpus_busy": 64}, "tokens": 1e11, **work}]}
    return best_design(SizingRequest.from_dict(data | {"platforms": platforms or DGX_H100}), examples.catalog())


def answer(**given):
    return sized(**given).design.workloads[0]


def test_the_layout_is_the_one_that_is_fixed():
    pins = {"tensor": 4, "pipeline": 4, "context": 2, "chunks": 5, "micro_batch": 1, "data": 2, "recompute": "none"}
    found = answer(layout=pins, batch_sequences=128).language.layout
    got = (found.tensor, found.pipeline, found.virtual, found.context, found.data, found.micro_batch, found.recompute)
    assert got == (4, 4, 5, 2, 2, 1, 0)
    # NVIDIA prints 1,113 to 1,121 tokens/s a GPU for this layout (Megatron-Bridge and dgxc-benchmarking recipes).
    assert float(found.tokens_per_s.value) / 64 == pytest.approx(1117, rel=0.05)
    # It ran on 80 GB, so it fits.
    assert found.probability_fits >= 0.95


def test_sharding_and_recomputation_are_obeyed():
    found = answer(layout={"sharding": "all", "recompute": "full"}).language.layout
    assert found.is_fully_sharded
    assert found.recompute == 1


@pytest.mark.parametrize(
    ("pins", "says"),
    [
        ({"tensor": 5}, "layout.tensor = 5 does not divide the 64 attention heads of Llama 3 70B; write 4 or 8"),
        ({"pipeline": 3}, "layout.pipeline = 3 does not divide the 80 layers"),
        ({"pipeline": 4, "chunks": 3}, "pipeline x chunks = 12 does not divide the 80 layers"),
        ({"expert": 2}, "is a dense model without experts"),
        ({"context": 3}, "layout.context = 3 does not divide the sequence of 8192 tokens; write at most 8192"),
        ({"tensor": 0}, "layout.tensor = 0 must be between 1 and"),
        ({"zero": 3}, "unknown key"),
    ],
)
def test_a_degree_that_divides_nothing_is_refused(pins, says):
    with pytest.raises(RequestError) as refused:
        sized(layout=pins)
    assert says in str(refused.value)


def test_tensor_parallelism_over_the_network_must_be_asked_for():
    with pytest.raises(
        InfeasibleError, match=r"tensor = 16 is more than the 8 GPUs .* across_servers = true"
    ) as refused:
        sized(layout={"tensor": 16})
    # The memory of the GPUs has nothing to do with it.
    assert str(refused.value).startswith("workload.0.layout.tensor = 16")
    assert answer(layout={"tensor": 16, "across_servers": True}).language.layout.tensor == 16


def test_a_layout_that_does_not_fit_says_what_it_takes():
    # 70.6e9 parameters of 16 bytes on one GPU: 1,050 GiB at least.
    with pytest.raises(InfeasibleError, match=r"the smallest layout takes 1[0-9]{3} GiB of the 80 GiB"):
        sized(layout={"tensor": 1, "pipeline": 1, "context": 1, "sharding": "none"})


def test_a_model_of_the_request_is_sized_on_todays_machines():
    """A shape equal to Llama 3 8B: the rates are those of the model, but for what is known of it alone."""
    shape = {"name": "ours", "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336}
    ours = answer(dnn=shape, target={"gpus_busy": 8})
    named = answer(dnn="llama-3-8b", target={"gpus_busy": 8})
    assert ours.dnn.parameters.value == pytest.approx(8.03e9, rel=1e-3)  # model card
    assert float(ours.throughput.value) == pytest.approx(float(named.throughput.value), rel=0.15)
    assert ours.throughput.log_sd > named.throughput.log_sd
    assert layout_refusal(ours.language.work, sized(dnn=shape).design.platform, 64, examples.catalog()) == ""


@pytest.mark.parametrize(("method", "sequences"), [("full", 512), ("continued", 512), ("fine-tuning", 64), ("lora", 8)])
def test_each_method_has_its_usual_batch(method, sequences):
    # 4 million tokens of 8,192; 64 sequences of Llama 2's fine-tuning; 8 of MLPerf's adapters.
    assert answer(dnn="llama-3-8b", target={"gpus_busy": 8}, method=method).language.batch == sequences


def test_packed_documents_spare_attention_and_padded_ones_waste_tokens():
    common = {"dnn": "llama-3-8b", "target": {"gpus_busy": 8}, "method": "fine-tuning", "sequence_tokens": 8192}
    whole, packed, padded = (
        float(answer(**common, **extra).throughput.value)
        for extra in ({}, {"document_tokens": 1024}, {"document_tokens": 1024, "packing": False})
    )
    assert packed > whole
    # An eighth of each sequence is text.
    assert padded == pytest.approx(whole / 8, rel=1e-6)
    with pytest.raises(RequestError, match="packing = false needs document_tokens"):
        answer(**common, packing=False)
