"""Observations of rates, resolved against the catalogue into what the performance functions take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizer.calibrate.observations import Observation
from sizer.calibrate.rules import NEAREST_GPU, STACK_READ_AS, batch_of, left_out_reason, precision_of, usual_intra_link
from sizer.catalog import links
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, Stack
from sizer.perf.exchange import gradient_bytes
from sizer.perf.step import StepRate, StepTerms, inference_samples_per_s, training_samples_per_s

Floats = NDArray[np.float64]

# How traffic crosses a link whose name does not say it: InfiniBand by RDMA; 100 Gbit/s Ethernet by RoCE, which every
# adapter of that speed in the catalogue can; slower Ethernet by TCP, as in the clouds that were measured.
_USUAL_PROTOCOL = {"edr": "rdma", "hdr": "rdma", "fdr": "rdma", "qdr": "rdma", "100gbe": "rdma"}


def observed_link_bytes_per_s(link: str) -> float:
    """Line rate of one port of a link such as ``edr``, ``25gbe`` or ``100gbe-roce``, one direction. [B/s]

    Raises
    ------
    ValueError
        If the link is unknown.
    """
    kind = next((known for known in links.GBIT_PER_S if known == link.split("-")[0]), None)
    if kind is None:
        raise ValueError(f"unknown link {link!r}; known are {', '.join(links.GBIT_PER_S)}, with -roce, -rdma or -tcp")
    return links.link_bytes_per_s(kind)


def link_protocol(link: str) -> str:
    """``rdma`` or ``tcp``: how the exchange crosses a link."""
    kind, _, said = link.partition("-")
    if said in ("roce", "rdma", "efa"):
        return "rdma"
    return "tcp" if said == "tcp" else _USUAL_PROTOCOL.get(kind, "tcp")


def link_level(link: str) -> str:
    """Name under which the fit keeps a link: kind and protocol, so that ``100gbe`` and ``100gbe-roce`` are one."""
    return f"{link.split('-')[0]}/{link_protocol(link)}"


def match_stack(catalog: Catalog, row: Observation) -> Stack | None:
    """Stack that a row was run with: the one whose wording fits with the most words stated."""
    best, most = catalog.stacks.get(STACK_READ_AS.get(row.source, "")), -1
    for stack in catalog.stacks.values():
        for wording in stack.observed_as:
            fits = all(
                not said or said == seen
                for said, seen in (
                    (wording.software, row.software),
                    (wording.source, row.source),
                    (wording.precision, row.precision),
                )
            )
            # An empty software matches rows that name none; else every row of that source would fall to it.
            if fits and (wording.software or not row.software):
                stated = sum(bool(word) for word in (wording.software, wording.source, wording.precision))
                if stated > most:
                    best, most = stack, stated
    return best


@dataclass(frozen=True)
class Levels:
    """Names that the parameters of one case hang on."""

    task: str
    precision: str
    framework: str
    stack: str
    dnn: str
    family: str
    gpu: str
    intra_link: str
    inter_link: str  # empty on one server


@dataclass(frozen=True)
class Case:
    """One rate, ready for the performance functions."""

    row: Observation
    levels: Levels
    stack: Stack
    dnn: Dnn
    gpu: Gpu
    batch_per_gpu: float
    n_gpus_per_server: int
    n_servers: int
    nic_bytes_per_s: float


def resolve(row: Observation, catalog: Catalog, *, for_fit: bool) -> tuple[Case | None, str]:
    """Case of a rate, or None and the reason why it is none.

    Parameters
    ----------
    row : Observation
        A row with quantity ``samples_per_s`` and task training or inference.
    catalog : Catalog
        Where its names are looked up.
    for_fit : bool
        Whether rows that do not belong to the fit are refused.
    """
    reason = left_out_reason(row) if for_fit else ""
    if reason:
        return None, reason
    if row.dnn not in catalog.dnns:
        return None, f"neural network {row.dnn!r} is not in the catalogue" if row.dnn else "names no neural network"
    gpu_id = NEAREST_GPU.get(row.gpu, row.gpu)
    if gpu_id not in catalog.gpus:
        return None, f"GPU {row.gpu!r} is not in the catalogue" if row.gpu else "names no GPU"
    precision = precision_of(row)
    if precision not in ("mixed", "fp32"):
        return None, "precision not stated" if not precision else f"the catalogue has no peak for {precision}"
    if not row.gpus or not row.servers:
        return None, "number of servers or GPUs not stated"
    if row.gpus % row.servers:
        return None, f"{row.gpus} GPUs do not spread evenly over {row.servers} servers"
    if row.servers > 1 and not row.inter_link:
        return None, "link between the servers not stated"
    stack = match_stack(catalog, row)
    if stack is None:
        return None, f"no stack of the catalogue is worded {row.software!r}"
    dnn, gpu = catalog.dnns[row.dnn], catalog.gpus[gpu_id]
    levels = Levels(
        task=row.task,
        precision=precision,
        framework=stack.framework,
        stack=stack.id,
        dnn=dnn.id,
        family=dnn.family,
        gpu=row.gpu,
        intra_link=row.intra_link or usual_intra_link(gpu.id, gpu.form_factor.value),
        inter_link=link_level(row.inter_link) if row.servers > 1 else "",
    )
    nics = row.nics_per_server or 1
    rate = observed_link_bytes_per_s(row.inter_link) * nics if row.servers > 1 else links.link_bytes_per_s("edr")
    batch = batch_of(row, precision)
    return Case(row, levels, stack, dnn, gpu, batch, row.gpus // row.servers, row.servers, rate), ""


def peak_flop_per_s(gpu: Gpu, precision: str) -> float:
    """Peak of the unit that a precision uses. [FLOP/s]"""
    return (gpu.peak_mixed_flop_per_s if precision == "mixed" else gpu.peak_fp32_flop_per_s).value


@dataclass(frozen=True)
class CaseArrays:
    """Cases of one task as columns for one vectorised pass."""

    task: str
    arguments: dict[str, Any]

    @classmethod
    def of(cls, cases: list[Case]) -> "CaseArrays":
        """Columns of cases that all have one task."""
        task = cases[0].levels.task

        def column(values: list[float]) -> Floats:
            return np.array(values, dtype=float)

        arguments: dict[str, Any] = {
            "batch_per_gpu": column([c.batch_per_gpu for c in cases]),
            "n_gpus_per_server": column([c.n_gpus_per_server for c in cases]),
            "n_servers": column([c.n_servers for c in cases]),
            "forward_flop": column([c.dnn.forward_flop.value for c in cases]),
            "peak_flop_per_s": column([peak_flop_per_s(c.gpu, c.levels.precision) for c in cases]),
        }
        if task == "training":
            sizes = [float(gradient_bytes(c.dnn.parameters.value, c.levels.precision)) for c in cases]
            arguments["gradient_bytes"] = column(sizes)
            arguments["nic_bytes_per_s"] = column([c.nic_bytes_per_s for c in cases])
        else:
            arguments["input_bytes"] = column([c.dnn.input_bytes.value for c in cases])
        return cls(task, arguments)

    def rate(self, terms: StepTerms) -> StepRate:
        """Rates by the functions that size clusters."""
        function = training_samples_per_s if self.task == "training" else inference_samples_per_s
        return function(terms, **self.arguments)
