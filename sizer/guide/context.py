"""Input of every chapter: the result, the catalogue, the edition, and analyses that several chapters share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from sizer.base.errors import InfeasibleError, RequestError
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Server
from sizer.drawings.palette import Palette
from sizer.guide.acceptance.tests import acceptance_tests
from sizer.guide.profile import Edition
from sizer.physical.networks.addresses import address_plan
from sizer.physical.roles import Role
from sizer.present.text.bill_warnings import not_ordered
from sizer.present.text.money import price_range_text
from sizer.questions.data.analysis import data_plan
from sizer.questions.failures.analysis import failure_cases
from sizer.questions.ownership.analysis import ownership
from sizer.questions.rent.rent_or_buy import rent_or_buy
from sizer.questions.team.analysis import team_answer
from sizer.questions.verdict.analysis import claims
from sizer.questions.verdict.simplest_design import simplest_design
from sizer.questions.what_if.sensitivity import sensitivities
from sizer.sizing.customer_copy import not_offered
from sizer.sizing.decision_options import USUAL_CONFIDENCE, as_built, on_sale_today
from sizer.sizing.design.decisions import decisions
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.growth.growth_plan import growth_plan
from sizer.sizing.growth.result import GrowthPlan, as_billed, offered
from sizer.sizing.result import DecisionOption, DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.servers_needed import fewest_servers
from sizer.workload.request import Loss

T = TypeVar("T")


class _of_result(Generic[T]):  # noqa: N801 -- reads as the decorator that it is
    """A cached property of a context that depends on its result and catalogue only."""

    def __init__(self, function: "Callable[[GuideContext], T]") -> None:
        self._function = function

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, context: "GuideContext", _: object = None) -> T:
        if self._name not in context.analyses:
            context.analyses[self._name] = self._function(context)
        return cast(T, context.analyses[self._name])


@dataclass(frozen=True)
class GuideContext:
    """One result in one edition. Each analysis runs once, when a chapter first uses it."""

    result: SizingResult
    catalog: Catalog
    edition: Edition
    # Those that were made, by name. Contexts of one result share them: :func:`guide_context`.
    analyses: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def design(self) -> DesignAnswer:
        """The design that the guide describes."""
        return self.result.design

    # The design as the analyses take it, with the stored calibration.
    evaluated = _of_result(lambda self: EvaluatedDesign(self.result, self.catalog))

    @property
    def answers(self) -> tuple[WorkloadAnswer, ...]:
        """Predicted performance of each workload."""
        return self.design.workloads

    @property
    def palette(self) -> Palette:
        """Colours of the charts, with the accent colour of the profile."""
        return self.edition.profile.palette

    @property
    def is_single(self) -> bool:
        """Whether the design has one GPU server, and that is a single host."""
        return self.design.n_hosts == 1

    @property
    def only_serves(self) -> bool:
        """Whether nothing is trained: no data set is read, and no epochs are counted."""
        return self.design.only_serves

    @property
    def serves(self) -> bool:
        """Whether a model is in use."""
        return any(answer.serving is not None for answer in self.answers)

    @property
    def has_many_workloads(self) -> bool:
        """Whether tables must name the workload."""
        return len(self.answers) > 1

    @property
    def head_node(self) -> Server | None:
        """The head node; None where the design has none."""
        return self.design.platform.head_node if self.n_head_nodes else None

    # Head nodes of the design.
    n_head_nodes = _of_result(lambda self: sum(device.role is Role.HEAD_NODE for device in self.design.plan.devices))
    # Why this server, storage, fabric and these racks.
    decisions = _of_result(lambda self: decisions(self.evaluated))

    @_of_result
    def built(self) -> DecisionOption | None:
        """The same parts with reserves and 90 % confidence, this design where it has them; None where none is found."""
        deferred = self.result.built
        option = as_built(self.result.request, self.design, self.catalog) if deferred is None else deferred.value
        return self._told(option, is_offered=True)

    @_of_result
    def on_sale(self) -> DecisionOption | None:
        """The best design of parts that can be ordered; None where this is it, or the request allows them all.

        A customer reads of parts that the request excludes only where what it allows is no longer sold.
        """
        if self.design.bill.is_customer_copy and not not_ordered(self.design, self.result.request.date):
            return None
        return self._told(on_sale_today(self.result, self.catalog))

    def told_price(self, design: DesignAnswer) -> str:
        """What another design costs, as this copy tells it."""
        option = self._told(DecisionOption(self.result.request, design))
        assert option is not None
        return price_range_text(option.design)

    def _told(self, option: DecisionOption | None, is_offered: bool = False) -> DecisionOption | None:
        """An option as this copy tells it; ``is_offered``: of the parts whose prices the offer has."""
        if option is None or option.design is self.design or not self.design.bill.is_customer_copy:
            return option
        # A range of the market may be told, prices of the user's own book may not.
        found = option.design
        is_told = is_offered or not any(line.has_own_price for line in found.bill.lines)
        return replace(option, design=replace(not_offered(found), cost=found.cost if is_told else None))

    @_of_result
    def sure(self) -> DecisionOption | None:
        """Of a design that meets its targets on a condition, the first of the others that does without one."""
        confidence = self.result.request.confidence
        others = self.result.platforms if self.design.late else ()
        if self.result.surer is not None and self.result.surer.value is not None:
            others = (*others, self.result.surer.value)
        found = (one for one in others if not (one.late or one.conditional_on) and (one.probability or 0) >= confidence)
        design = next(found, None)
        return None if design is None else self._told(DecisionOption(self.result.request, design))

    @property
    def surer(self) -> DesignAnswer | None:
        """Of a design whose confidence is low, one that reaches the usual one."""
        chance, options = self.design.probability, (self.sure, self.built)
        if chance is None or chance >= USUAL_CONFIDENCE:
            return None
        designs = (option.design for option in options if option is not None)
        return next((design for design in designs if (design.probability or 0.0) >= USUAL_CONFIDENCE), None)

    # Influence of the inputs on the result, by workload.
    sensitivities = _of_result(lambda self: sensitivities(self.evaluated))
    # Claims about the design with the change at which each turns.
    claims = _of_result(lambda self: claims(self.evaluated))
    # The simplest design that meets the request.
    simplest = _of_result(lambda self: simplest_design(self.evaluated))
    # Remaining performance after each failure.
    failures = _of_result(lambda self: failure_cases(self.evaluated))

    @property
    def tolerated_losses(self) -> tuple[Loss, ...]:
        """Losses that the design has to tolerate by request."""
        return tuple(dict.fromkeys(self.result.request.resilience.keeps_targets_without))

    # Stored data, ingest, checkpoints and other work on the data.
    data = _of_result(lambda self: data_plan(self.evaluated))
    # Queue waits and reads of the team; None without a team or where the catalogue lacks parts of the design.
    team = _of_result(lambda self: team_answer(self.evaluated))

    @_of_result
    def servers_of_runs(self) -> int:
        """Fewest servers of the design that meet the targets of its workloads where no team shares them."""
        alone, first = self.result.request.model_copy(update={"team": None}), self.evaluated.workloads[0]
        found = fewest_servers(
            alone, first.works, self.design.platform, self.design.n_servers, self.catalog, self.evaluated.calibration
        )
        return found or self.design.n_servers

    @_of_result
    def taking_turns(self) -> tuple[WorkloadAnswer, ...]:
        """Trainings whose sized run leaves the jobs of the team too few servers, but those that a job is."""
        if self.team is None:
            return ()
        jobs = {job.workload for job in self.team.team.job}
        runs = tuple(answer for answer in self.answers if answer.serving is None and answer.workload.name not in jobs)
        needed = self.team.n_servers_for_waits + (self.servers_of_runs if runs else 0)
        return runs if needed > self.design.n_servers else ()

    # Cost of owning the design over the years; None where the request does not ask for it.
    ownership = _of_result(lambda self: ownership(self.result))
    # Renting compared with buying; None where the request has no rental offer.
    rental = _of_result(lambda self: rent_or_buy(self.result))
    # Tests to run before the cluster is accepted.
    tests = _of_result(lambda self: acceptance_tests(self.evaluated))
    # Subnets and the address of every port.
    addresses = _of_result(lambda self: address_plan(self.design.plan))

    @_of_result
    def growth_plan(self) -> tuple[GrowthPlan | None, str]:
        """Purchases of every year; None with the reason where no design meets the first year."""
        try:
            plan = as_billed(growth_plan(self.result.request, self.catalog), self.design)
            return offered(plan, self.design) if self.design.bill.is_customer_copy else plan, ""
        except (InfeasibleError, RequestError) as error:
            return None, str(error)


# Analyses of the answer asked last: its guide, its engineer's file and its slides are made one after the other.
_last: tuple[SizingResult, Catalog, str, dict[str, Any]] | None = None


def guide_context(result: SizingResult, catalog: Catalog, edition: Edition) -> GuideContext:
    """Context of an edition, with the analyses that the last one of the same answer and locale has made."""
    global _last
    last, locale = _last, edition.profile.locale
    if last is None or last[0] is not result or last[1] is not catalog or last[2] != locale:
        last = _last = (result, catalog, locale, {})
    return GuideContext(result, catalog, edition, last[3])
