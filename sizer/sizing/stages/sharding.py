"""What of a training is divided over the GPUs, and what that makes of its exchange and its arithmetic."""

from enum import Enum

from sizer.catalog.schema import Dnn
from sizer.perf import exchange
from sizer.perf.training_step import TRAINING_PASSES
from sizer.workload.custom_network import CustomDnn
from sizer.workload.resolve import ResolvedWorkload

# From so many parameters on, networks are trained with their state divided over the GPUs: the first one, GPT-2 with
# 1.5 G (24 GB of state), fits no 16 GB GPU otherwise. Rajbhandari et al., "ZeRO," SC20, section 3.1.
DIVIDED_FROM_PARAMETERS = 1e9
# From so many on, weights and gradients are divided, too (FSDP): their 4 bytes a parameter fit no 32 GB GPU otherwise.
# torchtitan trains FLUX.1 with 11.9 G so (mlcommons-training, text_to_image/README.md).
WHOLLY_DIVIDED_FROM_PARAMETERS = 8e9
# Bytes that move then, over those of an all-reduce of the gradient: weights are gathered for both passes, and gradients
# scattered, each as much as half an all-reduce.
WHOLLY_DIVIDED_TRAFFIC = 1.5
# A table that is looked up is trained by plain SGD in fp32: 15.6 GiB for 4.2 G parameters, 84.9 GiB for 22.8 G
# (nvidia-dle-memory, doc/DLRM.md, "GPU memory required for training").
EMBEDDING_BYTES = 4.0
# Each parameter of the layers costs a multiply-add a sample; what a recommender has beyond them is looked up.
FLOP_PER_DENSE_PARAMETER = 2.0
# An index of 4 bytes reads one vector of 128 numbers (the published DLRM configurations).
INDEX_BYTES = 4.0
VECTOR_ELEMENTS = 128.0


class Sharding(Enum):
    """What of a training is divided over the GPUs instead of held by each."""

    NONE = "none"
    OPTIMIZER = "optimizer-state"  # with activations computed again in the backward pass
    STATE = "weights-and-state"  # the same with weights and gradients divided, too
    EMBEDDINGS = "embedding-tables"
    LAYOUT = "layout"  # as the parallel layout of a language model says


RECOMPUTED = (Sharding.OPTIMIZER, Sharding.STATE)


def embedding_parameters(work: ResolvedWorkload) -> float:
    """Parameters of a network that are looked up in tables; 0 for one that is not a recommender."""
    dnn = work.request.dnn
    if isinstance(dnn, CustomDnn) and dnn.embedding_parameters is not None:
        return dnn.embedding_parameters
    return looked_up_parameters(work.dnn, work.family)


def looked_up_parameters(dnn: Dnn, family: str) -> float:
    """Parameters of a network of a family that its arithmetic does not explain: tables of a recommender."""
    if family != "recommender":
        return 0.0
    return max(dnn.parameters.value - dnn.forward_flop.value / FLOP_PER_DENSE_PARAMETER, 0.0)


def sharding_of(work: ResolvedWorkload) -> Sharding:
    """What is divided over the GPUs."""
    if work.is_inference or work.dnn.parameters.value < DIVIDED_FROM_PARAMETERS:
        return Sharding.NONE
    parameters = work.dnn.parameters.value
    if embedding_parameters(work) >= parameters / 2:
        return Sharding.EMBEDDINGS
    return Sharding.OPTIMIZER if parameters < WHOLLY_DIVIDED_FROM_PARAMETERS else Sharding.STATE


def looked_up_bytes(work: ResolvedWorkload) -> float:
    """Vectors that one sample reads from tables of other GPUs, and sends gradients to; 0 where none are divided."""
    if sharding_of(work) is not Sharding.EMBEDDINGS:
        return 0.0
    element_bytes = 2.0 if work.request.precision == "mixed" else 4.0
    return work.dnn.input_bytes.value / INDEX_BYTES * VECTOR_ELEMENTS * element_bytes


def gradient_bytes(work: ResolvedWorkload) -> float:
    """Gradient that a step of a training exchanges: of all parameters but those in divided tables. [B]"""
    tables = embedding_parameters(work) if sharding_of(work) is Sharding.EMBEDDINGS else 0.0
    return float(exchange.gradient_bytes(work.dnn.parameters.value - tables, work.request.precision))


def step_exchange_bytes(work: ResolvedWorkload) -> float | None:
    """What a GPU exchanges in a step of a training; None where a layout decides it, or nothing is exchanged. [B]"""
    if work.is_inference or work.is_laid_out:
        return None
    return gradient_bytes(work) + work.batch_per_gpu * looked_up_bytes(work)


def all_reduced_bytes(work: ResolvedWorkload) -> float:
    """Gradient whose all-reduce moves as much as a step does: more than its own where weights are divided. [B]"""
    return gradient_bytes(work) * (WHOLLY_DIVIDED_TRAFFIC if sharding_of(work) is Sharding.STATE else 1.0)


def work_factor(work: ResolvedWorkload) -> float:
    """Arithmetic of a training step over that of one that keeps its activations: 4/3 with a second forward pass."""
    if work.own_kind is not None:  # published trainings show the useful work of a step, whatever is computed again
        return 1.0
    return (TRAINING_PASSES + 1) / TRAINING_PASSES if sharding_of(work) in RECOMPUTED else 1.0
