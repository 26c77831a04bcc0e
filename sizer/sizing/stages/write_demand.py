"""Whether a design writes so much that the write rate of its storage decides."""

from collections.abc import Sequence

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.sizing.stages.checkpoints import CheckpointRates
from sizer.sizing.stages.platform_columns import Columns

# Writes up to this share of the demonstrated reads need no published write rate. A choice of ours: the lowest that a
# vendor states is a quarter of its reads, so that this leaves a factor of 2.5.
_CERTAIN_WRITE_SHARE = 0.1


def write_demand_matters(streams: CheckpointRates | None, n_nodes: Ints, cols: Columns) -> Bools:
    """Rows that write so much that it depends on the write rate of the storage whether it is enough.

    What a published test wrote, and a tenth of what the nodes read, is taken to be written whatever the rate is. A
    level that nobody asked for counts only where the smallest system is not sure to write what the workload does.
    """
    written = cols.staged_bytes_per_s
    if streams is not None:
        ingest = 0.0 if streams.others is None else streams.others.ingest_bytes_per_s
        written = written + streams.written_bytes_per_s + ingest
        if streams.least_write_bytes_per_s is not None:
            is_usual = streams.others is not None and streams.others.level_is_default
            is_asked = written > _certain_writes(cols.fewest_nodes, cols) if is_usual else True
            written = np.where(is_asked, np.maximum(written, streams.least_write_bytes_per_s), written)
    return np.asarray(written > _certain_writes(n_nodes, cols))


def _certain_writes(n_nodes: Floats | Ints, cols: Columns) -> Floats:
    """What nodes write whatever their write rate is. [B/s]"""
    return np.maximum(_CERTAIN_WRITE_SHARE * n_nodes * cols.node_low_bytes_per_s, cols.shown_write_bytes_per_s)


def write_demands_matter(
    each: Sequence[CheckpointRates | None], n_servers: Ints, n_nodes: Ints, cols: Columns
) -> Bools:
    """Rows of which :func:`write_demand_matters` holds for any workload."""
    there = np.where(cols.is_local > 0, n_servers, np.maximum(n_nodes, 1))
    found: Bools = np.logical_or.reduce([write_demand_matters(streams, there, cols) for streams in each])
    return found
