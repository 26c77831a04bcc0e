"""The nearest change of a request that reverses a claim, found step by step: the request is resized at each step."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sizer.base import units
from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.physical.allowed_parts import narrowed_to
from sizer.questions.what_if.varied_input import BATCH, DATASET_SIZE, SAMPLE_SIZE, TARGET
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.recommend import most_servers, search
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest

TEAM_SIZE = "team-size"
# Sizes are tried up to a thousand times more or less, other inputs up to some sixty times.
# A batch is bound by the memory of the GPU: half precision, or a card with twice the memory, doubles it once
# (dell-ready-ai-nvidia-2018).
_DOUBLINGS = {DATASET_SIZE: 10, SAMPLE_SIZE: 6, TARGET: 6, BATCH: 1, TEAM_SIZE: 4}
# Significant digits of a changed quantity: a person types three.
_DIGITS = 3
_LEAST_MANTISSA = 100  # the least number of so many digits
_MANTISSAS = 9 * _LEAST_MANTISSA


def path_of(key: str) -> tuple[str | int, ...]:
    """Parts of a key of the request; numbers of a list as numbers."""
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


@dataclass(frozen=True)
class RequestInput:
    """An input of the request that is moved up or down in steps as a person would write it."""

    kind: str  # key of a varied input, or TEAM_SIZE
    key: str  # of the request: "workload.0.dataset_bytes"
    before: float  # in the request as it is [B], [samples/s], [s] or [-]
    upwards: bool
    is_count: bool
    unit_s: float = 1.0  # of times: the unit in which they are written
    dnn: Dnn | None = None  # of the workload; None: the input is no workload's

    @property
    def path(self) -> tuple[str | int, ...]:
        """The key in its parts: ("workload", 0, "dataset_bytes")."""
        return path_of(self.key)

    def distance(self, value: float) -> float:
        """How far a value lies from the present one: the same for twice and for half."""
        return abs(math.log(value / self.before))

    def value(self, step: int) -> float:
        """Value of a step: of counts the number itself, of quantities three digits and a power of ten."""
        if self.is_count:
            return float(step)
        power, mantissa = divmod(step, _MANTISSAS)
        return float(f"{_LEAST_MANTISSA + mantissa}e{power - _DIGITS + 1}") * self.unit_s

    def step(self, value: float) -> int:
        """Largest step whose value is not above a value."""
        if self.is_count:
            return math.floor(value)
        power = math.floor(math.log10(value / self.unit_s))
        mantissa = math.floor(value / self.unit_s / 10.0 ** (power - _DIGITS + 1))
        step: int = _MANTISSAS * power + mantissa - _LEAST_MANTISSA
        while self.value(step) > value:  # the logarithm and the division round
            step -= 1
        while self.value(step + 1) <= value:
            step += 1
        return step


@dataclass(frozen=True)
class Reversal:
    """A change of one input of the request that reverses a claim."""

    input: RequestInput
    last_unchanged: float  # last value, in steps of the last digit, at which the claim is not reversed
    after: float  # the next value: the first one at which it is
    request: SizingRequest  # with the change

    @property
    def distance(self) -> float:
        """How far the change goes: the same for twice and for half."""
        return self.input.distance(self.after)


@dataclass(frozen=True)
class ResizedRequests:
    """Requests near that of a result, resized on the servers, the storage and the fabric of its design.

    Each is sized once, however many claims ask about it. With a team the design stays fixed: the waits of a team size a
    cluster more than one of its workloads does, and take long to work out.
    """

    request: SizingRequest
    models: tuple[WorkloadOnDesign, ...]  # of the workloads on the design
    catalog: Catalog
    calibration: Calibration
    known: dict[tuple[str, float], tuple[WorkloadOnDesign, ...] | None] = field(default_factory=dict)

    def input_of(self, index: int, kind: str, *, upwards: bool) -> RequestInput:
        """An input of one workload."""
        model, place = self.models[index], f"workload.{index}"
        dnn = model.work.dnn
        if kind == DATASET_SIZE:
            return RequestInput(kind, f"{place}.dataset_bytes", model.work.dataset_bytes, upwards, False, dnn=dnn)
        if kind == SAMPLE_SIZE:
            return RequestInput(kind, f"{place}.sample_bytes", model.work.sample_bytes, upwards, False, dnn=dnn)
        if kind == BATCH:
            batch = float(model.work.batch_per_gpu)
            return RequestInput(kind, f"{place}.batch_per_gpu", batch, upwards, True, dnn=dnn)
        ((target, value),) = self.request.workload[index].target.model_dump(exclude_none=True).items()
        key, is_time = f"{place}.target.{target}", target == "time_to_train_s"
        unit_s = time_unit(value)[0] if is_time else 1.0
        # A shorter time is the higher target.
        return RequestInput(kind, key, float(value), upwards != is_time, isinstance(value, int), unit_s, dnn)

    def team_size_inputs(self, *, upwards: bool) -> tuple[RequestInput, ...]:
        """The data scientists of a team whose jobs grow with them; empty where there are none."""
        team = self.request.team
        if team is None or team.data_scientists is None or all(job.jobs_a_day_each is None for job in team.job):
            return ()
        return (RequestInput(TEAM_SIZE, "team.data_scientists", float(team.data_scientists), upwards, is_count=True),)

    def request_at(self, moved: RequestInput, value: float) -> SizingRequest | None:
        """The request with another value of an input; None where it allows no such value."""
        data = self.request.model_dump(exclude_none=True)
        place: Any = data
        for part in moved.path[:-1]:
            place = place[part]
        place[moved.path[-1]] = int(value) if moved.is_count else value
        with suppress(RequestError):
            return SizingRequest.from_dict(data, "what if")
        return None

    def models_at(self, moved: RequestInput, value: float) -> tuple[WorkloadOnDesign, ...] | None:
        """All workloads on the design of the changed request; None where no size of the platform meets it."""
        key = (moved.key, value)
        if key not in self.known:
            request = self.request_at(moved, value)
            run = self._resized if request is not None and request.team is None else self._on_fixed_design
            self.known[key] = None if request is None else run(request)
        return self.known[key]

    def _on_fixed_design(self, request: SizingRequest) -> tuple[WorkloadOnDesign, ...] | None:
        with suppress(InfeasibleError, RequestError):
            works = resolved(request, self.catalog, self.calibration)
            return tuple(replace(model, request=request, works=works) for model in self.models)
        return None

    def _resized(self, request: SizingRequest) -> tuple[WorkloadOnDesign, ...] | None:
        first = self.models[0]
        best = self._best(narrowed_to(request, first.platform))
        if best is None:
            return None
        counts, row = best
        evaluated = counts.evaluated
        platform, gateway = evaluated.platforms[int(evaluated.space.platform[row])], math.inf
        if platform.gateway is not None:
            gateway = float(counts.design(row).gateway_bytes_per_s[0])
        return tuple(
            replace(
                model,
                request=request,
                works=evaluated.works,
                platform=platform,
                n_servers=int(evaluated.space.n_servers[row]),
                storage_nodes=int(evaluated.storage_nodes[row]),
                gateway_bytes_per_s=gateway,
            )
            for model in self.models
        )

    def _best(self, request: SizingRequest) -> tuple[PartCounts, int] | None:
        """The best design of a narrow request with its row."""
        with suppress(InfeasibleError, RequestError):
            most = most_servers(request, self.models[0].n_servers)
            counts = search(request, self.catalog, self.calibration, most=most)
            order = Ranking(counts).first(1)
            if order:
                return counts, order[0]
        return None


def nearest_reversal(
    resized: ResizedRequests, moved: RequestInput, is_reversed: Callable[[float], bool | None]
) -> Reversal | None:
    """Nearest value of an input at which a claim is reversed.

    Values are doubled, or halved, until one reverses the claim; bisection between the last two finds the step. A claim
    that is reversed and restored within one doubling is missed.

    ``is_reversed``: whether the claim is reversed at a value; None where no design meets the request. None where
    nothing within the range that is tried reverses it.
    """
    return nearest_of(resized, (moved,), lambda _, value: is_reversed(value))


def nearest_of(
    resized: ResizedRequests, inputs: Iterable[RequestInput], is_reversed: Callable[[RequestInput, float], bool | None]
) -> Reversal | None:
    """Nearest change of one of several inputs that reverses a claim; of equal ones that of the first.

    ``inputs``: all are moved by one doubling before one is moved by two: what lies farther than a reversal is not
    tried. ``is_reversed``: as for :func:`nearest_reversal`, with the input.
    """
    nearest: Reversal | None = None
    waiting = [(moved, _first_step(moved)) for moved in inputs]
    doubling = 0
    while waiting:
        doubling += 1
        tried, waiting = waiting, []
        for moved, unchanged in tried:
            if nearest is not None and moved.distance(moved.value(unchanged)) >= nearest.distance:
                continue
            sign = 1 if moved.upwards else -1
            beyond = moved.step(max(moved.before * 2.0 ** (sign * doubling), 1.0 if moved.is_count else 0.0))
            is_last = doubling > _DOUBLINGS[moved.kind] or beyond == unchanged
            if is_last or resized.request_at(moved, moved.value(beyond)) is None:
                continue
            if is_reversed(moved, moved.value(beyond)) is False:
                waiting.append((moved, beyond))
                continue
            found = _between(resized, moved, partial(is_reversed, moved), unchanged, beyond)
            if found is not None and (nearest is None or found.distance < nearest.distance):
                nearest = found
    return nearest


def _first_step(moved: RequestInput) -> int:
    """The first step beyond the present value: below it is the step itself, unless the value lies on it."""
    at_now = moved.step(moved.before)
    return at_now if moved.upwards or moved.value(at_now) == moved.before else at_now + 1


def _between(
    resized: ResizedRequests,
    moved: RequestInput,
    is_reversed: Callable[[float], bool | None],
    unchanged: int,
    beyond: int,
) -> Reversal | None:
    """The step at which a claim is reversed, between one where it is not and one where it is or no design exists."""
    while abs(beyond - unchanged) > 1:
        middle = (unchanged + beyond) // 2
        if is_reversed(moved.value(middle)) is False:
            unchanged = middle
        else:
            beyond = middle
    after = moved.value(beyond)
    request = resized.request_at(moved, after)
    if request is None or not is_reversed(after):
        return None
    last = moved.value(unchanged)
    is_past = last < moved.before if moved.upwards else last > moved.before
    return Reversal(moved, moved.before if is_past else last, after, request)


def time_unit(seconds: float) -> tuple[float, str]:
    """Unit in which a person would write a time: its length and its sign. [s]"""
    # The limits are those of ``duration``, so that both name the same unit.
    for limit, unit, name in (
        (99.5, 1.0, "s"),
        (5970.0, units.MINUTE_S, "min"),
        (72 * units.HOUR_S, units.HOUR_S, "h"),
    ):
        if seconds < limit:
            return unit, name
    return units.DAY_S, "d"
