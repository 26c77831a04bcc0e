"""Peak rates of the accelerators of MLPerf rows, and the generation that their effects are pooled by."""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizer.base.resources import data_dir
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
    content = tomllib.loads((folder / "benchmarks" / "modern" / "accelerators.toml").read_text(encoding="utf-8"))
    found = {}
    for name, one in content.items():
        # The whole catalogue would take half a second, and these are a few of its files.
        facts = tomllib.loads((folder / "gpus" / f"{one['gpu']}.toml").read_text(encoding="utf-8"))
        gpu = Gpu.model_validate({"id": one["gpu"], **facts})
        bandwidth = _MEMORY_BYTES_PER_S if gpu.memory_bytes_per_s is None else gpu.memory_bytes_per_s.value
        peak, measured = gpu.peak_mixed_flop_per_s.value, gpu.matmul_flop_per_s.get("bf16")
        found[name] = Accelerator(
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
    return found


def _nvlink_domain(folder: Path, link: str | None) -> int | None:
    if link is None:
        return None
    facts = tomllib.loads((folder / "gpu_links" / f"{link}.toml").read_text(encoding="utf-8"))
    return int(facts["domain_gpus"]["value"])


def accelerator_of(name: str) -> Accelerator:
    """Facts of an accelerator; those without a source get placeholders and a generation of their own."""
    found = sourced_accelerators().get(name)
    return found or Accelerator(name.split("-")[0], _PEAK_FLOP_PER_S, _MEMORY_BYTES_PER_S, is_sourced=False)
