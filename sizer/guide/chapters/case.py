"""What every chapter draws from: the result, the catalogue, the edition, and analyses that several chapters share."""

from dataclasses import dataclass
from functools import cached_property

from sizer.base.errors import InfeasibleError, RequestError
from sizer.bom.rental import RentOrBuy
from sizer.catalog.model import Catalog
from sizer.guide.acceptance.tests import AcceptanceTest, acceptance_tests
from sizer.guide.edition import Edition
from sizer.physical.expansion import GrowthStep, growth
from sizer.physical.networks.addresses import AddressPlan, address_plan
from sizer.present.theme import Palette
from sizer.questions.data.analysis import DataPlan, data_plan
from sizer.questions.failures.analysis import FailureCase, failure_cases
from sizer.questions.growth.analysis import growth_plan
from sizer.questions.growth.result import GrowthPlan, without_money
from sizer.questions.rent.analysis import rent_or_buy
from sizer.questions.scale.analysis import SameGpus, allowed_kinds, up_or_out
from sizer.questions.team.analysis import TeamAnswer, team_answer
from sizer.questions.verdict.analysis import claims
from sizer.questions.verdict.claim import Claim
from sizer.questions.verdict.simplest_design import SimplestDesign, simplest_design
from sizer.questions.what_if.sensitivity import Sensitivity, sensitivities
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.redundancy_cost import spare_cost
from sizer.sizing.result import DesignAnswer, SizingResult, SpareCost, WorkloadAnswer
from sizer.workload.request import Loss


@dataclass(frozen=True)
class Case:
    """One answer as one edition tells it. Each analysis is made once, when a chapter first asks for it."""

    result: SizingResult
    catalog: Catalog
    edition: Edition

    @property
    def design(self) -> DesignAnswer:
        """The design that the guide describes."""
        return self.result.design

    @property
    def answers(self) -> tuple[WorkloadAnswer, ...]:
        """How each workload runs on it."""
        return self.design.workloads

    @property
    def palette(self) -> Palette:
        """Colours of the charts: the company's accent among ours."""
        return self.edition.profile.palette

    @property
    def is_full(self) -> bool:
        """Whether this is the full guide."""
        return self.edition.form == "full"

    @property
    def is_single(self) -> bool:
        """Whether one server does all the work."""
        return self.design.n_servers == 1

    @property
    def has_many_workloads(self) -> bool:
        """Whether tables must say which workload they mean."""
        return len(self.answers) > 1

    @cached_property
    def sensitivities(self) -> tuple[Sensitivity, ...]:
        """What would change the answer, for each workload."""
        return sensitivities(EvaluatedDesign(self.result, self.catalog))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What a customer may doubt, with what would reverse it."""
        return claims(EvaluatedDesign(self.result, self.catalog))

    @cached_property
    def simplest(self) -> SimplestDesign:
        """The simplest design that is enough."""
        return simplest_design(EvaluatedDesign(self.result, self.catalog))

    @cached_property
    def failures(self) -> tuple[FailureCase, ...]:
        """What each failure costs."""
        return failure_cases(EvaluatedDesign(self.result, self.catalog))

    @property
    def asked_losses(self) -> tuple[Loss, ...]:
        """Losses that the request asks the design to bear."""
        return tuple(dict.fromkeys(self.result.request.resilience.keeps_targets_without))

    @cached_property
    def spare_cost(self) -> SpareCost | None:
        """What bearing them takes; None where nothing is asked."""
        return spare_cost(self.result.request, self.design, self.catalog)

    @cached_property
    def data(self) -> DataPlan:
        """What must fit on the storage, how it gets in, and what is done with it beside training."""
        return data_plan(EvaluatedDesign(self.result, self.catalog))

    @cached_property
    def team(self) -> TeamAnswer | None:
        """Waits and reads of the team; None without one, and where the catalogue lacks parts of the design."""
        return team_answer(EvaluatedDesign(self.result, self.catalog))

    @cached_property
    def rental(self) -> RentOrBuy | None:
        """Renting instead of buying, where the request holds an offer."""
        return rent_or_buy(self.result)

    @cached_property
    def tests(self) -> tuple[AcceptanceTest, ...]:
        """What to run before the cluster is taken over."""
        return acceptance_tests(EvaluatedDesign(self.result, self.catalog))

    @cached_property
    def addresses(self) -> AddressPlan:
        """Subnets and addresses of every port."""
        return address_plan(self.design.plan)

    @cached_property
    def growth_plan(self) -> tuple[GrowthPlan | None, str]:
        """Purchases of every year; None with the reason where nothing meets even the first year."""
        try:
            plan = growth_plan(self.result.request, self.catalog)
            return without_money(plan) if self.design.bill.is_customer_copy else plan, ""
        except (InfeasibleError, RequestError) as error:
            return None, str(error)

    @property
    def growth(self) -> tuple[GrowthStep, ...]:
        """The next two sizes."""
        return growth(self.design.plan)

    @cached_property
    def same_gpus(self) -> SameGpus | None:
        """The design's GPUs in other servers; None where the request allows no second kind that takes them."""
        if allowed_kinds(self.result, self.catalog) < 2:
            return None
        return next(iter(up_or_out(self.result, self.catalog).comparisons), None)
