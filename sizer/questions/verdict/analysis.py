"""Verdict on a design: its claims, each with its number and its threshold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.catalog.fabrics import usual_ports
from sizer.catalog.links import LinkType
from sizer.physical.networks.ports import nodes_of
from sizer.questions.verdict.claim import (
    HITACHI,
    Claim,
    DoubleGpusFacts,
    FabricFacts,
    GpuWaitFacts,
    OneServerFacts,
    SingleServerRun,
    Threshold,
    claim_of_threshold,
)
from sizer.questions.verdict.data_claims import data_claims
from sizer.sizing.design.decisions import (
    LEAST_FABRIC_LOSS,
    MAX_SERVERS,
    doubling,
    exchange_loss,
    exchange_s,
    step_samples,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.recommend import search
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import fabric_bytes_per_s
from sizer.sizing.stages.sharding import gradient_bytes, looked_up_bytes

# Twice the GPUs pay where at least half of what is bought becomes speed to the target accuracy.
LEAST_SPEED_UP = 1.5
# GPUs at 97 % utilization or more are the bottleneck (dell-isilon-dgx1-blog-2018): they do not wait for data.
MOST_WAITING = 0.03


def _scale_claims(evaluated: EvaluatedDesign, models: Sequence[WorkloadOnDesign]) -> Iterator[Claim]:
    """Claims in the order of the guide; only those that apply to the design."""
    yield _one_server(evaluated, models)
    for model, answer in zip(models, evaluated.result.design.workloads, strict=True):
        if answer.workload.task == "training":
            if not model.exchange_is_in_step:
                yield _slow_fabric(model)
            yield from _double_gpus(model)
        if answer.kind.reads_data:
            waiting = _waiting(model)
            capacity = float(model.run.comp.gpu.median[0])
            facts = GpuWaitFacts(answer.dnn, capacity, capacity * (1 - waiting.value), waiting.value, answer.bottleneck)
            yield claim_of_threshold("gpus-wait", "share", model, waiting, facts, ["dell-isilon-dgx1-blog-2018"])


def _one_server_meets(evaluated: EvaluatedDesign) -> bool:
    """Whether a single server of some platform that a request allows meets it with everything it asks."""
    try:
        counts = search(evaluated.result.request, evaluated.catalog, evaluated.calibration, most=1)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counts.candidates.any(axis=1)).tolist()
    hosts = (index for index in runs if nodes_of(counts.evaluated.platforms[index].server) == 1)
    return any(counts.feasible_of(index).size > 0 for index in hosts)


def _one_server(evaluated: EvaluatedDesign, models: Sequence[WorkloadOnDesign]) -> Claim:
    result, design = evaluated.result, evaluated.result.design
    holds = design.n_hosts == 1 or _one_server_meets(evaluated)
    single = next((other for other in (design, *result.platforms) if other.n_hosts == 1), None)

    facts = OneServerFacts(
        server=design.platform.server.name,
        n_servers=design.n_servers,
        single_server=None if single is None else single.platform.server.name,
        runs=tuple(_single_server_run(model) for model in models),
        has_team=result.request.team is not None,
        confidence=result.request.confidence,
    )
    return Claim(
        key="one-server",
        workload="",
        holds=holds,
        value=1.0 if holds else float(min(other.n_hosts for other in result.platforms)),
        threshold=1.0,
        at_most=True,
        unit="servers",
        facts=facts,
        sources=(HITACHI,),
    )


def _single_server_run(model: WorkloadOnDesign) -> SingleServerRun:
    """What one server of a design achieves."""
    run, target = model.run_on(1), model.work.request.target
    rate, cold = (part.value for part in run.rates)
    time_s = None if target.time_to_train_s is None else run.time_s(rate, cold)
    fits = all_fit([model.work], run.hosts(model.platform, model.catalog))
    return SingleServerRun(
        target,
        model.work.dnn,
        int(run.cols.gpus_per_server[0]),
        bool(fits.all()),
        float(rate[0]),
        None if time_s is None else float(time_s[0]),
    )


def _compared_links(model: WorkloadOnDesign) -> tuple[LinkType, LinkType]:
    return model.catalog.links["25gbe"], model.catalog.links["edr"]


def _slow_ports(model: WorkloadOnDesign) -> int:
    """Ports of a server on the slower network: those that it is sold with, else one."""
    return max(usual_ports(model.platform.server.ports, _compared_links(model)[0]), 1)


def _fabric_loss(model: WorkloadOnDesign) -> Threshold:
    """Rate that 25 GbE loses compared with EDR at the size of a design."""
    losses = exchange_loss(model, *_compared_links(model), _slow_ports(model))
    return Threshold(float(losses[min(model.n_servers, MAX_SERVERS) - 1]), LEAST_FABRIC_LOSS)


def _slow_fabric(model: WorkloadOnDesign) -> Claim:
    slow, fast = _compared_links(model)
    n_ports = _slow_ports(model)
    losses, loss = exchange_loss(model, slow, fast, n_ports), _fabric_loss(model)
    paying = np.flatnonzero(losses > LEAST_FABRIC_LOSS)
    work, server = model.work, model.platform.server
    exchange_servers = max(model.n_servers, 2)
    facts = FabricFacts(
        n_servers=model.n_servers,
        gpus_per_server=int(model.run.cols.gpus_per_server[0]),
        loss_fraction=loss.value,
        first_paying_servers=int(paying[0]) + 1 if paying.size else None,
        compared_servers=MAX_SERVERS,
        gradient_bytes=gradient_bytes(work) + work.batch_per_gpu * looked_up_bytes(work),
        exchange_servers=exchange_servers,
        slow_exchange_s=exchange_s(model, slow, exchange_servers, n_ports),
        fast_exchange_s=exchange_s(model, fast, exchange_servers),
        slow_bytes_per_s=n_ports * slow.bytes_per_s,
        fast_bytes_per_s=fabric_bytes_per_s(server, fast),
        compute_s=step_samples(model, model.n_servers) / float(model.run.comp.gpu_alone[0]),
    )
    return claim_of_threshold("slow-fabric", "share", model, loss, facts, [HITACHI])


def _double_gpus(model: WorkloadOnDesign) -> Iterator[Claim]:
    gain = doubling(model)
    if gain is None:
        return
    facts = DoubleGpusFacts(int(model.run.cols.gpus_per_server[0]) * model.n_servers, gain)
    number = Threshold(gain.speed_ratio, LEAST_SPEED_UP, at_most=False)
    yield claim_of_threshold("double-gpus", "ratio", model, number, facts, (HITACHI, "mlperf-v0.6"))


def _waiting(model: WorkloadOnDesign) -> Threshold:
    rate = float(model.run.rates[0].value[0])
    return Threshold(max(1 - rate / float(model.run.comp.gpu.median[0]), 0.0), MOST_WAITING)


def claims(evaluated: EvaluatedDesign) -> tuple[Claim, ...]:
    """Claims that apply to a design.

    A claim always favours the simpler option, so that a reader sees at a glance which requirement the design depends
    on. About the whole request first, then workload by workload. Empty where the catalogue no longer holds the parts of
    the design.
    """
    models = tuple(model for model in evaluated.workloads if model is not None)
    if len(models) < len(evaluated.workloads):
        return ()
    serves = all(answer.serving is not None for answer in evaluated.result.design.workloads)
    made = [*_scale_claims(evaluated, models), *(() if serves else data_claims(evaluated, models))]
    known = evaluated.catalog.sources
    cited = [replace(one, sources=tuple(key for key in dict.fromkeys(one.sources) if key in known)) for one in made]
    return tuple(sorted(cited, key=lambda claim: claim.workload != ""))
