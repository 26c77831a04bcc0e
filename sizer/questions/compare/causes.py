"""Which input caused a difference: every change between two requests, made alone and left out, and its fair share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, isfinite
from typing import Any

from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.sizing.best_design import best_design
from sizer.sizing.result import DesignAnswer
from sizer.workload.changes import FieldChange, field_changes, matched, mixed
from sizer.workload.request import SizingRequest

# Up to so many inputs every combination is sized (2^6 = 64 of some 50 ms each); beyond them only each one alone and
# all but each one.
MOST_COMBINED = 6
# What a request says that no search reads: it is told, and causes nothing.
_INFORMATIONAL = {
    ("schema_version",),
    ("title",),
    ("customer",),
    ("date",),
    ("needed_by",),
    ("rental",),
    ("quote", "number"),
    ("quote", "revision"),
    ("quote", "prepared_by"),
    ("quote", "valid_days"),
}
# Tables whose fields are inputs of their own; any other table is one input.
_FIELD_BY_FIELD = {"platforms", "limits", "fabric", "existing", "site", "quote", "data", "resilience"}
# Fields of a workload that say one thing together.
_TOGETHER = {"recipe": "epochs"}

Numbers = Mapping[str, Fraction]


@dataclass(frozen=True)
class RequestOutcome:
    """What one request leads to; ``reason`` says why it leads to nothing."""

    design: str = ""  # "9 × DGX-1 + 8 × Isilon F800 nodes"
    limiting: tuple[str, ...] = ()  # stage that limits each workload, key of STAGES
    # By the keys of a saved answer's figures: counts, W, samples/s, s, money. Exact, so that shares add up.
    numbers: Numbers = field(default_factory=dict)
    reason: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether a design meets the request."""
        return not self.reason


@dataclass(frozen=True)
class Cause:
    """One input that differs, and what it does."""

    key: str  # "workload.target"
    changes: tuple[FieldChange, ...]
    alone: RequestOutcome  # the first request with this change only
    left_out: RequestOutcome  # the second request without this change
    shares: Numbers  # of the whole difference, by number; a number without shares is missing


@dataclass(frozen=True)
class AnswerDifference:
    """Two requests, what each leads to, and which input does it."""

    before: RequestOutcome
    now: RequestOutcome
    causes: tuple[Cause, ...]
    informational: tuple[FieldChange, ...]  # changes that no search reads, such as a title
    # By number: orders of making the changes one after another that the shares are the mean of. Orders that pass
    # through a request without an answer are none.
    n_orders: Mapping[str, int]

    @property
    def changes(self) -> tuple[FieldChange, ...]:
        """All that the requests say otherwise."""
        return (*(change for cause in self.causes for change in cause.changes), *self.informational)

    @property
    def n_all_orders(self) -> int:
        """Orders in which the changes can be made one after another."""
        return factorial(len(self.causes))

    @property
    def is_combined(self) -> bool:
        """Whether every combination of the changes was sized."""
        return len(self.causes) <= MOST_COMBINED

    @property
    def compared(self) -> tuple[str, ...]:
        """Numbers that both answers have."""
        return tuple(key for key in self.before.numbers if key in self.now.numbers)

    def total(self, key: str) -> Fraction:
        """The whole difference of a number of :attr:`compared`."""
        return self.now.numbers[key] - self.before.numbers[key]

    def together(self, key: str) -> Fraction | None:
        """What of it no change makes alone; None where a change alone has no such number."""
        alone = [cause.alone.numbers.get(key) for cause in self.causes]
        known = [number - self.before.numbers[key] for number in alone if number is not None]
        return self.total(key) - sum(known, Fraction(0)) if len(known) == len(alone) else None


def diff(
    before: SizingRequest, now: SizingRequest, catalog: Catalog, calibration: Calibration | None = None
) -> AnswerDifference:
    """Say which input caused the difference between the answers to two requests.

    Every changed input is put into the first request alone, and left out of the second one. Its share is the mean,
    over all orders in which the changes can be made one after another, of what it changes when its turn comes (the
    value of Shapley [1]_). Shares add up to the whole difference exactly, and change their sign when the requests
    change places. An order that passes through a request without an answer is left out of the mean; the others still
    add up. With more than :data:`MOST_COMBINED` inputs there are no shares.

    ``calibration``: Default: the stored one. A request that no design meets is no error: its outcome says why. Raises
    RequestError if either request names something that the catalogue does not have.

    References
    ----------
    .. [1] L. S. Shapley, "A value for n-person games," in Contributions to the Theory of Games II, Annals of
       Mathematics Studies 28, Princeton, 1953, pp. 307-317.
    """
    old, new = _alike_named(_plain(before), _plain(now))
    groups: dict[str, list[FieldChange]] = {}
    informational = []
    for change in field_changes(old, new):
        key = _input(change)
        if key is None:
            informational.append(change)
        else:
            groups.setdefault(key, []).append(change)
    sizer = _Sizer(old, new, tuple(groups), catalog, calibration if calibration is not None else stored_calibration())
    first, last = sizer.of(before, raises=True), sizer.of(now, raises=True)
    everything = (1 << len(groups)) - 1
    sizer.known.update({0: first, everything: last})
    values = [sizer.outcome(place) for place in range(everything + 1)] if len(groups) <= MOST_COMBINED else []
    shares: dict[str, tuple[Fraction, ...]] = {}
    n_orders: dict[str, int] = {}
    for key in first.numbers if values else ():
        found, n_orders[key] = order_means([one.numbers.get(key) for one in values])
        if found:
            shares[key] = found
    causes = tuple(
        Cause(
            key=key,
            changes=tuple(changes),
            alone=sizer.outcome(1 << place),
            left_out=sizer.outcome(everything & ~(1 << place)),
            shares={number: found[place] for number, found in shares.items()},
        )
        for place, (key, changes) in enumerate(groups.items())
    )
    return AnswerDifference(first, last, causes, tuple(informational), n_orders)


def order_means(values: Sequence[Fraction | None]) -> tuple[tuple[Fraction, ...], int]:
    """Mean, over the orders of making some changes, of what each adds when its turn comes.

    The number of orders through a combination is counted along the lattice of combinations, from both ends, so that
    n changes take n 2^n steps and not n!.

    ``values``: value of each combination: bit i of its place says whether change i is made. None: it has no value.
    One a change; they add up to the last value less the first. Empty where no order has all its values. Orders that
    the mean is of.
    """
    n = len(values).bit_length() - 1
    full = len(values) - 1
    to, onward = ([0] * len(values) for _ in range(2))
    for counts, places, start in ((to, range(len(values)), 0), (onward, range(full, -1, -1), full)):
        for place in places:
            if values[place] is None:
                continue
            toggled = (place ^ (1 << i) for i in range(n) if bool(place >> i & 1) is (counts is to))
            counts[place] = 1 if place == start else sum(counts[other] for other in toggled)
    n_orders = to[full]
    if not n_orders:
        return (), 0
    sums = [Fraction(0)] * n
    for place, before in enumerate(values):
        for i in range(n):
            after = values[place | 1 << i]
            if not place >> i & 1 and before is not None and after is not None:
                sums[i] += to[place] * onward[place | 1 << i] * (after - before)
    return tuple(one / n_orders for one in sums), n_orders


@dataclass
class _Sizer:
    """Sizes combinations of changes, each once. A combination is a number whose bit i says that change i is made."""

    old: dict[str, Any]
    new: dict[str, Any]
    keys: tuple[str, ...]
    catalog: Catalog
    calibration: Calibration
    known: dict[int, RequestOutcome] = field(default_factory=dict)

    def outcome(self, place: int) -> RequestOutcome:
        """What one combination leads to."""
        if place not in self.known:
            taken = {key for i, key in enumerate(self.keys) if place >> i & 1}
            try:
                request = SizingRequest.from_dict(mixed(self.old, self.new, lambda one: _input(one) in taken))
            except RequestError as error:
                self.known[place] = RequestOutcome(reason=str(error))
            else:
                self.known[place] = self.of(request)
        return self.known[place]

    def of(self, request: SizingRequest, *, raises: bool = False) -> RequestOutcome:
        """What a request leads to."""
        try:
            return _outcome(best_design(request, self.catalog, self.calibration).design)
        except InfeasibleError as error:
            return RequestOutcome(reason=str(error))
        except RequestError as error:
            if raises:
                raise
            return RequestOutcome(reason=str(error))


def _outcome(design: DesignAnswer) -> RequestOutcome:
    return RequestOutcome(
        design=design.name,
        limiting=tuple(answer.bottleneck for answer in design.workloads),
        numbers=dict(_numbers(design)),
    )


def _numbers(design: DesignAnswer) -> Iterator[tuple[str, Fraction]]:
    counts = design.quantities
    yield "gpus", Fraction(design.n_gpus)
    yield "servers", Fraction(design.n_servers)
    yield "storage-nodes", Fraction(design.storage_nodes)
    for number, answer in enumerate(design.workloads):
        yield f"rate-{number}", Fraction(float(answer.throughput.value))
        if answer.time is not None and isfinite(float(answer.time.total_s.value)):
            yield f"time-{number}", Fraction(float(answer.time.total_s.value))
    yield "power", Fraction(float(counts.power_max_w[0]))
    yield "rack-units", Fraction(float(counts.rack_units[0]))
    yield "racks", Fraction(int(counts.racks[0]))
    if design.bill.is_complete:  # the difference of two lower bounds says nothing
        yield "price", Fraction(design.bill.total)


# --- requests as plain data


def _plain(request: SizingRequest) -> dict[str, Any]:
    return request.model_dump(mode="json", exclude_none=True)


def _alike_named(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both requests, workloads that were only renamed under their later names: a name is no input."""
    pairs = [
        (one["name"], other["name"])
        for _, one, other in matched(old["workload"], new["workload"])
        if one is not None and other is not None
    ]
    names = dict(pairs)
    works = [{**work, "name": names.get(work["name"], work["name"])} for work in old["workload"]]
    renamed = {**old, "workload": works}
    if "team" in old:
        jobs = [
            {**job, "workload": names.get(job["workload"], job["workload"])} if "workload" in job else job
            for job in old["team"]["job"]
        ]
        renamed["team"] = {**old["team"], "job": jobs}
    return renamed, new


def _input(change: FieldChange) -> str | None:
    """Key of the input that a change belongs to; None where it is no input."""
    path = change.path
    if path[:1] in _INFORMATIONAL or path[:2] in _INFORMATIONAL:
        return None
    if path[0] == "workload":
        if len(change.path) == 2:
            name, what = (change.now or change.before)["name"], "removed" if change.now is None else "added"
            return f"workload {name!r} {what}"
        place = f"workload[{change.path[1]}]" if change.path[1] else "workload"
        name = str(change.path[2])
        return f"{place}.{_TOGETHER.get(name, name)}"
    return ".".join(map(str, path[:2] if path[0] in _FIELD_BY_FIELD else path[:1]))
