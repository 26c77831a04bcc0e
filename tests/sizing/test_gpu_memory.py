"""What must fit the GPUs: batches that a request states, batches that it leaves open, and divided state."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sizer import DesignAnswer, InfeasibleError, SizingRequest, project
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import FactKind, Limit
from sizer.sizing.recommend import search
from sizer.sizing.stages.gpu_memory import memory_of, resolved
from sizer.sizing.stages.sharding import Sharding, embedding_parameters, looked_up_bytes
from sizer.workload.resolve import ResolvedWorkload
from tests.factories.examples import catalog

GPT2 = {"name": "GPT-2 XL", "forward_flop": 3.5e12, "parameters": 1.5e9, "input_bytes": 4096, "like": "bert-large"}
DLRM = {"name": "DLRM", "forward_flop": 5e6, "parameters": 10e9, "input_bytes": 160, "like": "ncf"}
TOKENS = {"name": "tokens", "n_samples": 1e7, "sample_bytes": "2 kB", "format": "decoded tensors"}
CLICKS = {"name": "clicks", "n_samples": 4e9, "sample_bytes": "160 B", "format": "decoded tensors"}


def request(dnn: object, gpus: tuple[str, ...] = (), **keys: Any) -> SizingRequest:
    """A training at 10 samples/s, so that memory decides rather than rate."""
    work = {"dnn": dnn, "target": {"samples_per_s": 10}, **keys}
    platforms = {"gpus": list(gpus)} if gpus else {"generations": ["volta"]}
    return SizingRequest.from_dict({"workload": [work], "platforms": platforms})


def resolved_work(asked: SizingRequest) -> ResolvedWorkload:
    """Its only workload with the batches of all GPUs."""
    return resolved(asked, catalog(), stored_calibration())[0]


def designed(asked: SizingRequest) -> DesignAnswer:
    """The design of a request."""
    return best_design(asked, catalog()).design


@pytest.mark.parametrize(
    ("dnn", "gpu", "least", "most"),
    [
        # NVIDIA's published runs: BERT-large at 512 tokens, 4 to 6 on 16 GB; 8 to 14 in NGC containers on 32 GB.
        ("bert-large", "v100-sxm2-16gb", 4, 6),
        ("bert-large", "v100-sxm3-32gb", 8, 14),
        # MLPerf v0.6 and v0.7: 4 to 6 images a GPU on DGX-1 and DGX-2.
        ("mask-rcnn", "v100-sxm2-16gb", 4, 6),
        ("mask-rcnn", "v100-sxm3-32gb", 4, 6),
        # DeepLearningExamples: 256 with mixed precision on 16 GB; the most published is 384.
        ("resnet50", "v100-sxm2-16gb", 128, 256),
        ("resnet50", "v100-sxm3-32gb", 128, 384),
    ],
)
def test_default_batches_are_those_of_published_runs(dnn: str, gpu: str, least: int, most: int) -> None:
    assert least <= resolved_work(request(dnn)).batch_on(gpu) <= most


def test_a_network_like_one_of_mlperf_takes_its_batches_on_the_gpus_of_these_runs() -> None:
    """MLPerf v3.0 to v5.0: DLRM-DCNv2 with 6,912 to 13,824 samples a GPU; of V100 it has no runs."""
    own = DLRM | {"like": "dlrm-dcnv2", "parameters": 1e9}
    work = resolved_work(request(own, gpus=("h200-sxm-141gb", "v100-sxm2-16gb")))
    assert 6_912 <= work.batch_on("h200-sxm-141gb") <= 13_824
    assert work.batch_on("v100-sxm2-16gb") <= 128


def test_a_stated_batch_is_kept_on_every_gpu() -> None:
    work = resolved_work(request("resnet50", batch_per_gpu=96))
    assert {work.batch_on(gpu) for gpu in catalog().gpus} == {96}


def test_bert_at_65536_is_refused_with_the_largest_batch() -> None:
    """A sample of 512 tokens keeps about 1 GB, 65,536 of them 70 TB. MLPerf v0.7 ran 27 on the 32 GB of a DGX-2."""
    with pytest.raises(InfeasibleError, match=r"GPU memory.*largest batch that fits is 27 on"):
        designed(request("bert-large", batch_per_gpu=65_536))


def test_a_batch_that_fits_32_gb_excludes_16_gb() -> None:
    """12 sequences of about 1.2 GB and 5.4 GB of state need 20 GB, more than any 16 GB GPU has."""
    asked = request("bert-large", batch_per_gpu=12)
    design = designed(asked)
    assert design.platform.gpu.memory_bytes.value > 30e9
    counts = search(asked, catalog(), stored_calibration())
    fits = counts.evaluated.passes[Limit.GPU_MEMORY].reshape(counts.evaluated.space.n_platforms, -1)
    for platform, keeps in zip(counts.evaluated.platforms, fits, strict=True):
        assert keeps.all() == (platform.gpu.memory_bytes.value > 30e9)
    with pytest.raises(InfeasibleError, match="GPU memory"):
        designed(request("bert-large", ("v100-sxm2-16gb",), batch_per_gpu=12))


def test_gpt2_takes_32_gb_gpus_with_divided_state() -> None:
    """24 GB of state; on 8 GPUs 4 bytes and 12/8 bytes of each parameter are 8.25 GB (ZeRO paper, table 1)."""
    design = designed(request(GPT2, dataset=TOKENS, batch_per_gpu=8))
    memory = design.workloads[0].memory
    assert design.platform.gpu.memory_bytes.value > 30e9
    assert memory.sharding is Sharding.OPTIMIZER
    assert memory.state_bytes == pytest.approx(6e9 + 18e9 / design.n_gpus)
    assert memory.probability >= 0.9
    # Its activations are those of its kind: that 16 GB are too few is likely, not known.
    open_design = designed(request(GPT2, ("v100-sxm2-16gb", "v100-pcie-16gb"), dataset=TOKENS, batch_per_gpu=8))
    assert FactKind.GPU_MEMORY in {fact.kind for fact in open_design.conditional_on}
    with pytest.raises(InfeasibleError, match="GPU memory"):
        designed(request(GPT2, ("v100-sxm2-16gb", "v100-pcie-16gb"), dataset=TOKENS, batch_per_gpu=64))


def test_embeddings_are_divided_over_the_gpus() -> None:
    """10 G parameters, of which 2.5 M are layers: 40 GB of fp32 tables, 5 GB on each of 8 GPUs.

    A record of 160 bytes has 40 indices; each reads 128 numbers of 2 bytes: 10,240 bytes.
    """
    work = resolved_work(request(DLRM, dataset=CLICKS, batch_per_gpu=2048))
    assert embedding_parameters(work) == pytest.approx(10e9 - 2.5e6)
    assert looked_up_bytes(work) == pytest.approx(10_240)
    found = memory_of(work, stored_calibration(), catalog())
    assert float(found.state_bytes(8)) == pytest.approx(5e9, rel=0.02)
    assert designed(request(DLRM, dataset=CLICKS, batch_per_gpu=2048)).n_gpus <= 16


def test_stated_tables_count_before_derived_ones() -> None:
    work = resolved_work(request({**DLRM, "embedding_parameters": 8e9}, dataset=CLICKS))
    assert embedding_parameters(work) == 8e9


def test_networks_of_the_catalogue_are_not_divided() -> None:
    for dnn in catalog().dnns.values():
        if dnn.transformer is not None or dnn.parameters.value > 0.9e9:
            continue  # divided as its layout says; a state of 16 bytes a parameter fills most of the smallest GPU
        work = resolved_work(request(dnn.id))
        assert memory_of(work, stored_calibration(), catalog()).sharding is Sharding.NONE
        assert looked_up_bytes(work) == 0


def test_inference_takes_less_than_training() -> None:
    """No gradients, no optimizer, and activations are freed layer by layer."""
    training = memory_of(resolved_work(request("resnet50")), stored_calibration(), catalog())
    inference = memory_of(
        resolved_work(request("resnet50", task="validation-inference")), stored_calibration(), catalog()
    )
    assert inference.state_bytes(1) < training.state_bytes(1)
    assert inference.sample_bytes < training.sample_bytes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    dnn=st.sampled_from(["resnet50", "bert-large", "mask-rcnn", "unet3d", "vgg16", "ncf"]),
    batch=st.integers(1, 60_000),
    precision=st.sampled_from(["mixed", "fp32"]),
)
def test_more_memory_and_smaller_batches_never_fit_less(dnn: str, batch: int, precision: str) -> None:
    found = memory_of(
        resolved_work(request(dnn, batch_per_gpu=batch, precision=precision)), stored_calibration(), catalog()
    )
    memory = np.sort([gpu.memory_bytes.value for gpu in catalog().gpus.values()])
    by_memory = found.fit_probability(memory, batch, 8)
    assert (np.diff(by_memory) >= 0).all()
    by_batch = found.fit_probability(16e9, np.array([batch, batch + 1, 2 * batch]), 8)
    assert (np.diff(by_batch) <= 0).all()


def test_what_a_smaller_gpu_runs_a_larger_one_is_not_refused() -> None:
    """The same boards with both sizes of memory: a batch that fits 16 GB fits 32 GB."""
    takes: dict[str, list[int]] = {}
    for gpu in ("v100-sxm2-16gb", "v100-sxm2-32gb"):
        for batch in (1, 4, 8, 256):
            with suppress(InfeasibleError):
                best_design(request("bert-large", (gpu,), batch_per_gpu=batch), catalog())
                takes.setdefault(gpu, []).append(batch)
    assert takes == {"v100-sxm2-16gb": [1, 4], "v100-sxm2-32gb": [1, 4, 8]}


def test_a_given_cluster_is_refused_a_batch_that_does_not_fit() -> None:
    """27 sequences ran on the 32 GB of a DGX-2 (MLPerf v0.7), 64 on no V100; a published batch of 6 fits 16 GB."""
    places = {"server": "dgx-1", "servers": 1, "storage": "dgx1-ssd", "storage_nodes": 0}
    for batch, gpu in ((64, "v100-sxm2-32gb"), (12, "v100-sxm2-16gb")):
        with pytest.raises(InfeasibleError, match="largest batch that fits"):
            project(request("bert-large", batch_per_gpu=batch), catalog(), gpu=gpu, **places)
    assert project(request("bert-large", batch_per_gpu=6), catalog(), gpu="v100-sxm2-16gb", **places).n_gpus == 8
