"""The nearest change of a request that turns a claim round: looked for step by step, by sizing the request anew."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from sizer.base import units
from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.calibrate.calibration import Calibration
from sizer.catalog.labels import sample_unit
from sizer.catalog.model import Catalog
from sizer.questions.alternatives.analysis import narrowed_to
from sizer.questions.what_if.varied_input import BATCH, DATASET_SIZE, SAMPLE_SIZE, TARGET, target_kind, target_value
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.recommend import MAX_SERVERS, search
from sizer.sizing.search.part_counts import Counting
from sizer.sizing.search.ranking import Ranking, UnsettledError
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import resolve

PEOPLE = "people"
# Sizes are looked at up to a thousand times more or less, what else a request states up to some sixty times.
# A batch is bound by the memory of the GPU: half precision, or a card with twice the memory, doubles it once
# (dell-ready-ai-nvidia-2018).
_DOUBLINGS = {DATASET_SIZE: 10, SAMPLE_SIZE: 6, TARGET: 6, BATCH: 1, PEOPLE: 4}
# Significant digits of a changed quantity: a person types three.
_DIGITS = 3
_LEAST_MANTISSA = 100  # the least number of so many digits
_MANTISSAS = 9 * _LEAST_MANTISSA
# Larger designs are looked at only where the smaller ones do not settle which is the best.
_LOOKS = (8, 32, None)


@dataclass(frozen=True)
class Change:
    """A change of a request that turns a claim round.

    ``after`` is the first value in steps of the last digit at which the claim is turned, ``still`` the last one at
    which it is not. Sizes in B, rates in samples/s, times in s.
    """

    key: str  # key of the request: "workload.0.dataset_bytes"
    before: float
    still: float
    after: float
    before_text: str
    after_text: str
    sentence: str
    request: SizingRequest  # with the change

    @property
    def path(self) -> tuple[str | int, ...]:
        """The key in its parts: ("workload", 0, "dataset_bytes")."""
        return path_of(self.key)


def path_of(key: str) -> tuple[str | int, ...]:
    """Parts of a key of the request; numbers of a list as numbers."""
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


@dataclass(frozen=True)
class Lever:
    """An input of the request that can be moved up or down in steps as a person would write it."""

    input: str  # key of a varied input
    key: str  # of the request
    what: str  # "the size of the data set"
    before: float
    upwards: bool
    is_count: bool
    unit_s: float = 1.0  # of times: the unit in which they are written
    unit: str = ""  # of rates

    @property
    def path(self) -> tuple[str | int, ...]:
        """The key in its parts: ("workload", 0, "dataset_bytes")."""
        return path_of(self.key)

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
        found: int = _MANTISSAS * power + mantissa - _LEAST_MANTISSA
        while self.value(found) > value:  # the logarithm and the division round
            found -= 1
        while self.value(found + 1) <= value:
            found += 1
        return found


@dataclass(frozen=True)
class Trials:
    """Requests near that of a result, sized anew on the servers, the storage and the fabric of its design.

    Each is sized once, however many claims ask about it. The waits of a team size a cluster more than one of its
    workloads does, and take long to work out: with a team the design is held.
    """

    request: SizingRequest
    models: tuple[WorkloadOnDesign, ...]  # of the workloads on the design
    catalog: Catalog
    calibration: Calibration
    found: dict[tuple[str, float], tuple[WorkloadOnDesign, ...] | None] = field(default_factory=dict)

    def lever(self, number: int, key: str, *, upwards: bool) -> Lever:
        """An input of one workload."""
        model, place = self.models[number], f"workload.{number}"
        if key == DATASET_SIZE:
            what = "the size of the data set"
            return Lever(key, f"{place}.dataset_bytes", what, model.work.dataset_bytes, upwards, is_count=False)
        if key == SAMPLE_SIZE:
            what = "the size of an image" if model.work.dnn.sample == "image" else "the size of a sample"
            return Lever(key, f"{place}.sample_bytes", what, model.work.sample_bytes, upwards, is_count=False)
        if key == BATCH:
            what, batch = "the batch of a GPU", float(model.work.batch_per_gpu)
            return Lever(key, f"{place}.batch_per_gpu", what, batch, upwards, is_count=True)
        kind, value = target_kind(model), target_value(model)
        where = f"{place}.target.{kind}"
        if kind == "time_to_train_s":
            # A shorter time is the higher target.
            return Lever(key, where, "the time to train", value, not upwards, False, _time_unit(value)[0])
        if kind == "samples_per_s":
            unit = sample_unit(model.work.dnn)
            return Lever(key, where, "the target rate", value, upwards, is_count=False, unit=unit)
        return Lever(key, where, "the number of GPUs to keep busy", value, upwards, is_count=True)

    def people(self, *, upwards: bool) -> tuple[Lever, ...]:
        """The data scientists of a team whose jobs grow with them; empty where there are none."""
        team = self.request.team
        if team is None or team.data_scientists is None or all(job.jobs_a_day_each is None for job in team.job):
            return ()
        what, count = "the number of data scientists", float(team.data_scientists)
        return (Lever(PEOPLE, "team.data_scientists", what, count, upwards, is_count=True),)

    def changed(self, lever: Lever, value: float) -> SizingRequest | None:
        """The request with another value of an input; None where it allows no such value."""
        data = self.request.model_dump(exclude_none=True)
        place: Any = data
        for part in lever.path[:-1]:
            place = place[part]
        place[lever.path[-1]] = int(value) if lever.is_count else value
        with suppress(RequestError):
            return SizingRequest.from_dict(data, "what if")
        return None

    def sized(self, lever: Lever, value: float) -> tuple[WorkloadOnDesign, ...] | None:
        """All workloads on the design of the changed request; None where no size of the platform meets it."""
        key = (lever.key, value)
        if key not in self.found:
            request = self.changed(lever, value)
            size = self._sized if request is not None and request.team is None else self._held
            self.found[key] = None if request is None else size(request)
        return self.found[key]

    def _held(self, request: SizingRequest) -> tuple[WorkloadOnDesign, ...] | None:
        with suppress(InfeasibleError, RequestError):
            works = resolve(request, self.catalog, self.calibration.measured)
            return tuple(replace(model, request=request, works=works) for model in self.models)
        return None

    def _sized(self, request: SizingRequest) -> tuple[WorkloadOnDesign, ...] | None:
        first = self.models[0]
        narrow = narrowed_to(request, first.platform)
        found = self._best(narrow)
        if found is None:
            return None
        counting, row = found
        judged = counting.judged
        index, local = divmod(row, len(judged.space.sizes))
        gateway = counting.of(index).found.gateway_bytes_per_s
        return tuple(
            replace(
                model,
                request=request,
                works=judged.works,
                platform=judged.platforms[index],
                n_servers=int(judged.space.n_servers[row]),
                storage_nodes=int(judged.storage_nodes[row]),
                gateway_bytes_per_s=float(gateway[local]),
            )
            for model in self.models
        )

    def _best(self, request: SizingRequest) -> tuple[Counting, int] | None:
        """The best design of a narrow request with its row."""
        limit = request.limits.servers
        with suppress(InfeasibleError, RequestError):
            for most in _LOOKS:
                if most is not None and (most <= self.models[0].n_servers // 2 or (limit or MAX_SERVERS) <= most):
                    continue
                counting = search(request, self.catalog, self.calibration, most=most)
                with suppress(UnsettledError):
                    order = Ranking(counting, goes_on=most is not None).first(1)
                    if order:
                        return counting, order[0]
        return None


def nearest_change(
    trials: Trials, lever: Lever, is_turned: Callable[[float], bool | None], effect: str
) -> Change | None:
    """Nearest value of an input at which a claim is turned round.

    Parameters
    ----------
    trials : Trials
    lever : Lever
    is_turned : callable
        Whether the claim is turned at a value; None where no design meets the request.
    effect : str
        What the change does, to end the sentence: "it would no longer fit the memory".

    Returns
    -------
    Change or None
        None where nothing within the range looked at turns it.

    Notes
    -----
    Values are doubled, or halved, until one turns the claim; bisection between the last two finds the step. A claim
    that is turned and turned back within one doubling is missed.
    """
    sign = 1 if lever.upwards else -1
    at_now = lever.step(lever.before)
    # The first step beyond the present value: below it is the step itself, unless the value lies on it.
    still = at_now if lever.upwards or lever.value(at_now) == lever.before else at_now + 1
    for doubling in range(1, _DOUBLINGS[lever.input] + 1):
        beyond = lever.step(max(lever.before * 2.0 ** (sign * doubling), 1.0 if lever.is_count else 0.0))
        if beyond == still or trials.changed(lever, lever.value(beyond)) is None:
            break
        if is_turned(lever.value(beyond)) in (True, None):
            return _between(trials, lever, is_turned, effect, still, beyond)
        still = beyond
    return None


def _between(
    trials: Trials,
    lever: Lever,
    is_turned: Callable[[float], bool | None],
    effect: str,
    still: int,
    beyond: int,
) -> Change | None:
    """The step at which a claim is turned, between one where it is not and one where it is, or nothing can be built."""
    while abs(beyond - still) > 1:
        middle = (still + beyond) // 2
        if is_turned(lever.value(middle)) is False:
            still = middle
        else:
            beyond = middle
    after = lever.value(beyond)
    request = trials.changed(lever, after)
    if request is None or not is_turned(after):
        return None
    last = lever.value(still)
    is_past = last < lever.before if lever.upwards else last > lever.before
    texts = _text(lever, lever.before), _text(lever, after)
    sentence = f"If {lever.what} went from {texts[0]} to {texts[1]}, {effect}."
    return Change(lever.key, lever.before, lever.before if is_past else last, after, *texts, sentence, request)


def _text(lever: Lever, value: float) -> str:
    if lever.key.endswith("_bytes"):
        return si(value, "B")
    if lever.key.endswith("time_to_train_s"):
        return f"{significant(value / lever.unit_s)}{NARROW_SPACE}{_time_unit(lever.before)[1]}"
    if lever.key.endswith("samples_per_s"):
        return f"{plain(value) if value < 1000 else grouped(value)}{NARROW_SPACE}{lever.unit}"
    return grouped(value)


def _time_unit(seconds: float) -> tuple[float, str]:
    """Unit in which a person would write a time."""
    # The limits are those of ``duration``, so that both name the same unit.
    for limit, unit, name in (
        (99.5, 1.0, "s"),
        (5970.0, units.MINUTE_S, "min"),
        (72 * units.HOUR_S, units.HOUR_S, "h"),
    ):
        if seconds < limit:
            return unit, name
    return units.DAY_S, "d"
