"""Observations of the host's work per sample: what each ran, and the core time that it shows."""

from dataclasses import dataclass

from sizer.calibrate.fit.host_effects import HostTask
from sizer.calibrate.ids import catalogue_stack_of, server_of, stack_of
from sizer.calibrate.observations import Observation
from sizer.calibrate.rules import exclusion_of
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat

# Bytes of an ImageNet JPEG where a row does not state the size (144.8 GB / 1,281,167 files).
IMAGENET_BYTES = 113_022.0
# Runs whose rate the host's cores set, with the cores that were busy: their rate is one over the work per sample.
# C4140: 2 x 20 cores (rs-resnet50-cpu-util); the cloud server of dlperf has 24 (observations README).
_SATURATED = {
    "rs-isilon-alexnet-1node": 40.0,
    "dlperf-mxnet-amp-b256-1n8g": 24.0,
    "dlperf-paddle-nodali-amp-b224-1n8g": 24.0,
    "tensorpack-imagenet-tfdata-dgx1": 40.0,
    "tensorpack-imagenet-py-dgx1": 40.0,
}
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
    return HostTask(
        sample_format=sample_format,
        loader=row.loader or "framework",
        framework=framework,
        stack=stack.id if stack else row.source,
        library=str(row.extra.get("library", "")),
        cpu=str(row.extra.get("cpu", "")),
        is_python=row.id in _PYTHON_READERS,
        has_fixed_part=row.extra.get("work", "loader") == "loader",
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
        if not is_run or row.loader != "framework" or row.dnn not in catalog.dnns or row.id in _SATURATED:
            continue
        stack, cores, task = catalogue_stack_of(row, catalog), host_cores(row, catalog), host_task(row, catalog)
        if stack is None or cores is None or task is None or catalog.dnns[row.dnn].sample != "image":
            continue
        core_s = cores / row.value
        if stack.id not in fastest or core_s < fastest[stack.id].core_s:
            fastest[stack.id] = HostRow(row, task, row.sample_bytes or IMAGENET_BYTES, core_s, is_bound=True)
    return tuple(fastest.values())


def _core_s(row: Observation, rates: dict[str, Observation], catalog: Catalog) -> float | None:
    if row.quantity == "samples_per_s" and row.id in _SATURATED:
        return _SATURATED[row.id] / row.value
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
