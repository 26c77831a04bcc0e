"""Sizing of deep-learning clusters: from a workload to a cluster, a bill of materials and a guide.

>>> from sizer import SizingRequest, load_catalog, size
>>> result = size(SizingRequest.from_file("examples/dgx1-f800-resnet50.toml"), load_catalog())
>>> result.design.n_servers, result.design.n_gpus
(9, 72)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sizer.base.errors import BatchError as BatchError
    from sizer.base.errors import InfeasibleError as InfeasibleError
    from sizer.base.errors import SizerError as SizerError
    from sizer.base.estimate import Estimate as Estimate
    from sizer.batch.monte_carlo import monte_carlo as monte_carlo
    from sizer.batch.run import size_batch as size_batch
    from sizer.batch.sweep import sweep as sweep
    from sizer.catalog.loader import load_catalog as load_catalog
    from sizer.catalog.model import Catalog as Catalog
    from sizer.questions.compare.causes import diff as diff
    from sizer.questions.data.analysis import data_plan as data_plan
    from sizer.questions.failures.analysis import FailureCase as FailureCase
    from sizer.questions.failures.analysis import failure_cases as failure_cases
    from sizer.questions.ownership.analysis import ownership as ownership
    from sizer.questions.rent.rent_or_buy import rent_or_buy as rent_or_buy
    from sizer.questions.scale.analysis import ScaleComparison as ScaleComparison
    from sizer.questions.scale.analysis import scale_comparison as scale_comparison
    from sizer.questions.team.analysis import TeamAnswer as TeamAnswer
    from sizer.questions.team.analysis import team_answer as team_answer
    from sizer.questions.verdict.analysis import Claim as Claim
    from sizer.questions.verdict.analysis import claims as claims
    from sizer.questions.verdict.simplest_design import SimplestDesign as SimplestDesign
    from sizer.questions.verdict.simplest_design import simplest_design as simplest_design
    from sizer.sizing.design.evaluated_design import EvaluatedDesign as EvaluatedDesign
    from sizer.sizing.growth.growth_plan import growth_plan as growth_plan
    from sizer.sizing.growth.result import GrowthPlan as GrowthPlan
    from sizer.sizing.project import project as project
    from sizer.sizing.result import DesignAnswer as DesignAnswer
    from sizer.sizing.result import SizingResult as SizingResult
    from sizer.sizing.servers_needed import spare_cost as spare_cost
    from sizer.sizing.size import size as size
    from sizer.workload.request import SizingRequest as SizingRequest

__version__ = "0.17.0"

# Public name -> module. Resolved on first use, so that importing the package does no work.
_PUBLIC = {
    "BatchError": "sizer.base.errors",
    "Catalog": "sizer.catalog.model",
    "Claim": "sizer.questions.verdict.analysis",
    "DesignAnswer": "sizer.sizing.result",
    "EvaluatedDesign": "sizer.sizing.design.evaluated_design",
    "FailureCase": "sizer.questions.failures.analysis",
    "GrowthPlan": "sizer.sizing.growth.result",
    "InfeasibleError": "sizer.base.errors",
    "Estimate": "sizer.base.estimate",
    "SizerError": "sizer.base.errors",
    "SizingRequest": "sizer.workload.request",
    "SizingResult": "sizer.sizing.result",
    "TeamAnswer": "sizer.questions.team.analysis",
    "ScaleComparison": "sizer.questions.scale.analysis",
    "SimplestDesign": "sizer.questions.verdict.simplest_design",
    "claims": "sizer.questions.verdict.analysis",
    "failure_cases": "sizer.questions.failures.analysis",
    "growth_plan": "sizer.sizing.growth.growth_plan",
    "load_catalog": "sizer.catalog.loader",
    "monte_carlo": "sizer.batch.monte_carlo",
    "data_plan": "sizer.questions.data.analysis",
    "diff": "sizer.questions.compare.causes",
    "project": "sizer.sizing.project",
    "ownership": "sizer.questions.ownership.analysis",
    "rent_or_buy": "sizer.questions.rent.rent_or_buy",
    "simplest_design": "sizer.questions.verdict.simplest_design",
    "size": "sizer.sizing.size",
    "size_batch": "sizer.batch.run",
    "spare_cost": "sizer.sizing.servers_needed",
    "sweep": "sizer.batch.sweep",
    "team_answer": "sizer.questions.team.analysis",
    "scale_comparison": "sizer.questions.scale.analysis",
}

__all__ = sorted([*_PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sizer' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
