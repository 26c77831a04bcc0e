"""Models of what a layout divides over the GPUs of a design, as the sizing asks them."""

from collections.abc import Sequence
from typing import Protocol

from sizer.base.arrays import Ints
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.physical.platform import Platform
from sizer.sizing.checks import FactKind
from sizer.sizing.stages import language_rates, serving_rates
from sizer.sizing.stages.laid_out import LaidOutRun
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.work_kinds import LANGUAGE, SERVING


class LaidOutModel(Protocol):
    """A model of rates by layouts."""

    verb: str  # what its GPUs do with a model, for errors
    missing: FactKind  # what nobody published of GPUs without a rate

    def run(
        self, work: ResolvedWorkload, platforms: Sequence[Platform], cols: Columns, n_servers: Ints, catalog: Catalog
    ) -> LaidOutRun:
        """Rates of every row; arguments as of :func:`sizer.sizing.stages.compute_side.compute`."""
        ...

    def is_unknown(self, gpu: Gpu, catalog: Catalog) -> bool:
        """Whether no run of a GPU's generation was published, so that no rate is predicted."""
        ...

    def refusal(
        self, work: ResolvedWorkload, platform: Platform, n_servers: int, gpus_per_server: int, catalog: Catalog
    ) -> str:
        """Why no layout runs on servers of a platform, in the words of an error; "" where one does."""
        ...


class _Language:
    verb, missing = "train", FactKind.TRAINING_RATE
    run = staticmethod(language_rates.language_run)
    is_unknown = staticmethod(language_rates.is_unmeasured)

    def refusal(
        self, work: ResolvedWorkload, platform: Platform, n_servers: int, gpus_per_server: int, catalog: Catalog
    ) -> str:
        return language_rates.layout_refusal(work.trained, platform, n_servers * gpus_per_server, catalog)


class _Serving:
    verb, missing = "serve", FactKind.SERVING_RATE
    run = staticmethod(serving_rates.serving_run)

    def is_unknown(self, gpu: Gpu, catalog: Catalog) -> bool:  # noqa: ARG002
        return serving_rates.is_unserved(gpu)

    def refusal(
        self, work: ResolvedWorkload, platform: Platform, n_servers: int, gpus_per_server: int, catalog: Catalog
    ) -> str:
        return serving_rates.serving_error_text(work.served, platform, gpus_per_server, n_servers, catalog)


_MODELS: dict[str, LaidOutModel] = {LANGUAGE.name: _Language(), SERVING.name: _Serving()}


def laid_out_model(work: ResolvedWorkload) -> LaidOutModel | None:
    """Model of a workload that a layout divides; None of others."""
    return _MODELS.get(work.kind.name)
