"""Draws of the calibration: sets of coefficients that the observations allow, each one world for all designs alike."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.calibrate.calibration import Calibration, host_task_of
from sizer.calibrate.fit.runs import epochs_names, recipe_points
from sizer.calibrate.parameters import HOST_LINK_RATE, prior_of
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Recipe, Stack
from sizer.perf.pipeline import core_seconds_per_sample
from sizer.perf.step_terms import StepTerms
from sizer.perf.training_time import epochs_to_target

# Key of a quantity -> generator of its numbers. Every quantity has a stream of its own, so that no number depends on
# what else is drawn, in which order or in which blocks.
GeneratorOf = Callable[[str], np.random.Generator]

# A cache at a position of 0 would hit nothing whatever it holds.
_LEAST_POSITION = 0.01


def streams(seed: int) -> GeneratorOf:
    """Generators that depend on seed and key alone."""

    def generator_of(key: str) -> np.random.Generator:
        words = np.frombuffer(hashlib.sha256(key.encode()).digest(), dtype="<u4")
        return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist()]))

    return generator_of


@dataclass(frozen=True)
class Draws:
    """So many sets of coefficients.

    One draw is one set for everything that is evaluated with it: designs that share a parameter share its draw, and so
    do the workloads of a design. Fitted parameters are drawn together from the joint normal distribution of
    :func:`~sizer.calibrate.fit.joint.fit_joint`, whose medians of rates meet the measurements; an effect that was never
    fitted is drawn from its prior.

    ``calibration``: values, covariance, scatter. ``n``: draws. ``generator_of``: gives the generator of a key.
    """

    calibration: Calibration
    n: int
    generator_of: GeneratorOf
    _kept: dict[str, Floats] = field(default_factory=dict, repr=False)

    def normal(self, key: str) -> Floats:
        """(n,) standard normal numbers of a quantity, always the same."""
        if key not in self._kept:
            self._kept[key] = self.generator_of(key).standard_normal(self.n)
        return self._kept[key]

    def uniform(self, key: str) -> Floats:
        """(n,) numbers of a quantity between 0 and 1, always the same."""
        if key not in self._kept:
            self._kept[key] = self.generator_of(key).random(self.n)
        return self._kept[key]

    @cached_property
    def _fitted(self) -> tuple[dict[str, int], Floats]:
        """Place of each fitted parameter, and (parameters, n) how far the draws move it."""
        names = self.calibration.names
        covariance = self.calibration.fit.covariance(names)
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:  # parameters without spread, or rounded by storing
            variance, directions = np.linalg.eigh(covariance)
            root = directions * np.sqrt(np.maximum(variance, 0.0))
        normal = self.generator_of("parameters").standard_normal((self.n, len(names)))
        return {name: place for place, name in enumerate(names)}, root @ normal.T

    def moved(self, name: str) -> Floats:
        """(n,) how far the draws move a parameter from its value."""
        place, moved = self._fitted
        if name in place:
            return np.asarray(moved[place[name]])
        return prior_of(name).sd * self.normal(f"prior {name}")

    def step_values(self, terms: StepTerms) -> Floats:
        """Terms of one combination, shape (n, k): their values, moved as the effects move that they add up."""
        values = np.repeat(terms.values[:, None], self.n, axis=1)
        for term, name, coefficient in terms.effects:
            values[term] += coefficient * self.moved(name)
        # The draws of one term lie side by side, which is how they are read.
        return values.T

    def core_seconds(self, sample_format: SampleFormat, stack: Stack, sample_bytes: float) -> Floats:
        """(n,) core time that a sample costs the host, with the scatter of the runs of a stack. [core s]"""
        task, hosts = host_task_of(sample_format, stack), self.calibration.hosts
        work = hosts.work(task)
        scatter = hosts.scatter_log_sd(task) * self.normal(f"decode {task.line} {task.stack}")
        scatter = scatter + sum(self.moved(name) for name in task.factors)
        return core_seconds_per_sample(
            sample_bytes,
            work.fixed_core_s * np.exp(self.moved(task.fixed) + scatter),
            work.core_s_per_byte * np.exp(self.moved(task.per_byte) + scatter),
        )

    def host_link_bytes_per_s(self) -> Floats:
        """(n,) rate of one link between host and GPUs, with the scatter of the runs that show it. [B/s]"""
        rate, _ = self.calibration.host_link
        scatter = self.calibration.scatter_log_sd["inference"] * self.normal("host link")
        return np.asarray(rate * np.exp(self.moved(HOST_LINK_RATE) + scatter))

    def cache_position(self, access: str, cache_kind: str) -> Floats:
        """(n,) position of a cache, with the spread of the rows that show it; without any where nothing is fitted."""
        position, sd = self.calibration.cache_position(access, cache_kind)
        if sd == 0:
            return np.full(self.n, position)
        moved = position * np.exp(self.moved(f"cache-position:{access}")) + sd * self.normal(f"cache {access}")
        return np.clip(moved, _LEAST_POSITION, 1.0)

    def epochs(self, recipe: Recipe, global_batch: ArrayLike) -> Floats:
        """Epochs at global batches of shape (..., 1): (..., n).

        The curve moves with its parameters, also beyond the published batches, and all of it with the scatter of the
        published points. A recipe that the calibration was not fitted to has its curve's own spread.
        """
        curve = self.calibration.epochs_curve(recipe)
        scatter = self.normal(f"epochs {recipe.id}")
        if self.calibration.epochs_points.get(recipe.id) != recipe_points(recipe):
            found = curve.at(global_batch)
            return np.asarray(found.value * np.exp(found.log_sd * scatter))
        base, double, growth = (np.exp(self.moved(name)) for name in epochs_names(recipe))
        median = epochs_to_target(
            global_batch, curve.base_epochs * base, curve.double_batch * double, curve.exponent * growth
        )
        return np.asarray(median * np.exp(curve.log_sd * scatter))

    def start_up_s(self) -> Floats:
        """(n,) start-up of a training run. [s]"""
        return np.asarray(self.calibration.start_up_s * np.exp(self.moved("run-start-up:all")))
