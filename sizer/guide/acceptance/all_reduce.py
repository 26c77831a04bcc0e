"""Bandwidth that an all-reduce test should show on a cluster, from the calibrated links."""

import numpy as np

from sizer.base import units
from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import link_level
from sizer.calibrate.engine import Effect
from sizer.perf.exchange import (
    bus_bytes_per_s,
    hierarchical_allreduce_time_s,
    ring_allreduce_time_s,
    tree_allreduce_time_s,
)
from sizer.perf.step_terms import INTER, INTRA, TERM_NAMES
from sizer.perf.training_step import INTER_HOP_S, INTRA_HOP_S
from sizer.physical.platform import Platform
from sizer.sizing.stages.platform_columns import fabric_bytes_per_s

# Far beyond the sizes whose time latency sets, and what published tests end with.
MESSAGE_BYTES = units.GIB


def all_reduce_bytes_per_s(
    platform: Platform,
    n_servers: int,
    gpus_per_server: int,
    calibration: Calibration,
    *,
    fabric_share: float = 1.0,
    message_bytes: float = MESSAGE_BYTES,
) -> Estimate | None:
    """Bus bandwidth of one all-reduce, as nccl-tests prints it.

    ``platform``: links inside the server and the fabric between servers. ``n_servers``, ``gpus_per_server``: ranks of
    the test. [-] ``calibration``: its rates of links, fitted to published tests. ``fabric_share``: share of the line
    rate that an oversubscribed fabric leaves. [-] ``message_bytes``: size of the message. [B] Spread of the
    parameters, of runs of one site and of what sites differ by; None for one GPU. [B/s] Raises ValueError if a count
    is below 1 or a size or share not above 0.
    """
    if n_servers * gpus_per_server == 1:
        return None
    found: list[Effect] = []
    if gpus_per_server > 1:
        found.append((INTRA, f"intra:{platform.intra_link}", 1.0))
    if n_servers > 1:
        level = link_level(platform.fabric.id)
        found += [(INTER, f"inter:{level.partition('/')[2]}", 1.0), (INTER, f"inter-link:{level}", 1.0)]
        found.append((INTER, "inter-site:", 1.0))  # a site that was never measured: the spread of those that were
    terms = calibration.terms_from(found)
    intra = float(np.exp(terms.values[INTRA]))
    inter = fabric_bytes_per_s(platform.server, platform.fabric) * fabric_share * float(np.exp(terms.values[INTER]))
    time_s = float(
        hierarchical_allreduce_time_s(message_bytes, gpus_per_server, n_servers, intra, inter, INTRA_HOP_S, INTER_HOP_S)
    )
    # Delta method: the logarithm of the time falls by the share of each link in it.
    slope = np.zeros(len(TERM_NAMES))
    slope[INTRA] = float(ring_allreduce_time_s(message_bytes, gpus_per_server, intra)) / time_s
    slope[INTER] = float(tree_allreduce_time_s(message_bytes, n_servers, inter)) / time_s
    variance = float(slope @ terms.covariance @ slope) + float(terms.scatter_log_sd) ** 2
    return Estimate.log_normal(bus_bytes_per_s(message_bytes, n_servers * gpus_per_server, time_s), np.sqrt(variance))
