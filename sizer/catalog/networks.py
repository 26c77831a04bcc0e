"""Parts of what files say of neural networks, recipes and stacks: shapes, samples, epochs, wordings of observations."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sizer.base.texts import LongText, ShortText
from sizer.catalog.items import Frozen

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


class Transformer(Frozen):
    """Shape of a language model, from which work, parameters, memory and traffic follow.

    One expert: a dense model. ``measured_as`` is its name in ``benchmarks/language/training.csv``.
    """

    layers: Annotated[int, Field(ge=1, le=10_000)]
    hidden: Annotated[int, Field(ge=16, le=1_000_000)]
    ffn: Annotated[int, Field(ge=16, le=10_000_000)]
    heads: Annotated[int, Field(ge=1, le=10_000)]
    kv_heads: Annotated[int, Field(ge=1, le=10_000)]
    head_size: Annotated[int, Field(ge=8, le=10_000)]
    vocabulary: Annotated[int, Field(ge=2, le=100_000_000)]
    experts: Annotated[int, Field(ge=1, le=100_000)] = 1
    active_experts: Annotated[int, Field(ge=1, le=10_000)] = 1
    expert_ffn: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    measured_as: ShortText = ""
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
