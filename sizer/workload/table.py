"""Base class of the tables of a request, and value types that they share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=120)]
ItemId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=60)]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
# Between nothing and the whole.
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class RequestTable(BaseModel):
    """A table of a request: immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
