"""Training of language models in requests: tokens are the samples, and what the request leaves open has a default."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.quantities import duration, grouped, si, tokens_text
from sizer.catalog.model import Catalog
from sizer.catalog.schema import TOKEN_BYTES, Dnn, Gpu, NumberFormat, TransformerShape
from sizer.workload.checkpoints import CHECKPOINT_WAIT_S, Checkpoints
from sizer.workload.optional_tables import Measured
from sizer.workload.request import CustomDataset, Method, SizingRequest, Target, Workload
from sizer.workload.stack_choice import stack_id
from sizer.workload.transformer import number_formats
from sizer.workload.transformer.custom_transformer import CustomTransformer
from sizer.workload.transformer.layout_pins import NO_PINS, LayoutPins, check_pins

# The stack with the most runs in the measurements, of the newest releases.
DEFAULT_LANGUAGE_STACK = "nemo"
# Llama 3 was trained at 8,192 tokens; a step of Llama 3 405B held 4 to 16 million (arXiv:2407.21783, section 3.4). Runs
# of the measurements hold 4 million on 256 GPUs in the median, 6 on 512, 13 on 1,024 and 10 on 2,048.
DEFAULT_SEQUENCE_TOKENS = 8_192
# A stated batch moves to one that the GPUs divide, by up to this share of it.
_NEAR_BATCH = 0.02
_STEP_TOKENS, _MOST_STEP_TOKENS, _STEP_TOKENS_PER_GPU = 4_194_304, 16_777_216, 8_192
# MLPerf's adapters of Llama 2 70B are trained with 8 sequences a step on few GPUs.
_ADAPTER_SEQUENCES = 8
# Llama 2 was fine-tuned with 64 sequences a step, into which prompts and answers were packed (arXiv:2307.09288,
# section 3.1).
_FINE_TUNING_SEQUENCES = 64
# Tokens of a set of which only its size on storage matters.
USUAL_TOKENS: dict[str, float] = {"full": 1e12, "continued": 1e11, "fine-tuning": 1e9, "lora": 1e8}
# Marks the name of a data set whose length the request does not state.
ASSUMED_LENGTH = " (assumed)"
# A stated set that differs more from its tokens contradicts them: other token numbers have two bytes or eight.
_MOST_SIZE_RATIO = 2.0
# A checkpoint holds weights of two bytes, master weights and two moments of Adam in single precision: BLOOM 176B wrote
# 2.3 TB (bigscience-bloom).
CHECKPOINT_BYTES_PER_PARAMETER = 14.0
# Of adapters: weights of the model, which a restart loads, and the share of its parameters that is trained, at most.
_WEIGHT_BYTES, _ADAPTER_SHARE = 2.0, 0.01
# What only language models have.
_FIELDS = ("tokens", "sequence_tokens", "batch_sequences", "method", "document_tokens", "layout")


class DefaultKind(Enum):
    """Values that a request may leave to a default."""

    BATCH_PER_GPU = "batch-per-gpu"
    BATCH_OF_RUNS = "batch-of-runs"
    SAMPLES_PER_EPOCH = "samples-per-epoch"
    EPOCHS_OF_LARGER_DATA = "epochs-of-larger-data"
    SAMPLE_BYTES = "sample-bytes"
    SEQUENCE_TOKENS = "sequence-tokens"
    SEQUENCE_OF_MODEL = "sequence-of-model"
    STEP_TOKENS = "step-tokens"
    TOKENS = "tokens"
    TOKENS_OF_SET = "tokens-of-set"
    INPUT_TOKENS = "input-tokens"
    OUTPUT_TOKENS = "output-tokens"
    PREFIX_CACHED = "prefix-cached"
    OUTPUT_TAIL = "output-tail"
    DAILY_PROFILE = "daily-profile"
    ADAPTER_RANK = "adapter-rank"
    FIRST_TOKEN = "first-token"
    TOKEN_TIME = "token-time"
    PERCENTILE = "percentile"
    REQUESTS_PER_USER = "requests-per-user"
    ACTIVE_SHARE = "active-share"


@dataclass(frozen=True)
class LanguageWork:
    """Training of a language model."""

    model: str  # id, or the name of one that the request describes
    shape: TransformerShape | None  # of one that the request describes
    parameters: float
    sequence: int  # tokens
    step_sequences: int  # wanted of one step over all GPUs
    has_fixed_batch: bool  # the request states it, to the sequence
    number_format: NumberFormat
    method: Method
    defaults: tuple[tuple[DefaultKind, float], ...]
    checkpoints: Checkpoints
    pins: LayoutPins = NO_PINS
    document_tokens: float | None = None  # to which attention is confined, where sequences are packed
    filled_share: float = 1.0  # of a sequence, where documents are padded to its length
    stack: str = DEFAULT_LANGUAGE_STACK  # id
    is_mixed: bool = False  # mixed precision was asked for: BF16, or FP16 on GPUs without it
    measured: tuple[Measured, ...] = ()  # rates of the customer

    @property
    def precision(self) -> number_formats.Computed:
        """The format that the rates are computed for."""
        return number_formats.computed_as(self.number_format)

    def format_on(self, gpu: Gpu, catalog: Catalog) -> NumberFormat:
        """The format that a GPU trains in."""
        return "fp16" if self.is_mixed and "bf16" not in number_formats.formats_of(gpu, catalog) else self.number_format

    def batch(self, n_gpus: int) -> int:
        """Sequences of a step on so many GPUs: as stated, else near the usual number, such that the GPUs divide it.

        Pre-training on more GPUs usually takes more tokens a step. The nearest multiple is taken, up or down, so that
        no number of GPUs is the faster for a much larger batch. A stated number moves by at most 2 %: 2,051 sequences
        on 2,048 GPUs are 2,048, as nobody would leave half of the GPUs idle for three sequences.
        """
        if self.has_fixed_batch:
            stated, share = self.step_sequences, n_gpus
            while share > 1:
                near = round(stated / share) * share
                if abs(near - stated) <= _NEAR_BATCH * stated:
                    return near
                share = share // 2 if share % 2 == 0 else 1
            return stated
        wanted = self.step_sequences
        if self.method in ("full", "continued"):
            most = max(_MOST_STEP_TOKENS // self.sequence, wanted)
            wanted = min(max(wanted, n_gpus * _STEP_TOKENS_PER_GPU // self.sequence), most)
        share = n_gpus
        while share > wanted and share % 2 == 0:
            share //= 2
        return max(math.floor(wanted / share + 0.5), 1) * share


def trains_language(work: Workload, catalog: Catalog) -> bool:
    """Whether a workload trains a language model with a known shape, of the catalogue or of the request."""
    if not isinstance(work.dnn, str):
        return isinstance(work.dnn, CustomTransformer)
    return work.dnn in catalog.dnns and catalog.dnns[work.dnn].transformer is not None


def in_tokens(
    work: Workload, dnn: Dnn, place: str, request: SizingRequest, catalog: Catalog
) -> tuple[Workload, LanguageWork | None]:
    """A workload with tokens as samples, and what its training is; other workloads as they are.

    Raises RequestError if a language model lacks its number format or is asked for inference, if no GPU of the request
    has the format, or if another network has what only language models have.
    """
    given = [name for name in _FIELDS if getattr(work, name) is not None]
    if work.target.tokens_per_s is not None:
        given.append("target.tokens_per_s")
    if dnn.transformer is None:
        if given:
            raise RequestError(
                f"{place}.{given[0]}: {dnn.name} is no language model with a known shape; remove "
                f"{' and '.join(given)}, or choose a language model of the catalogue"
            )
        precision = number_formats.stack_precision(work.precision)
        if precision not in ("mixed", "fp32"):
            raise RequestError(
                f"{place}.precision = {work.precision!r} is for language models; write 'mixed', 'bf16', 'fp16' or "
                f"'fp32' for {dnn.name}"
            )
        return work.model_copy(update={"precision": precision}), None
    if work.task != "training":
        raise RequestError(
            f"{place}.task = {work.task!r}: write 'training', 'serving' or 'generation' for a language model"
        )
    if work.precision not in number_formats.ASKED:
        others = ", ".join(repr(name) for name in number_formats.NUMBER_FORMATS[:-1])
        raise RequestError(
            f"{place}.precision = {work.precision!r}: write 'mixed' (BF16), {others} or "
            f"{number_formats.NUMBER_FORMATS[-1]!r} for {dnn.name}"
        )
    if work.precision != "mixed":
        _check_gpus(number_formats.ASKED[work.precision], place, request, catalog)
    if work.batch_per_gpu is not None:
        raise RequestError(f"{place}.batch_per_gpu: write batch_sequences, the sequences of a step over all GPUs")
    method = work.method or "full"
    defaults: list[tuple[DefaultKind, float]] = []
    if isinstance(work.dataset, CustomDataset) and work.tokens is None:
        work = _of_documents(work, work.dataset)
        defaults.append((DefaultKind.TOKENS_OF_SET, work.tokens or 0.0))
    sequence = work.sequence_tokens
    if sequence is None:
        # Adapters are trained on what the task holds, in MLPerf 8,192 tokens of a model pre-trained with 4,096.
        of_model = None if method == "lora" else dnn.transformer.sequence_tokens or short_context(dnn.transformer)
        sequence = of_model or DEFAULT_SEQUENCE_TOKENS
        kind = DefaultKind.SEQUENCE_TOKENS if of_model is None else DefaultKind.SEQUENCE_OF_MODEL
        defaults.append((kind, sequence))
    batch = work.batch_sequences
    if batch is None:
        usual = {"lora": _ADAPTER_SEQUENCES, "fine-tuning": _FINE_TUNING_SEQUENCES}
        batch = usual.get(method, max(_STEP_TOKENS // sequence, 1))
        defaults.append((DefaultKind.STEP_TOKENS, batch * sequence))
    tokens = work.tokens
    if tokens is None:
        tokens = USUAL_TOKENS[method]
        defaults.append((DefaultKind.TOKENS, tokens))
    pins = work.layout or NO_PINS
    check_pins(pins, dnn.transformer, sequence, dnn.name, f"{place}.layout")
    document = None if work.document_tokens is None else min(float(work.document_tokens), float(sequence))
    if document is None and not work.packing:
        raise RequestError(f"{place}.packing = false needs document_tokens, the mean length of the padded documents")
    filled_share = 1.0 if work.packing or document is None else document / sequence
    _check_length(work, place, batch, sequence, filled_share)
    is_custom = not isinstance(work.dnn, str)
    language_work = LanguageWork(
        dnn.name if is_custom else dnn.id,
        dnn.transformer if is_custom else None,
        dnn.parameters.value,
        sequence,
        batch,
        work.batch_sequences is not None,
        number_formats.ASKED[work.precision],
        method,
        tuple(defaults),
        _checkpoints(dnn.parameters.value, method, request),
        pins,
        document if work.packing else None,
        filled_share,
        is_mixed=work.precision == "mixed",
        measured=work.measured,
    )
    changed: dict[str, Any] = {
        "precision": number_formats.stack_precision(work.precision),
        "dataset": CustomDataset(
            name=tokens_text(tokens) + ("" if work.tokens is not None else ASSUMED_LENGTH),
            n_samples=tokens,
            sample_bytes=TOKEN_BYTES,
        ),
        "sample_format": "tokens",
        "stack": None if _is_own_code(work, catalog) else work.stack,
        # Without a stated length no time to train is shown.
        "epochs": None if work.tokens is None else work.epochs or 1.0,
    }
    if work.dataset_bytes is not None and work.tokens is not None:
        changed["sample_bytes"] = _stored_token_bytes(work, place)
    if work.target.tokens_per_s is not None:
        changed["target"] = Target(samples_per_s=work.target.tokens_per_s)
    return work.model_copy(update=changed), language_work


def _of_documents(work: Workload, dataset: CustomDataset) -> Workload:
    """A workload on a set of texts, with the tokens that it holds and those of a text."""
    of_text = (work.sample_bytes or dataset.sample_bytes) / TOKEN_BYTES
    n_texts = work.dataset_bytes / TOKEN_BYTES / of_text if work.dataset_bytes else dataset.n_samples
    document = work.document_tokens or max(math.ceil(of_text), 1)
    return work.model_copy(update={"tokens": n_texts * of_text, "document_tokens": document})


def short_context(shape: TransformerShape) -> int | None:
    """Most tokens that a model reads, where that is less than the usual length of a sequence."""
    context = shape.context_tokens
    return context if context is not None and context < DEFAULT_SEQUENCE_TOKENS else None


def _is_own_code(work: Workload, catalog: Catalog) -> bool:
    """Whether the stack that a request names is people's own code: any of those that train language models."""
    stack = None if work.stack is None else catalog.stacks.get(stack_id(work.stack, catalog))
    return stack is not None and stack.trains_own


def _check_length(work: Workload, place: str, batch: int, sequence: int, filled_share: float) -> None:
    """Refuse a training that ends within its first step."""
    if work.tokens is None:
        return
    all_tokens, of_step = work.tokens * (work.epochs or 1.0), batch * sequence * filled_share
    if all_tokens < of_step:
        raise RequestError(
            f"{place}.tokens: a training on {tokens_text(all_tokens)} is shorter than one step of "
            f"{tokens_text(of_step)} ({grouped(batch)} sequences of {tokens_text(sequence)}); write the tokens of the "
            "whole training, or fewer batch_sequences"
        )


def _stored_token_bytes(work: Workload, place: str) -> float:
    """Bytes of a token on storage: the stated set holds the tokens of one epoch. [B]"""
    assert work.tokens is not None
    assert work.dataset_bytes is not None
    token_bytes = work.sample_bytes or TOKEN_BYTES
    in_set = work.dataset_bytes / token_bytes
    if not 1 / _MOST_SIZE_RATIO <= in_set / work.tokens <= _MOST_SIZE_RATIO:
        raise RequestError(
            f"{place}.dataset_bytes = {si(work.dataset_bytes, 'B')} holds {tokens_text(in_set)} of {token_bytes:g} "
            f"bytes each, but the request states {tokens_text(work.tokens)}; remove dataset_bytes, or write the tokens "
            "of one epoch"
        )
    return work.dataset_bytes / work.tokens


def _check_gpus(number_format: NumberFormat, place: str, request: SizingRequest, catalog: Catalog) -> None:
    """Refuse a format that none of the GPUs has to which the request confines the design."""
    asked = request.platforms.gpus or tuple(
        gpu
        for server in request.platforms.servers or ()
        if server in catalog.servers
        for gpu in catalog.servers[server].gpus
    )
    gpus = [catalog.gpus[gpu] for gpu in asked if gpu in catalog.gpus]
    if gpus and not any(number_format in number_formats.formats_of(gpu, catalog) for gpu in gpus):
        number_formats.check_format(number_format, gpus[0], catalog, f"{place}.")


def _checkpoints(parameters: float, method: Method, request: SizingRequest) -> Checkpoints:
    data = request.data
    if data.checkpoint_every_s is not None and data.checkpoint_every_s < CHECKPOINT_WAIT_S:
        raise RequestError(
            f"data.checkpoint_every_s = {duration(data.checkpoint_every_s)} is shorter than a checkpoint of a language "
            f"model may take; write {duration(CHECKPOINT_WAIT_S)} or more; without the key the best interval is taken"
        )
    state = (data.checkpoint_bytes_per_parameter or CHECKPOINT_BYTES_PER_PARAMETER) * parameters
    if method == "lora":
        state *= _ADAPTER_SHARE
    return Checkpoints(
        written_bytes=state,
        restart_bytes=state + (_WEIGHT_BYTES * parameters if method == "lora" else 0.0),
        on_local_drives=data.checkpoint_buffer == "local-drives",
        replica_bytes=_WEIGHT_BYTES * parameters if data.restart_reads == "each-replica" else 0.0,
        every_s=data.checkpoint_every_s,
        waits=data.checkpoint_waits,
        interruptions=request.resilience.interruptions,
    )
