"""Whether a cluster is needed, and why."""

from collections.abc import Iterator, Sequence

import numpy as np

from sizer.catalog.model import Catalog
from sizer.sizing.design.cluster_need import first_read_s, smallest_link
from sizer.sizing.reasons import (
    BindingKind,
    DataInMemory,
    LinkCarriesReads,
    MoreEpochs,
    NoClusterFileSystem,
    NoServerFabric,
    OneServerFallsShort,
    VerdictKind,
    VerdictReason,
)
from sizer.sizing.result import DesignAnswer, Verdict


def verdict_of(design: DesignAnswer, platforms: Sequence[DesignAnswer], catalog: Catalog) -> Verdict:
    """Whether a cluster is needed.

    Parameters
    ----------
    design : DesignAnswer
        The design that is described.
    platforms : sequence of DesignAnswer
        The best of each platform; one of them with a single server makes a cluster needless, too.
    catalog : Catalog
        Holds the links that a customer's network has anyway.

    Notes
    -----
    The tests are those of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
    ("hitachi-dl-2019"): one server, data that fit in memory, 10 or 25 GbE, no clustered file system. Each is checked
    with the numbers of the design.
    """
    # Nobody knows whether a server that depends on an unknown fact is enough.
    others = (
        other
        for other in platforms
        if other.n_hosts == 1
        and not other.conditional_on
        and delivers_as_much(other, design)
        # A server to buy is no simpler than servers that are there.
        and other.servers_bought <= design.servers_bought
    )
    single = design if design.n_hosts == 1 else next(others, None)
    if single is None:
        return Verdict(VerdictKind.CLUSTER, None, tuple(_cluster_reasons(design)))
    if single is not design:
        kind = VerdictKind.ONE_SERVER_TOO
    elif _is_cached(single) or single.platform.storage.kind == "local":
        kind = VerdictKind.ONE_SERVER
    else:
        kind = VerdictKind.ONE_SERVER_AND_STORAGE
    return Verdict(kind, single, tuple(_simple_reasons(single, catalog)))


def delivers_as_much(other: DesignAnswer, design: DesignAnswer) -> bool:
    """Whether a design does the work of another where a number of GPUs is asked for: kinds of GPUs differ in it."""
    return all(
        mine.workload.target.gpus_busy is None or float(mine.throughput.value) >= float(asked.throughput.value)
        for mine, asked in zip(other.workloads, design.workloads, strict=True)
    )


def _is_cached(design: DesignAnswer) -> bool:
    return all(answer.cache_hit_fraction >= 1 for answer in design.workloads)


def _simple_reasons(design: DesignAnswer, catalog: Catalog) -> Iterator[VerdictReason]:
    memory = design.platform.server.memory_bytes
    for index, answer in enumerate(design.workloads):
        if answer.serving is not None:  # reads its weights at the start, and no data set
            continue
        if answer.cache_hit_fraction >= 1 and memory is not None:
            yield DataInMemory(index, memory.value, first_read_s(answer.dataset_bytes, design.platform.fabric))
        read = max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))
        link = smallest_link(read, catalog)
        if link is not None:
            yield LinkCarriesReads(index, link, read)
    if _is_cached(design) and design.platform.storage.kind != "parallel-file-system":
        yield NoClusterFileSystem()
    yield NoServerFabric()


def _cluster_reasons(design: DesignAnswer) -> Iterator[VerdictReason]:
    # A growth plan may buy more servers than the first year calls for.
    suffices = design.n_servers == 1 or (design.binding.kind is BindingKind.GROWTH and design.binding.n_servers == 1)
    if design.n_servers == 1:
        yield NoServerFabric()
    for index, answer in enumerate(design.workloads):
        if not suffices:
            curve = answer.scaling
            alone = np.atleast_1d(curve.throughput.value)[np.atleast_1d(curve.n_servers) == 1]
            yield OneServerFallsShort(index, float(alone[0]) if alone.size else None)
        if answer.time is not None and answer.recipe is not None:
            yield MoreEpochs(index)
