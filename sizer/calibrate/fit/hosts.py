"""The host's work per sample as fitted: one line for each sample format, factors for loaders, stacks and processors."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.cases import catalogue_stack_of, exclusion_of, rules, server_of, stack_of
from sizer.calibrate.engine import Fit
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation, stated_table
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import FORMAT_NAMES, SampleFormat
from sizer.catalog.schema import Recipe
from sizer.perf.step_terms import drawn_estimate, drawn_terms
from sizer.perf.training_time import epochs_to_target

REFERENCE_LOADER = "framework/tensorflow"
PYTHON_LOADER = "python"
# Frameworks whose loader decodes in Python processes; those of the others are compiled.
_PYTHON_FRAMEWORKS = ("pytorch", "paddlepaddle", "chainer")
DALI = "dali"
# Tiles of a slide are JPEG.
_LINE_OF = {SampleFormat.SLIDES: SampleFormat.JPEG}
_COMPRESSED_IMAGES = (SampleFormat.JPEG, SampleFormat.SLIDES)


@dataclass(frozen=True)
class HostTask:
    """What the host does for one sample."""

    sample_format: SampleFormat
    loader: str  # of the stack: framework, dali, dali-cpu or none
    framework: str
    stack: str
    library: str = ""  # that decodes, where a test names it
    cpu: str = ""  # processor where a test names one unlike those of the catalogue
    is_python: bool = False  # a reader in Python beside a framework whose own loader is compiled
    has_fixed_part: bool = True  # False: a test that only reads or decodes

    def __post_init__(self) -> None:
        if self.loader not in ("framework", "dali", "dali-cpu", "none"):
            raise ValueError(f"loader must be framework, dali, dali-cpu or none, got {self.loader!r}")

    @property
    def line(self) -> str:
        """Name of the line: that of the format, or of images that the GPU decodes."""
        if self.sample_format in _COMPRESSED_IMAGES and self.loader == DALI:
            return DALI
        return _LINE_OF.get(self.sample_format, self.sample_format)

    @property
    def fixed(self) -> str:
        """Parameter of the part that does not grow with the sample."""
        return f"host-fixed:{self.line}"

    @property
    def per_byte(self) -> str:
        """Parameter of the part that grows with the sample."""
        return f"host-per-byte:{self.line}"

    @property
    def loader_level(self) -> str:
        """Name under which the fit keeps the loader of compressed images.

        DALI on the CPU is one library whatever the framework, and so are readers in Python. A stack without a loader of
        its own needs one to read images; the line is that of the reference loader.
        """
        if self.loader == "dali-cpu":
            return self.loader
        if self.loader == "none":
            return REFERENCE_LOADER
        is_python = self.is_python or self.framework in _PYTHON_FRAMEWORKS
        return PYTHON_LOADER if is_python else f"framework/{self.framework}"

    @property
    def factors(self) -> tuple[str, ...]:
        """Parameters that multiply the line."""
        factors = [f"host-cpu:{self.cpu}"] if self.cpu else []
        if self.line == DALI:
            return tuple(factors)
        if self.line != SampleFormat.JPEG:
            return (*factors, f"host-stack:{self.stack}/{self.line}")
        if not self.has_fixed_part:
            return (*factors, f"host-stack:{self.stack}", f"host-library:{self.library}")
        level = self.loader_level
        if level != REFERENCE_LOADER:
            factors.append(f"host-loader:{level}")
        if level == PYTHON_LOADER:
            factors.append(f"host-library:{self.library}")
        return (*factors, f"host-stack:{self.stack}")


# Bytes of an ImageNet JPEG where a row does not state the size (144.8 GB / 1,281,167 files).
IMAGENET_BYTES = 113_022.0
# Framework of loader tests that name a library instead.
_LOADER_FRAMEWORK = {"paddle-fleetx": "paddlepaddle", "pytorch-cls": "pytorch"}
# Readers in Python of frameworks whose own loader is compiled.
_PYTHON_READERS = ("tensorpack-imagenet-py-dgx1",)
_HOST_LOADERS = ("framework", "dali-cpu")


@dataclass(frozen=True)
class HostRow:
    """Work per sample that one observation shows."""

    row: Observation
    task: HostTask
    sample_bytes: float
    core_s: float
    is_bound: bool = False  # the work is at most this: the hosts of a fast run kept up


def sample_format_of(row: Observation) -> SampleFormat | None:
    """Format of the samples of a row, JPEG where it names none; None for one that is not modelled."""
    name = row.extra.get("sample_format", SampleFormat.JPEG)
    return SampleFormat(name) if name in set(SampleFormat) else None


def sample_bytes_of(row: Observation) -> float | None:
    """Bytes of a sample of a row; those of ImageNet for images without a size. [B]"""
    return row.sample_bytes or (IMAGENET_BYTES if sample_format_of(row) is SampleFormat.JPEG else None)


def host_cores(row: Observation, catalog: Catalog) -> float | None:
    """Physical cores of all servers of a row: as it says, or of the catalogue's server and its CPUs."""
    stated = row.extra.get("cpu_cores")
    if isinstance(stated, int | float) and not isinstance(stated, bool) and 1 <= stated <= 1e6:
        return float(stated) * (row.servers or 1)
    server = server_of(row, catalog)
    if server is None or not row.servers or server.cpu is None or server.n_cpus is None:
        return None
    return float(server.n_cpus.value * catalog.cpus[server.cpu.value].cores.value * row.servers)


def busy_cores(row: Observation, catalog: Catalog) -> float | None:
    """Cores that a loader test kept busy: one for each thread, as far as there are cores."""
    threads, cores = row.extra.get("cpu_threads_used"), host_cores(row, catalog)
    if isinstance(threads, int | float) and threads >= 1:
        return float(threads) if cores is None else min(float(threads), cores)
    return cores


def matching_rate(row: Observation, rates: dict[str, Observation]) -> Observation | None:
    """Rate of the run that a row belongs to, by the stem of its id."""
    stem = row.id.split("/")[0]
    return rates.get(stem) or rates.get(f"{stem}-derived-rate")


def host_task(row: Observation, catalog: Catalog) -> HostTask | None:
    """What the hosts of a row did for a sample; None for a format that is not modelled."""
    sample_format = sample_format_of(row)
    if sample_format is None:
        return None
    stack = catalogue_stack_of(row, catalog)
    named = stack_of(row, catalog)
    framework = _LOADER_FRAMEWORK.get(row.source) or (named.framework if named else row.framework)
    # A test that only decodes is named by the library whose decoder it is.
    text = row.software.lower()
    is_decoder = row.extra.get("work", "decode") == "decode" and re.search(r"\bdecode\b", text) is not None
    words = stated_table("wordings.toml")["libraries"]
    library = next((word if is_decoder else words[word] for word in words if word in text), "")
    return HostTask(
        sample_format=sample_format,
        loader=row.loader or "framework",
        framework=framework,
        stack=stack.id if stack else row.source,
        library=str(row.extra.get("library", library)),
        cpu=str(row.extra.get("cpu", "")),
        is_python=row.id in _PYTHON_READERS,
        has_fixed_part=row.extra.get("work", "loader") == "loader" and not is_decoder,
    )


def host_rows(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[HostRow, ...]:
    """Observations that show the work per sample, and loader tests that show the most that it can be."""
    rates = {row.id: row for row in rows if row.quantity == "samples_per_s"}
    found = []
    for row in rows:
        core_s, task, size = _core_s(row, rates, catalog), host_task(row, catalog), sample_bytes_of(row)
        if core_s is None or task is None or size is None:
            continue
        found.append(HostRow(row, task, size, core_s, is_bound=is_bound(row)))
    return tuple(found)


def is_bound(row: Observation) -> bool:
    """Whether the loader of a row could have been faster: something else set its rate."""
    return bool(row.extra.get("at_least"))


def bound_rows(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[HostRow, ...]:
    """The most that the work per image can be, by stack: the fastest run that its hosts kept up with."""
    fastest: dict[str, HostRow] = {}
    for row in rows:
        is_run = row.quantity == "samples_per_s" and row.task == "training" and row.data == "real"
        if not is_run or row.loader != "framework" or row.dnn not in catalog.dnns or row.id in rules("saturated_cores"):
            continue
        stack, cores, task = catalogue_stack_of(row, catalog), host_cores(row, catalog), host_task(row, catalog)
        if stack is None or cores is None or task is None or catalog.dnns[row.dnn].sample != "image":
            continue
        core_s = cores / row.value
        if stack.id not in fastest or core_s < fastest[stack.id].core_s:
            fastest[stack.id] = HostRow(row, task, row.sample_bytes or IMAGENET_BYTES, core_s, is_bound=True)
    return tuple(fastest.values())


def _core_s(row: Observation, rates: dict[str, Observation], catalog: Catalog) -> float | None:
    if row.quantity == "samples_per_s" and row.id in (saturated := rules("saturated_cores")):
        return float(saturated[row.id] / row.value)
    if row.loader not in _HOST_LOADERS or row.task != "preprocess":
        return None
    if exclusion_of(row) is not None and not is_bound(row):
        return None
    if row.quantity == "cpu_utilization_fraction":
        rate, cores = matching_rate(row, rates), host_cores(row, catalog)
        return None if rate is None or cores is None else cores * row.value / rate.value
    if row.quantity == "samples_per_s_per_core":
        rate = matching_rate(row, rates)
        # Sources that print a test as a rate and per core print one number: the rate counts.
        return 1 / row.value if rate is None or not _is_loader_test(rate) else None
    if row.quantity != "samples_per_s" or not (_is_loader_test(row) or is_bound(row)):
        return None
    cores = busy_cores(row, catalog)
    return None if cores is None else cores / row.value


def _is_loader_test(row: Observation) -> bool:
    return row.task == "preprocess" and "cpu_threads_used" in row.extra


# CPU use is printed to two digits: 1 % of 33 to 84 %, and read over a whole run.
ROW_LOG_SD = 0.05
# One thread of a loader test, a reader of several threads and a whole server differ by what clocks and memory give.
LOADER_TEST_LOG_SD = 0.15
# "About 33 %": half a step of five either way.
_ROW_LOG_SDS = {"rs-resnet50-cpu-util/cpu": 0.065}
_PRIOR_RUNS = 4


@dataclass(frozen=True)
class HostWork:
    """Core time of one sample, a + c x bytes, and its spread."""

    fixed_core_s: float  # a [core s]
    core_s_per_byte: float  # c [core s/B]
    log_covariance: Floats  # (2, 2) of ln a and ln c by their own parameters
    common_log_variance: float  # of what multiplies both, and of the scatter of runs

    def core_s(self, sample_bytes: float) -> float:
        """Work on one sample of a size: median over draws. [core s]"""
        return float(self.estimate(sample_bytes).value)

    def log_sd(self, sample_bytes: float) -> float:
        """Standard deviation of the logarithm of that work. [-]"""
        return float(self.estimate(sample_bytes).log_sd)

    def estimate(self, sample_bytes: float) -> Estimate:
        """Work on one sample of a size. [core s]

        Both parts are log-normal: the median of their sum lies above the sum of their medians.
        """
        per_byte_core_s = self.core_s_per_byte * sample_bytes
        return _estimate(
            self.fixed_core_s, per_byte_core_s, self.log_covariance.astype(float).tobytes(), self.common_log_variance
        )


@lru_cache(maxsize=1024)  # requests differ in few sizes of a sample
def _estimate(
    fixed_core_s: float, per_byte_core_s: float, log_covariance: bytes, common_log_variance: float
) -> Estimate:
    parts, covariance = np.array([fixed_core_s, per_byte_core_s]), np.frombuffer(log_covariance).reshape(2, 2)
    used = np.flatnonzero(parts > 0)
    logs = drawn_terms(np.log(parts[used]), covariance[np.ix_(used, used)])
    return drawn_estimate(np.logaddexp.reduce(logs, axis=-1), np.array(math.sqrt(common_log_variance)))


@dataclass(frozen=True)
class HostFit:
    """Fitted lines and factors."""

    fit: Fit
    stack_log_sd: dict[str, float]  # scatter of the runs of a stack around the line

    @cached_property
    def _works(self) -> dict[HostTask, HostWork]:
        """Lines that were asked for: few formats and stacks."""
        return {}

    def work(self, task: HostTask) -> HostWork:
        """Line of a task; a parameter that was never fitted counts with its prior."""
        if task not in self._works:
            self._works[task] = self._work(task)
        return self._works[task]

    def _work(self, task: HostTask) -> HostWork:
        known = [name for name in task.factors if name in self.fit.index]
        others = [self.fit.prior_of(name) for name in task.factors if name not in self.fit.index]
        parts = [
            (0, task.fixed, 1.0),
            (1, task.per_byte, 1.0),
            *((part, name, 1.0) for name in known for part in (0, 1)),
        ]
        logs, covariance = self.fit.terms(parts, 2)
        fixed, per_byte = np.exp(logs + sum(prior.mean for prior in others))
        common = sum(prior.sd**2 for prior in others) + self.scatter_log_sd(task) ** 2
        return HostWork(float(fixed) if task.has_fixed_part else 0.0, float(per_byte), covariance, common)

    def note(self, task: HostTask) -> CalibrationNote | None:
        """What was not measured of a line or loader; None where its work was."""
        if task.line == DALI:
            return note(FitNote.DALI_FROM_THREADS)
        # The line of tensors was measured, on another machine; those of the other formats are assumptions.
        if task.line == SampleFormat.TENSORS:
            return None
        if task.line != SampleFormat.JPEG:
            return note(FitNote.HOST_LINE_ASSUMED, FORMAT_NAMES[task.sample_format])
        if task.loader == "none":
            return note(FitNote.LOADER_ASSUMED)
        names = [name for name in task.factors if name.startswith("host-loader:")]
        return (
            None if all(name in self.fit.index for name in names) else note(FitNote.LOADER_NOT_MEASURED, task.framework)
        )

    def scatter_log_sd(self, task: HostTask) -> float:
        """Scatter of the runs of a stack around the line, as standard deviation of the logarithm. [-]"""
        return self.stack_log_sd.get(task.stack, ROW_LOG_SD)


def row_log_sd(row: Observation) -> float:
    """Scatter of one observation of the host's work, as standard deviation of the logarithm. [-]"""
    is_test = row.task == "preprocess" and row.quantity != "cpu_utilization_fraction"
    return _ROW_LOG_SDS.get(row.id, LOADER_TEST_LOG_SD if is_test else ROW_LOG_SD)


def stack_scatter(rows: tuple[Observation, ...], catalog: Catalog, residuals: dict[str, float]) -> dict[str, float]:
    """Scatter of the runs of a stack around the line, from the residuals of the joint fit by id.

    Two runs of the C4140 differ by a fifth, those of the DGX-1 lie on their line. With so few runs a stack's own
    scatter counts beside that of a printed row, which weighs as much as _PRIOR_RUNS runs.
    """
    by_stack: dict[str, list[tuple[float, float]]] = {}
    for host_row in host_rows(rows, catalog):
        if not host_row.is_bound:
            by_stack.setdefault(host_row.task.stack, []).append((residuals[host_row.row.id], row_log_sd(host_row.row)))
    return {stack: _scatter(found) for stack, found in by_stack.items()}


def _scatter(found: Sequence[tuple[float, float]]) -> float:
    expected = max(sd for _, sd in found) ** 2
    return math.sqrt((sum(r * r for r, _ in found) + _PRIOR_RUNS * expected) / (len(found) + _PRIOR_RUNS))


# All rows of one access pattern come from one laboratory and two data sets; others will differ by more than they do.
_MIN_POSITION_SD = 0.05

# Two groups that run one recipe differ by an evaluation or two; medians of several runs are printed.
_MIN_EPOCHS_LOG_SD = 0.03
# Spread of a recipe that was published at a single batch: one step of the published growth (60 to 72 epochs).
_ONE_POINT_LOG_SD = 0.15


def cache_row_position(row: Observation) -> float:
    """Position p of a published miss: h = c^(1/p)."""
    cached = float(row.extra["cache_pct"]) / 100
    return math.log(cached) / math.log(1 - row.value)


def cache_positions(rows: tuple[Observation, ...], position: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Fitted position by access pattern, with the standard deviation that its rows show around it."""
    by_id = {row.id: row for row in rows}
    positions = {}
    for access, value in position.items():
        shown = [cache_row_position(by_id[name]) for name in rules("cache_rows")[access] if name in by_id]
        spread = float(np.std(shown, ddof=1)) if len(shown) > 1 else 0.0
        positions[access] = (value, max(_MIN_POSITION_SD, spread))
    return positions


@dataclass(frozen=True)
class EpochsCurve:
    """Fitted epochs of one recipe."""

    base_epochs: float
    double_batch: float
    exponent: float
    log_sd: float
    points: tuple[tuple[float, float], ...]

    @property
    def batches(self) -> tuple[float, float]:
        """Least and largest published global batch."""
        return min(batch for batch, _ in self.points), max(batch for batch, _ in self.points)

    def extrapolates(self, global_batch: float) -> bool:
        """Whether a global batch lies well outside the published ones."""
        low, high = self.batches
        return global_batch > high or global_batch < low / 4

    def at(self, global_batch: ArrayLike) -> Estimate:
        """Epochs at a global batch."""
        batch = np.asarray(global_batch, dtype=float)
        low, high = self.batches
        median = epochs_to_target(batch, self.base_epochs, self.double_batch, self.exponent)
        # Each doubling beyond the published range adds the spread of one published step of growth.
        beyond = np.maximum(0.0, np.log2(batch / high)) + 0.2 * np.maximum(0.0, np.log2(low / batch))
        return Estimate.log_normal(median, np.hypot(self.log_sd, _ONE_POINT_LOG_SD * beyond))


def recipe_points(recipe: Recipe) -> tuple[tuple[float, float], ...]:
    """Global batch and epochs of every published point."""
    return tuple((point.global_batch, point.epochs) for point in recipe.points)


def epochs_names(recipe: Recipe) -> tuple[str, str, str]:
    """Parameters of a recipe's curve: E0, B2 and the exponent. A lone point says nothing about growth."""
    kind = "epochs-double" if len({point.global_batch for point in recipe.points}) > 1 else "epochs-lone"
    return f"epochs-base:{recipe.id}", f"{kind}:{recipe.id}", f"epochs-growth:{recipe.id}"


def epochs_curve(recipe: Recipe, parameters: ArrayLike) -> EpochsCurve:
    """Curve of a recipe from its three parameters, which are relative to its fewest epochs and largest batch.

    Raises CalibrationError if the recipe has no points.
    """
    points = recipe_points(recipe)
    if not points:
        raise CalibrationError(f"recipe {recipe.id} has no published point of epochs")
    batch, epochs = np.array(points).T
    base, double, growth = np.exp(np.asarray(parameters, float))
    base, double = float(base * epochs.min()), float(double * batch.max())
    errors = np.log(epochs / epochs_to_target(batch, base, double, float(growth)))
    grid = recipe.evaluate_every_epochs.value / math.sqrt(12) / float(np.median(epochs))
    spread = _ONE_POINT_LOG_SD if len(points) < 2 else float(np.sqrt((errors**2).mean()))
    return EpochsCurve(base, double, float(growth), max(_MIN_EPOCHS_LOG_SD, grid, spread), points)


@lru_cache(maxsize=4096)
def curve_alone(recipe: Recipe) -> EpochsCurve:
    """Curve of a recipe that the calibration was not fitted to.

    Raises CalibrationError if the recipe has no points.
    """
    if not recipe.points:
        raise CalibrationError(f"recipe {recipe.id} has no published point of epochs")
    # Solvers take long to import, and sizing seldom needs them.
    from sizer.calibrate.fit.joint import epochs_block, fit_joint

    fit = fit_joint([epochs_block(recipe)]).fit
    return epochs_curve(recipe, [fit.value(name) for name in epochs_names(recipe)])


@dataclass(frozen=True)
class RunOverhead:
    """What a run takes beyond its epochs: start-up, and evaluations as a share of the training."""

    start_up_s: float
    share: float
    log_sd: float


@dataclass(frozen=True)
class PublicRun:
    """A published time to train of which rate and epochs are printed, too."""

    row: Observation
    epochs: float
    n_samples: float  # of the data set
    samples_per_s: float


def public_runs(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[PublicRun, ...]:
    """Published times to train with everything that explains them."""
    rates = {row.id: row for row in rows if row.quantity == "samples_per_s"}
    epochs = {row.id.split("/")[0]: row.value for row in rows if row.quantity == "epochs_to_target"}
    runs = []
    for row in rows:
        samples = samples_of(row.dnn, catalog)
        if row.quantity == "time_to_train_s" and samples is not None and not exclusion_of(row):
            rate, n = matching_rate(row, rates), epochs.get(row.id.split("/")[0])
            if rate is not None and n is not None:
                runs.append(PublicRun(row, n, samples, rate.value))
    return tuple(runs)


def samples_of(dnn: str, catalog: Catalog) -> float | None:
    """Training samples of the data set that the published runs of a DNN use; None where none is known.

    Runs of translation drop long sentence pairs, and how many is not printed: a fitted factor stands for it.
    """
    dataset = rules("run_datasets").get(
        dnn, "imagenet" if dnn in catalog.dnns and catalog.dnns[dnn].sample == "image" else ""
    )
    return catalog.datasets[dataset].n_samples.value if dataset in catalog.datasets else None
