"""MLPerf Storage: how many emulated accelerators a storage system carries, by the limit that its result names.

A result stops at what the storage nodes read, at what its clients take in, or at their network. What a system reaches
is predicted from other configurations of the same product, its published rate, or clients of other products.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal

import numpy as np

from sizer.base.estimate import Z90
from sizer.base.units import bytes_per_s_from_gbit_per_s
from sizer.calibrate.accuracy_targets import AccuracyTarget
from sizer.calibrate.storage_emulation import EmulationRow, load_emulation

Limit = Literal["nodes", "client", "network", "drive"]
# Read rates of one node, or of the system where it is one, that vendors state apart from the results. [B/s]
# DDN: 110 GB/s at most; IEIT: 120 GB/s a node; Lightbits: 30 GB/s of three; Huawei: 698 GiB/s in the following round.
STATED_NODE_BYTES_PER_S = {
    "ai400x2-turbo": 110e9,
    "iei-as13000": 120e9,
    "lightbits": 10e9,
    "huawei-a800": 698 * 2**30,
}
_ADAPTERS = re.compile(r"(\d+)\s*x\s*(\d+)")
# Spread of a prediction by its limit, of the logarithm: 90 % of the held-out results lie inside.
_LOG_SD = {"nodes": 0.16, "client": 0.16, "network": 0.45, "drive": 0.45}


class Unpredictable(StrEnum):
    """Why no other result tells what a system carries."""

    SMALL_FILES = "small-files"  # CosmoFlow: clients take 1.8 to 34 GB/s of files of 2.8 MB
    ONLY_CONFIGURATION = "only-configuration"  # nothing of the product is published besides
    CLIENTS_NOT_STATED = "clients-not-stated"  # neither adapters nor another result with such clients
    NO_DRIVE_RATE = "no-drive-rate"
    BELOW_LIMIT = "below-limit"  # the same system was also run with more accelerators
    LINE_SHARE = "line-share"  # clients of other products take in 24 to 90 % of their line


@dataclass(frozen=True)
class LimitPrediction:
    """What a system reads at its limit; ``reason``: why nothing tells, or no more than a wide interval."""

    row: EmulationRow
    limit: Limit | None
    bytes_per_s: float | None
    reason: Unpredictable | None = None

    @property
    def log_error(self) -> float | None:
        """ln(predicted / published) of the rate that was read."""
        if self.bytes_per_s is None or self.row.bytes_per_s is None:
            return None
        return float(np.log(self.bytes_per_s / self.row.bytes_per_s))

    @property
    def interval(self) -> tuple[float, float] | None:
        """90 % interval of the rate. [B/s]"""
        if self.bytes_per_s is None or self.limit is None:
            return None
        factor = float(np.exp(Z90 * _LOG_SD[self.limit]))
        return self.bytes_per_s / factor, self.bytes_per_s * factor


def adapter_bytes_per_s(row: EmulationRow) -> float | None:
    """Line rate of the adapters of one client, one direction; None where they are not stated. [B/s]"""
    read = _ADAPTERS.search(row.client_nics)
    return None if read is None else int(read[1]) * bytes_per_s_from_gbit_per_s(float(read[2]))


def predicted_at_limit(row: EmulationRow, others: Iterable[EmulationRow]) -> LimitPrediction:
    """What a system reads, from results of other configurations.

    ``row``: ``limit`` names what its result stops at; the rate is not used. ``others``: results to predict from; those
    of the same configuration are left out.
    """
    known = [one for one in others if one.bytes_per_s is not None and not _is_same(one, row)]
    of_product = [one for one in known if one.family == row.family and one.workload == row.workload]
    if not row.limit:
        return LimitPrediction(row, None, None, Unpredictable.BELOW_LIMIT)
    if row.limit == "drive":
        return LimitPrediction(row, None, None, Unpredictable.NO_DRIVE_RATE)
    if row.limit == "nodes":
        return _by_nodes(row, of_product)
    if row.limit == "network":
        return _by_network(row, [one for one in known if one.family != row.family])
    alike = [one for one in of_product if one.accelerator == row.accelerator and one.hosts]
    if alike and row.hosts:
        return LimitPrediction(row, "client", row.hosts * max(_of_client(one) for one in alike))
    if row.workload == "cosmoflow":
        return LimitPrediction(row, None, None, Unpredictable.SMALL_FILES)
    if adapter_bytes_per_s(row) is None:
        return LimitPrediction(row, None, None, Unpredictable.CLIENTS_NOT_STATED)
    return _by_network(row, [one for one in known if one.family != row.family])


def _by_nodes(row: EmulationRow, of_product: Sequence[EmulationRow]) -> LimitPrediction:
    stated = STATED_NODE_BYTES_PER_S.get(row.family)
    if row.storage_nodes and stated is not None:
        return LimitPrediction(row, "nodes", row.storage_nodes * stated)
    at_limit = [one for one in of_product if one.storage_nodes and one.limit == "nodes"]
    if row.storage_nodes and at_limit:
        rates = [_rate(one) / (one.storage_nodes or 1.0) for one in at_limit]
        return LimitPrediction(row, "nodes", row.storage_nodes * float(np.median(rates)))
    return LimitPrediction(row, None, None, Unpredictable.ONLY_CONFIGURATION)


def _by_network(row: EmulationRow, others: Sequence[EmulationRow]) -> LimitPrediction:
    line = adapter_bytes_per_s(row)
    if line is None or not row.hosts:
        return LimitPrediction(row, None, None, Unpredictable.CLIENTS_NOT_STATED)
    shares = line_shares(others, row.workload, row.accelerator)
    if not shares:
        return LimitPrediction(row, None, None, Unpredictable.ONLY_CONFIGURATION)
    return LimitPrediction(row, "network", row.hosts * line * float(np.median(shares)), Unpredictable.LINE_SHARE)


def line_shares(rows: Iterable[EmulationRow], workload: str, accelerator: str) -> list[float]:
    """Share of its line that a client takes in, the highest of each product, where clients or network are the limit."""
    of_product: dict[str, float] = {}
    for row in rows:
        line = adapter_bytes_per_s(row)
        is_limited = row.limit in ("client", "network") and row.hosts and row.bytes_per_s is not None
        if line is not None and is_limited and (row.workload, row.accelerator) == (workload, accelerator):
            of_product[row.family] = max(of_product.get(row.family, 0.0), _of_client(row) / line)
    return sorted(of_product.values())


def at_limit_accuracy() -> tuple[AccuracyTarget, ...]:
    """Accuracy of the results whose limit can be predicted, their configuration held out."""
    measures = {"nodes": "storage-limit-of-nodes-left-out-median", "client": "storage-limit-of-clients-left-out-median"}
    errors: dict[str, list[float]] = {limit: [] for limit in measures}
    for one in limits_left_out():
        if one.reason is None and one.limit in errors and one.log_error is not None:
            errors[one.limit].append(abs(one.log_error))
    return tuple(
        AccuracyTarget(measure, float(np.median(errors[limit])), 0.0, 0.15, len(errors[limit]))
        for limit, measure in measures.items()
    )


@lru_cache(maxsize=1)
def limits_left_out() -> tuple[LimitPrediction, ...]:
    """Every shipped result at its limit, predicted without its configuration."""
    rows = load_emulation()
    return tuple(predicted_at_limit(row, rows) for row in rows)


def _is_same(one: EmulationRow, row: EmulationRow) -> bool:
    """Whether two results are of one configuration: of as many nodes of a product, or of one system."""
    if one.family == row.family and one.storage_nodes and row.storage_nodes:
        return one.storage_nodes == row.storage_nodes
    return one.system == row.system


def _rate(row: EmulationRow) -> float:
    assert row.bytes_per_s is not None
    return row.bytes_per_s


def _of_client(row: EmulationRow) -> float:
    return _rate(row) / (row.hosts or 1.0)
