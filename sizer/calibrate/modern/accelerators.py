"""Peak rates of the accelerators of MLPerf rows, and the generation that their effects are pooled by."""

import tomllib
from dataclasses import dataclass
from functools import cache

from sizer.base.resources import data_dir
from sizer.catalog.loader import load_catalog

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


@cache
def sourced_accelerators() -> dict[str, Accelerator]:
    """Accelerators of the catalogue, by the name that MLPerf rows give them."""
    path = data_dir("catalog") / "benchmarks" / "modern" / "accelerators.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    gpus = load_catalog().gpus
    found = {}
    for name, one in content.items():
        gpu = gpus[one["gpu"]]
        bandwidth = _MEMORY_BYTES_PER_S if gpu.memory_bytes_per_s is None else gpu.memory_bytes_per_s.value
        found[name] = Accelerator(
            one["generation"], gpu.peak_mixed_flop_per_s.value, bandwidth, True, one.get("nvlink_domain")
        )
    return found


def accelerator_of(name: str) -> Accelerator:
    """Facts of an accelerator; those without a source get placeholders and a generation of their own."""
    found = sourced_accelerators().get(name)
    return found or Accelerator(name.split("-")[0], _PEAK_FLOP_PER_S, _MEMORY_BYTES_PER_S, is_sourced=False)
