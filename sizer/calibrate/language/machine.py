"""The machine of a published run: rates of its GPU, of the links between GPUs and of the network."""

import math
import re

from sizer.calibrate.language.rows import LanguageRow
from sizer.catalog.schema import Gpu
from sizer.perf.language.memory import GIB

# Measured rate of large matrix products over the peak where nobody measured it: the median of those measured.
_USUAL_MATMUL_SHARE = {"bf16": 0.75, "fp8": 0.72, "fp4": 0.45}
_NEAR_BF16 = ("bf16", "fp16")
GBIT = 1e9 / 8
# Logarithm of the ratio of two sizes of memory, below which they are one rounded differently.
_SAME_SIZE = 0.12
_USUAL_NIC_GBIT = 400.0
_PCIE_BYTES_PER_S = {"pcie4": 25e9, "pcie5": 50e9}
# Of that a ring of an exchange passes where cards reach each other through the host's memory, which every byte is
# written to and read from. Assumed.
_RING_THROUGH_HOST = 0.7


def machine_values(row: LanguageRow, gpu: Gpu, precision: str, domain: int | None) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.step.Machines` of a row, and the memory of its GPU."""
    matmul = {name: _matmul(gpu, name) for name in ("bf16", precision)}
    return {
        "matmul_flop_per_s": matmul[precision],
        "attention_flop_per_s": matmul["bf16"],
        "memory_bytes": _memory_bytes(row, gpu),
        "memory_bytes_per_s": gpu.memory_bytes_per_s.value if gpu.memory_bytes_per_s else 2e12,
        "domain_gpus": float(domain or row.gpus_per_node or 8.0),
        "domain_bytes_per_s": gpu.nvlink_bytes_per_s.value if gpu.nvlink_bytes_per_s else 3e10,
        "nic_bytes_per_s": _nic_gbit(row, gpu) * GBIT,
    }


def is_through_host(gpu: Gpu) -> bool:
    """Whether cards reach each other through the host alone."""
    return gpu.nvlink_bytes_per_s is None and gpu.form_factor.value.startswith("pcie")


def ring_through_host_bytes_per_s(gpu: Gpu) -> float:
    """What a ring of an exchange passes over the PCIe of such cards. [B/s]"""
    return _RING_THROUGH_HOST * pcie_bytes_per_s(gpu)


def pcie_bytes_per_s(gpu: Gpu) -> float:
    """Measured one-way rate of the PCIe link of a card, 16 lanes of its generation. [B/s]"""
    return _PCIE_BYTES_PER_S["pcie5" if gpu.generation in ("hopper", "blackwell", "cdna4") else "pcie4"]


def _memory_bytes(row: LanguageRow, gpu: Gpu) -> float:
    """Memory of the GPU; of a size that the catalogue does not have, as the row names it. Sizes are sold in GiB."""
    stated = re.search(r"([0-9]{2,3}) ?gb", row.gpu.lower())
    named = float(stated[1]) * GIB if stated else gpu.memory_bytes.value
    return named if abs(math.log(named / gpu.memory_bytes.value)) > _SAME_SIZE else gpu.memory_bytes.value


def _matmul(gpu: Gpu, precision: str) -> float:
    """Rate of large matrix products, measured where it was, else the usual share of the peak. [FLOP/s]"""
    name = "bf16" if precision in _NEAR_BF16 else precision
    if name in gpu.matmul_flop_per_s:
        return gpu.matmul_flop_per_s[name].value
    if name == "bf16":
        return gpu.peak_mixed_flop_per_s.value * _USUAL_MATMUL_SHARE[name]
    peak = gpu.peak_flop_per_s.get(name)
    # A GPU without the format computes in the next wider one.
    return peak.value * _USUAL_MATMUL_SHARE[name] if peak else _matmul(gpu, "fp8" if name == "fp4" else "bf16")


def _nic_gbit(row: LanguageRow, gpu: Gpu) -> float:
    """Line rate of the network of one GPU, as the text says it; else that of the usual adapter. [Gbit/s]"""
    text = row.network.lower().replace("gb/sec", "gb/s").replace("gbps", "gb/s")
    a_node = row.gpus_per_node or 8.0
    if found := re.search(r"([0-9]+) ?gb/s per gpu", text):
        return float(found[1])
    if found := re.search(r"([0-9]+)x[^;,]*?([0-9]{2,3}) ?gb/s per node", text):
        return float(found[1]) * float(found[2]) / a_node
    if found := re.search(r"([0-9]+) gb/s per node", text):
        return float(found[1]) / a_node
    if "omni-path" in text:
        return 400.0 / a_node
    pairs = [float(n) * float(rate) for n, rate in re.findall(r"([0-9]+)x [^;,]*?([0-9]{3}) ?gb/s", text)]
    if pairs:
        return max(pairs) / a_node
    if gpu.id.startswith("a100"):
        return 200.0
    return 800.0 if re.match(r"g?b300", gpu.id) else _USUAL_NIC_GBIT
