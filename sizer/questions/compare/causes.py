"""Which input caused a difference: every change between two requests, made alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.library.compare import HeadlineFigure, figures_of
from sizer.sizing.best_design import best_design
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest
from sizer.workload.table import FieldChange, field_changes, matched, mixed

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
    figures: tuple[HeadlineFigure, ...] = ()
    reason: str = ""

    @cached_property
    def numbers(self) -> Numbers:
        """Numbers among the figures by their keys. No price that is a lower bound: its difference says nothing."""
        amounts = {one.key: Fraction(one.text) for one in self.figures if one.unit == "money" and not one.is_at_least}
        return {figure.key: Fraction(figure.value) for figure in self.figures if figure.value is not None} | amounts

    @property
    def is_answered(self) -> bool:
        """Whether a design meets the request."""
        return not self.reason


@dataclass(frozen=True)
class Cause:
    """One input that differs, and what it does when nothing else changes."""

    key: str  # "workload.target"
    changes: tuple[FieldChange, ...]
    alone: RequestOutcome  # the first request with this change only

    def effect(self, before: RequestOutcome, key: str) -> Fraction | None:
        """What the change alone adds to a number; None where there is no design."""
        number = self.alone.numbers.get(key)
        return None if number is None else number - before.numbers[key]


@dataclass(frozen=True)
class AnswerDifference:
    """Two requests, what each leads to, and what each changed input does alone."""

    before: RequestOutcome
    now: RequestOutcome
    causes: tuple[Cause, ...]
    informational: tuple[FieldChange, ...]  # changes that no search reads, such as a title

    @property
    def changes(self) -> tuple[FieldChange, ...]:
        """All that the requests say otherwise."""
        return (*(change for cause in self.causes for change in cause.changes), *self.informational)

    @property
    def compared(self) -> tuple[str, ...]:
        """Numbers that both answers have."""
        return tuple(key for key in self.before.numbers if key in self.now.numbers)

    def total(self, key: str) -> Fraction:
        """The whole difference of a number of :attr:`compared`."""
        return self.now.numbers[key] - self.before.numbers[key]


def diff(
    before: SizingRequest, now: SizingRequest, catalog: Catalog, calibration: Calibration | None = None
) -> AnswerDifference:
    """List the inputs that two requests state otherwise, and what each of them changes in the answer when made alone.

    Changes interact, so their effects need not add up to the whole difference.

    ``calibration``: Default: the stored one. A request that no design meets is no error: its outcome says why. Raises
    RequestError if either request names something that the catalogue does not have.
    """
    calibration = calibration if calibration is not None else stored_calibration()

    def outcome(request: SizingRequest) -> RequestOutcome:
        try:
            return _outcome(best_design(request, catalog, calibration).design)
        except InfeasibleError as error:
            return RequestOutcome(reason=str(error))

    def alone(key: str) -> RequestOutcome:
        try:
            return outcome(SizingRequest.from_dict(mixed(old, new, lambda change: _input(change) == key)))
        except RequestError as error:
            return RequestOutcome(reason=str(error))

    old, new = _alike_named(_plain(before), _plain(now))
    groups: dict[str, list[FieldChange]] = {}
    informational = []
    for change in field_changes(old, new):
        key = _input(change)
        if key is None:
            informational.append(change)
        else:
            groups.setdefault(key, []).append(change)
    first, last = outcome(before), outcome(now)
    causes = (Cause(key, tuple(changes), last if len(groups) == 1 else alone(key)) for key, changes in groups.items())
    return AnswerDifference(first, last, tuple(causes), tuple(informational))


def _outcome(design: DesignAnswer) -> RequestOutcome:
    return RequestOutcome(
        design=design.name,
        limiting=tuple(answer.bottleneck for answer in design.workloads),
        figures=figures_of(design),
    )


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
