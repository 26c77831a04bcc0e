"""Models of what a layout divides over the GPUs of a design, as the sizing asks them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.physical.platform import Platform
from sizer.sizing.checks import FactKind
from sizer.sizing.stages import language_rates, serving_rates
from sizer.sizing.stages.platform_columns import LaidOutRun, ServerRows
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.work_kinds import LANGUAGE, SERVING

Run = Callable[[ResolvedWorkload, ServerRows], LaidOutRun]


@dataclass(frozen=True)
class LaidOutModel:
    """A model of rates by layouts."""

    verb: str  # what its GPUs do with a model, for errors
    missing: FactKind  # what nobody published of GPUs without a rate
    run: Run  # rates of every row
    is_unknown: Callable[[Gpu, Catalog], bool]  # no run of a GPU's generation was published: no rate is predicted
    # Why no layout runs on servers of a platform with so many GPUs each, in the words of an error; "" where one does.
    refusal: Callable[[ResolvedWorkload, Platform, int, int, Catalog], str]


def _language_run(work: ResolvedWorkload, hosts: ServerRows) -> LaidOutRun:
    """Rates of every row: of a training at night on the GPUs that models in use leave."""
    run = language_rates.language_run(work, hosts)
    if work.night is None:
        return run
    share = serving_rates.night_share(work.night, hosts)
    return replace(run, median_samples_per_s=share * run.median_samples_per_s, fits=run.fits & (share > 0))


_MODELS = {
    LANGUAGE.name: LaidOutModel(
        "train",
        FactKind.TRAINING_RATE,
        _language_run,
        language_rates.is_unmeasured,
        lambda work, platform, servers, each, catalog: language_rates.layout_refusal(
            work.trained, platform, servers * each, catalog
        ),
    ),
    SERVING.name: LaidOutModel(
        "serve",
        FactKind.SERVING_RATE,
        serving_rates.serving_run,
        lambda gpu, _: serving_rates.is_unserved(gpu),
        lambda work, platform, servers, each, catalog: serving_rates.serving_error_text(
            work.served, platform, each, servers, catalog
        ),
    ),
}


def laid_out_model(work: ResolvedWorkload) -> LaidOutModel | None:
    """Model of a workload that a layout divides; None of others."""
    return _MODELS.get(work.kind.name)


def lacks_rate(work: ResolvedWorkload, gpu: Gpu, catalog: Catalog) -> bool:
    """Whether neither a published run on GPUs of its generation nor the customer tells a model's rate on a GPU."""
    model, measured = laid_out_model(work), {one.gpu for one in work.request.measured}
    return model is not None and gpu.id not in measured and model.is_unknown(gpu, catalog)
