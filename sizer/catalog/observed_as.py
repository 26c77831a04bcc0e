"""Wording by which published rows without ids are known to be of a software stack."""

from pydantic import BaseModel, ConfigDict

from sizer.base.texts import ShortText


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
