"""The fit of all effects to the observations, which makes a calibration.

Solvers take long to import; sizing reads the stored result and never imports this module.
"""

import math
from collections import Counter

from sizer.base.errors import CalibrationError
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import Levels, RateCase, generation
from sizer.calibrate.fit import rates
from sizer.calibrate.fit.hosts import host_rows, stack_scatter
from sizer.calibrate.fit.joint import JointFit, cache_block, epochs_block, fit_joint, host_block, run_block
from sizer.calibrate.fit.runs import cache_positions, recipe_points
from sizer.calibrate.gpu_memory import fit_memory, load_memory_rows, measured_rows, telling
from sizer.calibrate.observations import Observation, load_observations, observations_digest
from sizer.calibrate.rules import rules
from sizer.catalog.model import Catalog
from sizer.perf.step_terms import TERM_NAMES


def _combination(levels: Levels) -> str:
    return f"{levels.stack}/{levels.dnn}/{levels.precision}/{levels.task}"


def calibrate(catalog: Catalog, observations: tuple[Observation, ...] | None = None) -> Calibration:
    """Fit everything to the observations, by default the shipped ones.

    Raises CalibrationError if observations cannot be read or a fit does not hold.
    """
    return calibrate_with_fit(catalog, load_observations() if observations is None else observations)[0]


def calibrate_with_fit(catalog: Catalog, rows: tuple[Observation, ...]) -> tuple[Calibration, JointFit]:
    """:func:`calibrate`, with the fit itself, from which rows can be left out again."""
    cases, excluded_rates = rates.usable_cases(rows, catalog)
    if len(cases) < 2 * len(TERM_NAMES):
        raise CalibrationError(f"{len(cases)} usable rates do not make a calibration; {len(excluded_rates)} excluded")
    all_reduces, excluded_bandwidths = rates.usable_all_reduces(rows, catalog.links)
    recipes = [one for one in catalog.recipes.values() if one.points and catalog.dnns[one.dnn].era is None]
    fit = fit_joint(
        [
            *rates.rate_blocks(cases),
            *([rates.network_block(all_reduces)] if all_reduces else []),
            host_block(rows, catalog),
            cache_block(rows),
            run_block(rows, catalog),
            *(epochs_block(recipe) for recipe in recipes),
        ]
    )
    speedups, effects = rates.fit_scaling(rates.usable_speedups(rows, catalog), fit.fit)
    residuals = dict(zip(fit.ids, fit.errors(fit.fit)[0].tolist(), strict=True))
    position = {access: math.exp(effects.value(f"cache-position:{access}")) for access in rules("cache_rows")}
    unseen = rates.leave_sources_out(fit)
    stated = load_memory_rows(catalog)
    found = Calibration(
        digest=observations_digest(rows),
        fit=effects,
        scatter_log_sd=fit.scatter_log_sd,
        tau2=unseen.tau2,
        dnn_families={dnn.id: dnn.family for dnn in catalog.dnns.values()},
        used=frozenset([*(case.row.id for case in cases), *(one.row.id for one in all_reduces), *speedups]),
        rates_of=dict(Counter(_combination(case.levels) for case in cases)),
        rates_with_batch=_rates_with_batch(cases, catalog),
        host_used=frozenset(one.row.id for one in host_rows(rows, catalog) if not one.is_bound),
        host_log_sd=stack_scatter(rows, catalog, residuals),
        cache_positions=cache_positions(rows, position),
        epochs_points={recipe.id: recipe_points(recipe) for recipe in recipes},
        most_gpus=_most_gpus(cases),
        batches=_batches(cases),
        gpu_memory=fit_memory(telling((*stated, *measured_rows(cases, stated)))),
        excluded={**excluded_rates, **excluded_bandwidths},
        unseen_sources=unseen.by_task(),
    )
    return found, fit


def _rates_with_batch(cases: tuple[RateCase, ...], catalog: Catalog) -> dict[str, int]:
    """Rates by combination that state their batch, on chips that a server of the catalogue takes."""
    taken = {generation(catalog.gpus[gpu]) for server in catalog.servers.values() for gpu in server.gpus}
    return dict(
        Counter(
            _combination(case.levels)
            for case in cases
            if case.row.batch_per_gpu is not None and case.levels.generation in taken
        )
    )


def _most_gpus(cases: tuple[RateCase, ...]) -> dict[str, int]:
    most: dict[str, int] = {}
    for case in cases:
        if case.levels.task == "training":
            most[case.stack.id] = max(most.get(case.stack.id, 0), case.n_gpus_per_server * case.n_servers)
    return most


def _batches(cases: tuple[RateCase, ...]) -> dict[str, tuple[float, float]]:
    found: dict[str, list[float]] = {}
    for case in cases:
        if case.row.batch_per_gpu is not None:
            key = f"{case.dnn.id}/{case.levels.precision}/{case.levels.task}"
            found.setdefault(key, []).append(case.batch_per_gpu)
    return {key: (min(batches), max(batches)) for key, batches in found.items()}
