"""What the tables of a request have in common: they are frozen, know their keys, and share kinds of values."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=120)]
ItemId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=60)]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
# A share that is neither nothing at all nor beyond the whole.
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Part(BaseModel):
    """A table of a request: immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
