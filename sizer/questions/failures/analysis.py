"""What fails and what each failure costs: one case for every kind of part that a design has."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sizer.physical.losses import Losses
from sizer.questions.failures.scenarios import (
    FailureEffect,
    FailureKey,
    FailureScenario,
    FailureScenarios,
    HardwareAfterLoss,
    longest_outage_s,
    rate_shares,
    target_probabilities,
)
from sizer.questions.team.analysis import TeamModel, team_model
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import SizingResult
from sizer.sizing.stages.evaluate import least_chance
from sizer.workload.request import Loss


@dataclass(frozen=True)
class FailureCase:
    """One failure with what it costs."""

    key: FailureKey
    effect: FailureEffect
    throughput: tuple[float, ...]  # of every workload after it, at the median; 0: it stops [samples/s]
    share: tuple[float, ...]  # of its normal rate, 0..1
    is_only: bool = False  # whether the design has only one such part
    loss: Loss | None = None  # the kind of loss that a request can ask a design to tolerate
    # Of every workload: the probability that a run meets the target if the part stays out, whether that is enough, and
    # how long the part may be out once in a run [s]; empty where the catalogue no longer holds the parts, and where no
    # source says whether the data survive.
    probability: tuple[float, ...] = ()
    meets_target: tuple[bool, ...] = ()
    outage_s: tuple[float, ...] = ()
    # Share of the jobs of the team that start within their wait limit on the remaining servers, of the worst kind of
    # job; None without a team.
    within_wait: float | None = None
    # Whether all targets are still met together at the required confidence, and the waits of a team; None where it is
    # not known.
    keeps_targets: bool | None = None
    # Whether a source says what the loss does to the rate; of data and power supplies it may be open.
    rate_is_known: bool = True
    # GPUs that remain, and those that a target asks for in one job; None where enough or none remain.
    too_few_gpus: tuple[int, int] | None = None


def failure_cases(evaluated: EvaluatedDesign) -> tuple[FailureCase, ...]:
    """Failures of single parts of a design, each with what it costs.

    A target is evaluated at the required confidence for runs during which the part stays out. Planned maintenance is
    the same loss, one part after the other.

    Rates are those of the same models on the remaining hardware: fewer servers or storage nodes, ports that are cut
    off, and the share of its uplinks that the worst switch retains. Switches are assumed to route around a loss. Not
    modelled, because no source gives them: the read rate that a rebuild takes, its duration, and how often parts fail.

    In the order of the data path: compute, storage, fabric, management, power. Only parts that the design has.
    """
    result = evaluated.result
    scenarios = FailureScenarios(result, Losses(result.design.plan))
    found = tuple(scenarios.all())
    rates = _ScenarioRates(result, evaluated.workloads, scenarios, found, team_model(evaluated))
    return tuple(rates.case(place, one, scenarios.loss_of(one.key)) for place, one in enumerate(found))


class _ScenarioRates:
    """What the workloads achieve in each scenario, computed for all of them in one pass."""

    def __init__(
        self,
        result: SizingResult,
        models: Sequence[WorkloadOnDesign | None],
        design: FailureScenarios,
        scenarios: Sequence[FailureScenario],
        team: TeamModel | None,
    ) -> None:
        self._answers, self._gpus_per_server = result.design.workloads, design.n_gpus
        self._confidence = result.request.confidence
        self._required = least_chance(self._confidence)
        options: list[HardwareAfterLoss] = [option for scenario in scenarios for option in scenario.options]
        counts = {option.remaining.n_servers for option in options}
        runs = {count: team.on(count) for count in counts if count} if team else {}
        # No job starts that cannot read its data.
        self._team_runs = [
            runs.get(option.remaining.n_servers) if option.remaining.reaches_storage else None for option in options
        ]
        self._has_team = team is not None
        starts = np.cumsum([0, *(len(scenario.options) for scenario in scenarios)])
        self._options, self._places = options, [range(first, last) for first, last in pairwise(starts.tolist())]
        pairs = list(zip(models, self._answers, strict=True))
        self._shares = np.array([rate_shares(model, answer, design.whole, options) for model, answer in pairs])
        known = [model for model in models if model is not None]
        is_known = len(known) == len(pairs) and not any(model.is_open for model in known)
        self._probabilities = np.array([target_probabilities(model, options) for model in known]) if is_known else None

    def case(self, place: int, scenario: FailureScenario, loss: Loss | None) -> FailureCase:
        """The case of a scenario."""
        best = max(self._places[place], key=lambda index: (self._keeps(index), float(self._shares[:, index].sum())))
        share = tuple(self._shares[:, best].tolist())
        known = self._probabilities if scenario.is_certain else None
        probability = tuple(known[:, best].tolist()) if known is not None else ()
        meets = tuple(one >= self._required for one in probability)
        return FailureCase(
            key=scenario.key,
            effect=scenario.effect(self._options[best].remaining),
            throughput=tuple(
                part * float(answer.throughput.value) for part, answer in zip(share, self._answers, strict=True)
            ),
            share=share,
            is_only=scenario.is_only,
            loss=loss,
            probability=probability,
            meets_target=meets,
            outage_s=tuple(
                longest_outage_s(answer, part, self._confidence, is_met=is_met)
                for answer, part, is_met in zip(self._answers, share, meets, strict=bool(meets))
            ),
            within_wait=self._within_wait(best),
            keeps_targets=self._keeps(best) if meets else None,
            rate_is_known=scenario.is_certain,
            too_few_gpus=self._too_few_gpus(self._options[best]),
        )

    def _too_few_gpus(self, option: HardwareAfterLoss) -> tuple[int, int] | None:
        """GPUs that remain, where a target asks for more of them in one job."""
        remaining = option.remaining.n_servers * (option.n_gpus_per_server or self._gpus_per_server)
        asked = max((answer.workload.target.gpus_busy or 0 for answer in self._answers), default=0)
        return (remaining, asked) if 0 < remaining < asked else None

    def _keeps(self, index: int) -> bool:
        """Whether all workloads together meet their targets at the required confidence, and a team its waits."""
        run = self._team_runs[index]
        waits = not self._has_team or (run is not None and run.meets)
        probabilities = self._probabilities
        return probabilities is not None and waits and float(probabilities[:, index].prod()) >= self._required

    def _within_wait(self, index: int) -> float | None:
        """Share of the jobs that start within their wait limit, of the worst kind of job; None without a team."""
        if not self._has_team:
            return None
        run = self._team_runs[index]
        return 0.0 if run is None else min((kind.share_within for kind in run.kinds), default=1.0)
