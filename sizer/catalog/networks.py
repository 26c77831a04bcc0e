"""Parts of what files say of neural networks, recipes and stacks: shapes, samples, epochs, wordings of observations."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sizer.base.texts import LongText, ShortText
from sizer.catalog.items import Frozen

# Kinds of networks whose published trainings tell what share of a GPU's peak people reach.
NetworkKind = Literal["convolution", "depthwise", "detector", "transformer", "diffusion", "volume", "point-cloud"]
SampleKind = Literal[
    "image", "sentence pair", "sequence", "user-item pair", "volume", "utterance", "table row", "graph node", "sample"
]


class ObservedAs(BaseModel):
    """Wording under which observations without ids name a stack.

    ``software`` is compared exactly (empty: the row names none); an empty ``source`` or ``precision`` matches any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    software: ShortText
    source: ShortText = ""
    precision: ShortText = ""

    def matches(self, software: str, source: str, precision: str) -> bool:
        """Whether an observation with this software, source and precision is meant."""
        return software == self.software and self.source in ("", source) and self.precision in ("", precision)


class TransformerShape(Frozen):
    """Layers and widths of a language model, from which work, parameters, memory and traffic follow.

    One expert: a dense model. Defaults: dense, and every token attends to all earlier ones.
    """

    layers: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    hidden: Annotated[int, Field(ge=16, le=1_000_000, strict=True)]
    ffn: Annotated[int, Field(ge=16, le=10_000_000, strict=True)]  # of a dense layer
    heads: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    kv_heads: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    head_size: Annotated[int, Field(ge=8, le=10_000, strict=True)]
    vocabulary: Annotated[int, Field(ge=2, le=100_000_000, strict=True)]
    # Matrices of a feed-forward block: three, of which one gates, or two.
    gated: bool = True
    experts: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 1
    active_experts: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 1
    shared_experts: Annotated[int, Field(ge=0, le=1_000, strict=True)] = 0  # that every token uses
    expert_ffn: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    dense_layers: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0  # without experts, of a mixture
    # "sliding": some layers see the last tokens only; "latent": keys and values are kept as one vector of a rank.
    attention: Literal["full", "sliding", "latent"] = "full"
    window: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None  # tokens
    window_layers: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None  # that have it; absent: all
    # Numbers of the state that each of these layers keeps of a sequence: its attention is linear, and the window stands
    # for the work of a chunk.
    state_elements: Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)] | None = None
    q_rank: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    kv_rank: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    # Number format of the published weights, where they have fewer than 16 bits.
    published_in: Literal["fp8", "mxfp4"] | None = None
    # Most tokens of a request, in and out together, by the published configuration; absent: not known.
    context_tokens: Annotated[int, Field(ge=128, le=2**24, strict=True)] | None = None

    @model_validator(mode="after")
    def _parts_go_together(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(
                f"heads = {self.heads} must be a multiple of kv_heads = {self.kv_heads}: query heads share keys and "
                "values in equal groups"
            )
        if self.active_experts > self.experts:
            raise ValueError(
                f"active_experts = {self.active_experts} must be at most experts = {self.experts}, of which each token "
                "uses so many"
            )
        if self.experts > 1 and self.expert_ffn is None:
            raise ValueError("expert_ffn is missing: give the width of one expert, for example 2048")
        if self.experts == 1 and (self.shared_experts or self.dense_layers or self.expert_ffn):
            raise ValueError("shared_experts, dense_layers and expert_ffn need experts = 2 or more")
        if self.dense_layers >= self.layers:
            raise ValueError(f"dense_layers = {self.dense_layers} must be fewer than layers = {self.layers}")
        if (self.window is not None) is not (self.attention == "sliding"):
            raise ValueError("attention = 'sliding' and window, its number of tokens, must be given together")
        if self.window_layers is not None and (self.window is None or self.window_layers > self.layers):
            raise ValueError(
                f"window_layers = {self.window_layers} needs a window and at most layers = {self.layers} layers"
            )
        if self.state_elements and self.window is None:
            raise ValueError("state_elements needs a window: the layers with linear attention are counted with it")
        if self.attention == "latent" and self.kv_rank is None:
            raise ValueError("kv_rank is missing: attention = 'latent' needs the rank of its keys and values, e.g. 512")
        if self.attention != "latent" and (self.q_rank or self.kv_rank):
            raise ValueError("q_rank and kv_rank need attention = 'latent'")
        return self

    @property
    def total_parameters(self) -> float:
        """Parameters of layers, embedding and output head."""
        return self._layer_parameters(self.experts) + 2.0 * self.vocabulary * self.hidden

    @property
    def used_parameters(self) -> float:
        """Parameters of the linear layers and the output head, which one token uses."""
        return self._layer_parameters(self.active_experts) + float(self.vocabulary * self.hidden)

    def _layer_parameters(self, experts: int) -> float:
        """Parameters of all layers with so many routed experts of each."""
        width, size = self.hidden, self.head_size
        if self.attention == "latent":
            # Down to the ranks and up again; half a head's width carries positions (DeepSeek-V3, section 2.1).
            wide = size + size / 2
            queries = self.heads * wide * (self.q_rank or width) + width * (self.q_rank or 0)
            kept = self.kv_rank or 0
            attention = queries + width * (kept + size / 2) + kept * self.heads * 2 * size + self.heads * size * width
        else:
            attention = 2.0 * width * size * (self.heads + self.kv_heads)
        matrices = (3 if self.gated else 2) * width
        sparse = self.layers - self.dense_layers if self.experts > 1 else 0
        blocks = (self.layers - sparse) * self.ffn + sparse * (experts + self.shared_experts) * (self.expert_ffn or 0)
        return self.layers * attention + float(matrices * blocks)


class Transformer(TransformerShape):
    """Shape of a language model of the catalogue.

    ``measured_as`` is its name in ``benchmarks/language/training.csv``.
    """

    measured_as: ShortText = ""
    # Of a sequence, as most published runs pre-train it, or as its configuration allows; absent: the usual number.
    sequence_tokens: Annotated[int, Field(ge=128, le=2**20, strict=True)] | None = None
    source: ShortText
    where: LongText
    note: LongText = ""


class EpochPoint(Frozen):
    """Epochs needed at one global batch."""

    global_batch: Annotated[float, Field(ge=1, le=1e8)]
    epochs: Annotated[float, Field(ge=0.1, le=1e4)]
    source: ShortText
    where: LongText
    note: LongText = ""
