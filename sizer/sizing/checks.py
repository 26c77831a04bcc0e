"""Whether a design keeps what is asked of it: met, not met, or open while a fact that decides it is not known."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class CheckResult(Enum):
    """Result of one check; open where what is known keeps the limit and something that counts is unknown."""

    MET = "met"
    NOT_MET = "not met"
    OPEN = "open"

    @property
    def is_met(self) -> bool | None:
        """Whether it is met; None where that is open."""
        return None if self is CheckResult.OPEN else self is CheckResult.MET


class FactKind(Enum):
    """Kinds of facts without which a design cannot be judged."""

    READ_RATE = "read-rate"  # of a storage node
    WRITE_RATE = "write-rate"  # of a storage node
    USABLE_CAPACITY = "usable-capacity"  # of a storage system
    POWER = "maximum-power"  # of a device
    WEIGHT = "weight"  # of a device
    TRAINING_RATE = "training-rate"  # of a GPU, with language models
    SERVING_RATE = "serving-rate"  # of a GPU, with language models in use


@dataclass(frozen=True)
class MissingFact:
    """A fact of a part that no source gives and the catalogue does not assume."""

    kind: FactKind
    item: str  # catalogue id
    name: str


class CheckKind(Enum):
    """What is checked on bounds, with the unit of its numbers."""

    CAPACITY = "usable-capacity"  # B for all data, at least
    WORKING_SET = "working-set-capacity"  # B on the fast tier of two, at least
    POWER = "power"  # W, at most
    RACK_POWER = "rack-power"  # W of the heaviest rack, at most
    FEED_POWER = "feed-power"  # W of one PDU that carries its rack alone, at most
    RACK_WEIGHT = "rack-weight"  # kg in the rack that is loaded most for its kind, at most
    FLOOR_LOAD = "floor-load"  # kg/m² below the heaviest rack, at most
    BUDGET = "budget"  # currency of the request, at most


@dataclass(frozen=True)
class DesignCheck:
    """One check of a design, with the numbers compared."""

    kind: CheckKind
    result: CheckResult
    asked: float
    known: float | None  # what is known of the design; a lower bound where facts are missing. None: nothing is
    missing: tuple[MissingFact, ...] = ()
    unpriced: tuple[str, ...] = ()  # items without a price, of a budget
    probability: float | None = None  # that a budget is kept, from price bands; None: not known


def at_most(known: float, most: float, missing: Sequence[object]) -> CheckResult:
    """Check of an upper limit on a sum of which parts may be missing: a lower bound above it breaks it for certain.

    Examples
    --------
    >>> at_most(9e3, 10e3, ()).value, at_most(9e3, 10e3, ("s3048-on",)).value, at_most(11e3, 10e3, ("s3048-on",)).value
    ('met', 'open', 'not met')
    """
    if known > most:
        return CheckResult.NOT_MET
    return CheckResult.OPEN if missing else CheckResult.MET
