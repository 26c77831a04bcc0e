"""Rows of MLPerf Training v1.0 and later, one a round, system and benchmark; their accelerators, and what they show."""

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizer.base.formats.csv_rows import is_stated, number_within, rows_of_file
from sizer.base.resources import data_dir
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import benchmark_file, stated_table
from sizer.catalog.schema import Gpu

# Stands in where no source gives a value; the effect of the accelerator then has a wide prior, and its rows set it.
_PEAK_FLOP_PER_S = 312e12
_MEMORY_BYTES_PER_S = 1555e9


@dataclass(frozen=True)
class Accelerator:
    """What the model takes from an accelerator."""

    generation: str
    peak_flop_per_s: float  # dense BF16
    memory_bytes_per_s: float
    is_sourced: bool  # whether the catalogue has it
    nvlink_domain: int | None = None  # GPUs that NVLink connects where they are more than a server has
    gpu: str = ""  # id in gpus/
    form_factor: str = ""
    memory_bytes: float = math.inf
    matmul_share: float | None = None  # of the peak that large BF16 matrix products were measured to reach


@cache
def sourced_accelerators() -> dict[str, Accelerator]:
    """Accelerators of the catalogue, by the name that MLPerf rows give them."""
    folder = data_dir("catalog")
    content = stated_table("modern/accelerators.toml")
    accelerators = {}
    for name, one in content.items():
        # The whole catalogue would take half a second, and these are a few of its files.
        facts = tomllib.loads((folder / "gpus" / f"{one['gpu']}.toml").read_text(encoding="utf-8"))
        gpu = Gpu.model_validate({"id": one["gpu"], **facts})
        bandwidth = _MEMORY_BYTES_PER_S if gpu.memory_bytes_per_s is None else gpu.memory_bytes_per_s.value
        peak, measured = gpu.peak_mixed_flop_per_s.value, gpu.matmul_flop_per_s.get("bf16")
        accelerators[name] = Accelerator(
            one["generation"],
            peak,
            bandwidth,
            True,
            _nvlink_domain(folder, one.get("gpu_link")),
            gpu.id,
            gpu.form_factor.value,
            gpu.memory_bytes.value,
            None if measured is None else measured.value / peak,
        )
    return accelerators


def _nvlink_domain(folder: Path, link: str | None) -> int | None:
    if link is None:
        return None
    facts = tomllib.loads((folder / "gpu_links" / f"{link}.toml").read_text(encoding="utf-8"))
    return int(facts["domain_gpus"]["value"])


def accelerator_of(name: str) -> Accelerator:
    """Facts of an accelerator; those without a source get placeholders and a generation of their own."""
    found = sourced_accelerators().get(name)
    return found or Accelerator(name.split("-")[0], _PEAK_FLOP_PER_S, _MEMORY_BYTES_PER_S, is_sourced=False)


_BOARD = re.compile(r"(?<![a-z])(?:pcie|nvl|sxm)(?!ink)")
# Links between the GPUs of a server by the form of their boards, where a row does not state them. The one row with xgmi
# ran untuned software, of which that effect tells more than of the links of OAM boards, which are as fast as NVLink.
_LINKS = {"sxm": "nvlink", "oam": "nvlink", "pcie": "pcie"}
# Benchmarks that files of results name otherwise than the fits.
_BENCHMARKS = {"flux1": "flux"}


def accelerator_named(written: str) -> str:
    """Name of an accelerator as the fits have it, also of one that is named by its id in the catalogue."""
    text, known = written.strip().lower(), sourced_accelerators()
    return text if text in known else next((name for name, item in known.items() if item.gpu == text), text)


def benchmark_named(written: str) -> str:
    """Name of a benchmark as the fits have it; one that is not among them as it is."""
    text = written.strip().lower()
    return _BENCHMARKS.get(text, text)


def link_named(written: str, accelerator: str) -> str:
    """Link between the GPUs of a server as the fits have it; where no wording tells it, that of their board."""
    # Form of an accelerator's board as the catalogue has it, without its generation, or as its name says it.
    known = sourced_accelerators().get(accelerator)
    match = _BOARD.search(accelerator)
    text, form = written.strip().lower(), known.form_factor.rstrip("0123456789") if known else match[0] if match else ""
    if "xgmi" in text or "infinity" in text:
        return "xgmi"
    if "bridge" in text or ("nvlink" in text and form == "pcie"):
        return "bridge"
    if "nvlink" in text or "nvswitch" in text:
        generation = re.search(r"nvlink\D{0,5}([1-9])(?!\d)", text)
        return f"nvlink{generation[1]}" if generation else "nvlink"
    return "pcie" if "pci" in text else _LINKS.get(form, "")


MAX_NUMBER = 1e15
# Columns by which a file is known to be of this kind.
HEADER = ("accel", "benchmark", "global_batch", "rate_train_s", "ttt_raw_min")
_SPELLINGS = {"gigacomputing": "gigabyte", "nvidia_coreweave": "nvidia", "iei": "inspur"}
_NOT_HARDWARE = re.compile(r"[_-]?(n\d+|ngc[\d.]*|mxnet|pytorch|hugectr|dgl|tensorflow)", re.IGNORECASE)


@dataclass(frozen=True)
class ModernRow:
    """One result of MLPerf Training; what the file does not state is empty or None."""

    id: str
    round: str
    submitter: str
    system: str
    benchmark: str
    accelerator: str
    servers: int
    accelerators: int | None  # that train; others only evaluate
    global_batch: float | None
    accumulation: int
    link: str
    nic_bytes_per_s: float | None  # of one server, all adapters
    cpu_vendor: str
    framework: str = ""
    precision: str = ""
    samples_to_converge: float | None = None
    samples_per_s: float | None = None
    time_to_train_s: float | None = None
    flags: str = ""
    place: str = ""

    @property
    def source(self) -> str:
        """Key of the round in the list of sources."""
        return f"mlperf-training-{self.round}"

    @property
    def hardware(self) -> str:
        """System name without software and server count: what different submissions of one system share."""
        return _NOT_HARDWARE.sub("", self.system.lower())

    @property
    def maker(self) -> str:
        """Submitter in one spelling."""
        name = self.submitter.lower()
        return _SPELLINGS.get(name, name)

    @property
    def round_order(self) -> float:
        """Round as a number: 4.1 of ``v4.1``; 0 where it cannot be read."""
        match = re.fullmatch(r"v(\d{1,2}\.\d{1,2})", self.round)
        return float(match.group(1)) if match else 0.0


def load_modern(paths: Sequence[Path] = ()) -> tuple[ModernRow, ...]:
    """Rows of files, by default of the shipped one.

    Raises CalibrationError if a file cannot be read, or a cell is not what its column holds; names every such cell.
    """
    files = paths or (benchmark_file("modern", "mlperf-training.csv"),)
    return tuple(row for path in files for row in rows_of_file(path, "MLPerf Training rows", _row, "id"))


def _row(cells: dict[str, str], place: str) -> ModernRow:
    def text(column: str) -> str:
        return cells.get(column, "")

    def number(column: str) -> float | None:
        try:
            return number_within(text(column), 0.0, MAX_NUMBER) or None if is_stated(text(column)) else None
        except ValueError as error:
            raise ValueError(f"{column}: {error}") from None

    def count(column: str) -> int | None:
        value = number(column)
        if value is not None and value != int(value):
            raise ValueError(f"{column} = {text(column)[:40]}: must be a whole number")
        return None if value is None else int(value)

    nodes, accelerators, batch = count("nodes"), count("accels"), number("global_batch")
    # Of nodes, accelerators of one and accelerators two tell the third.
    if nodes is None and accelerators and (of_node := count("accels_per_node")):
        nodes = math.ceil(accelerators / of_node)
    if accelerators is None and nodes and (of_node := count("accels_per_node")):
        accelerators = nodes * of_node
    if batch is None and accelerators and (each := number("batch_per_accel")):
        batch = each * accelerators
    if batch is not None and batch < 1:
        raise ValueError(f"global_batch = {batch:g}: must be at least 1")
    accelerator = accelerator_named(text("accel"))
    adapters, gbit_per_s, minutes = number("nic_count"), number("nic_gbps"), number("ttt_raw_min")
    cpu, framework = text("host_cpu").lower(), text("framework").lower()
    return ModernRow(
        id=text("id") or place,
        round=re.sub(r"^v?(?=\d)", "v", text("round").lower()),
        submitter=text("submitter"),
        system=text("system"),
        benchmark=benchmark_named(text("benchmark")),
        accelerator=accelerator,
        servers=nodes or 1,
        accelerators=count("train_accels") or accelerators,
        global_batch=batch,
        accumulation=max(1, round(number("grad_accum") or 1)),
        link=link_named(text("nvlink"), accelerator),
        nic_bytes_per_s=adapters * gbit_per_s * 1e9 / 8 if adapters and gbit_per_s else None,
        cpu_vendor="amd" if "amd" in cpu or "epyc" in cpu else "intel" if "intel" in cpu or "xeon" in cpu else "",
        framework=next((name for name in ("mxnet", "pytorch", "tensorflow") if name in framework), ""),
        precision=text("precision"),
        samples_to_converge=number("samples_to_converge"),
        samples_per_s=number("rate_train_s"),
        time_to_train_s=None if minutes is None else minutes * 60,
        flags=text("flags"),
        place=place,
    )


# Runs without an accelerator are named so in the column of the accelerator.
_NO_ACCELERATOR = "cpu-only"
# BERT runs whose samples were counted from evaluations that were assumed to be evenly spaced go wrong above this.
_MOST_SAMPLES_OF_EVEN_EVALUATIONS = 4.6e6


def missing_fact(row: ModernRow) -> CalibrationNote | None:
    """Why a row cannot be predicted, whatever the fits know."""
    if not row.benchmark:
        return note(FitNote.DNN_NOT_NAMED)
    if not row.accelerator:
        return note(FitNote.GPU_NOT_NAMED)
    if row.accelerator == _NO_ACCELERATOR:
        return note(FitNote.NO_GPU_RAN)
    if row.accelerators is None:
        return note(FitNote.COUNTS_NOT_STATED)
    if row.global_batch is None:
        return note(FitNote.BATCH_NOT_STATED)
    return None


def exclusion(row: ModernRow) -> CalibrationNote | None:
    """Why the fit of the rates leaves out a row that can be predicted."""
    if "under 60%" in row.flags:
        return note(FitNote.TRAINING_SHARE_LOW)
    return None


def fits_rate(row: ModernRow) -> bool:
    """Whether the fit of the rates uses a row."""
    return row.samples_per_s is not None and missing_fact(row) is None and exclusion(row) is None


def fits_time(row: ModernRow) -> bool:
    """Whether the fit of the times to train uses a row."""
    samples = row.samples_to_converge or 0.0
    miscounted = "evenly spaced" in row.flags and samples > _MOST_SAMPLES_OF_EVEN_EVALUATIONS
    return row.time_to_train_s is not None and fits_rate(row) and not miscounted


@cache
def published_runs(benchmark: str) -> tuple[ModernRow, ...]:
    """Runs of a network that the fit of the rates uses; empty for one that MLPerf does not have."""
    return _by_benchmark().get(benchmark, ())


@cache
def newest_round(benchmark: str) -> str:
    """Newest round with runs of a network."""
    return max(published_runs(benchmark), key=lambda row: row.round_order).round


@cache
def published_batches(benchmark: str) -> tuple[float, float]:
    """Least and largest published global batch of a network."""
    batches = [row.global_batch for row in published_runs(benchmark) if row.global_batch]
    return min(batches), max(batches)


@cache
def n_runs(generation: str) -> int:
    """Runs of all networks on the accelerators of a generation."""
    known = sourced_accelerators()
    accelerators = {name for name, gpu in known.items() if gpu.generation == generation}
    return sum(row.accelerator in accelerators for rows in _by_benchmark().values() for row in rows)


@cache
def largest_batches(benchmark: str, generation: str = "") -> tuple[tuple[float, float], ...]:
    """Memory of accelerators of the catalogue, and the largest batch of one pass published on each. [B], [-]

    By default those of all generations.
    """
    known = sourced_accelerators()
    found: defaultdict[float, float] = defaultdict(float)
    for row in published_runs(benchmark):
        gpu = known.get(row.accelerator)
        if gpu is None or generation not in ("", gpu.generation):
            continue
        if row.global_batch and row.accelerators:
            found[gpu.memory_bytes] = max(found[gpu.memory_bytes], micro_batch(row))
    return tuple(sorted(found.items()))


def micro_batch(row: ModernRow) -> float:
    """Samples of one pass of one accelerator. The row states batch and accelerators."""
    assert row.global_batch is not None
    assert row.accelerators is not None
    return math.ceil(row.global_batch / (row.accelerators * row.accumulation))


@cache
def fitted_ids() -> frozenset[str]:
    """Runs of all networks that the fit of the rates uses."""
    return frozenset(row.id for rows in _by_benchmark().values() for row in rows)


@cache
def fitted_accelerators() -> frozenset[str]:
    """Accelerators of these runs, by their names in them."""
    return frozenset(row.accelerator for rows in _by_benchmark().values() for row in rows)


@cache
def _by_benchmark() -> dict[str, tuple[ModernRow, ...]]:
    found: defaultdict[str, list[ModernRow]] = defaultdict(list)
    for row in load_modern():
        if fits_rate(row):
            found[row.benchmark].append(row)
    return {name: tuple(rows) for name, rows in found.items()}
