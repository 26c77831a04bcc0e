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
    from sizer.sizing.claims import Claim as Claim
    from sizer.sizing.claims import claims as claims
    from sizer.sizing.data_plan import data_plan as data_plan
    from sizer.sizing.differences import diff as diff
    from sizer.sizing.failures import FailureCase as FailureCase
    from sizer.sizing.failures import failure_cases as failure_cases
    from sizer.sizing.growth_result import GrowthPlan as GrowthPlan
    from sizer.sizing.project import project as project
    from sizer.sizing.purchases import growth_plan as growth_plan
    from sizer.sizing.rent_or_buy import rent_or_buy as rent_or_buy
    from sizer.sizing.result import DesignAnswer as DesignAnswer
    from sizer.sizing.result import SizingResult as SizingResult
    from sizer.sizing.simplest import SimplestDesign as SimplestDesign
    from sizer.sizing.simplest import simplest as simplest
    from sizer.sizing.size import size as size
    from sizer.sizing.spare_cost import spare_cost as spare_cost
    from sizer.sizing.team import TeamAnswer as TeamAnswer
    from sizer.sizing.team import team_answer as team_answer
    from sizer.sizing.up_or_out import UpOrOut as UpOrOut
    from sizer.sizing.up_or_out import up_or_out as up_or_out
    from sizer.workload.request import SizingRequest as SizingRequest

__version__ = "0.1.0"

# Public name -> module. Resolved on first use, so that importing the package does no work.
_PUBLIC = {
    "BatchError": "sizer.base.errors",
    "Catalog": "sizer.catalog.model",
    "Claim": "sizer.sizing.claims",
    "DesignAnswer": "sizer.sizing.result",
    "FailureCase": "sizer.sizing.failures",
    "GrowthPlan": "sizer.sizing.growth_result",
    "InfeasibleError": "sizer.base.errors",
    "Estimate": "sizer.base.estimate",
    "SizerError": "sizer.base.errors",
    "SizingRequest": "sizer.workload.request",
    "SizingResult": "sizer.sizing.result",
    "TeamAnswer": "sizer.sizing.team",
    "UpOrOut": "sizer.sizing.up_or_out",
    "SimplestDesign": "sizer.sizing.simplest",
    "claims": "sizer.sizing.claims",
    "failure_cases": "sizer.sizing.failures",
    "growth_plan": "sizer.sizing.purchases",
    "load_catalog": "sizer.catalog.loader",
    "monte_carlo": "sizer.batch.monte_carlo",
    "data_plan": "sizer.sizing.data_plan",
    "diff": "sizer.sizing.differences",
    "project": "sizer.sizing.project",
    "rent_or_buy": "sizer.sizing.rent_or_buy",
    "simplest": "sizer.sizing.simplest",
    "size": "sizer.sizing.size",
    "size_batch": "sizer.batch.run",
    "spare_cost": "sizer.sizing.spare_cost",
    "sweep": "sizer.batch.sweep",
    "team_answer": "sizer.sizing.team",
    "up_or_out": "sizer.sizing.up_or_out",
}

__all__ = sorted([*_PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sizer' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
