"""Verdict on a design: its claims, each with its number and its threshold."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.catalog.fabrics import usual_ports
from sizer.physical.networks.ports import nodes_of
from sizer.present.words import plural, sample_unit, stage
from sizer.questions.verdict.claim import HITACHI, Claim, claim_of_threshold, share_text
from sizer.questions.verdict.data_claims import data_claims
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.design.verdict import (
    LEAST_FABRIC_LOSS,
    MAX_SERVERS,
    doubling,
    exchange_loss,
    exchange_s,
    step_samples,
)
from sizer.sizing.recommend import search
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import fabric_bytes_per_s
from sizer.sizing.stages.sharding import gradient_bytes, looked_up_bytes

# Twice the GPUs pay where at least half of what is bought becomes speed to the target accuracy.
LEAST_SPEED_UP = 1.5
# GPUs at 97 % utilization or more are the bottleneck (dell-isilon-dgx1-blog-2018): they do not wait for data.
MOST_WAITING = 0.03


def _scale_claims(evaluated: EvaluatedDesign) -> Iterator[Claim]:
    """Claims in the order of the guide; only those that apply to the design."""
    yield _one_server(evaluated)
    for model, answer in zip(evaluated.workloads, evaluated.result.design.workloads, strict=True):
        if answer.workload.task == "training":
            if not model.exchange_is_in_step:
                yield _slow_fabric(model)
            yield from _double_gpus(model)
        if answer.kind.reads_data:
            yield _gpus_wait(model, answer)


def _one_server_meets(evaluated: EvaluatedDesign) -> bool:
    """Whether a single server of some platform that a request allows meets it with everything it asks."""
    try:
        counts = search(evaluated.result.request, evaluated.catalog, evaluated.calibration, most=1)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counts.candidates.any(axis=1)).tolist()
    hosts = (index for index in runs if nodes_of(counts.evaluated.platforms[index].server) == 1)
    return any(counts.feasible_of(index).size > 0 for index in hosts)


def _one_server(evaluated: EvaluatedDesign) -> Claim:
    result, design = evaluated.result, evaluated.result.design
    holds = design.n_hosts == 1 or _one_server_meets(evaluated)
    server = design.platform.server.name

    def facts() -> tuple[str, str, str]:
        single = next((other for other in (design, *result.platforms) if other.n_hosts == 1), None)
        if not holds and design.n_servers == 1:
            found = f"One {server} is enough, but it is a rack of several hosts: no single host does the job."
        elif not holds:
            found = f"One {server} is not enough: the request needs {grouped(design.n_servers)}."
        elif single is None:
            found = "One server of another type than the described one is enough."
        else:
            found = f"One {single.platform.server.name} is enough."
        runs = [_single_run_text(model) for model in evaluated.workloads]
        if result.request.team is not None:
            runs.append("the team's jobs must also start within their wait limits")
        asked = share_text(result.request.confidence)
        how = f"One {server} with this storage: {'; '.join(runs)}. Required confidence: {asked}."
        return "One server is enough", found, how

    value = 1.0 if holds else float(min(other.n_hosts for other in result.platforms))
    return Claim("one-server", "", holds, value, 1.0, True, "servers", facts, (HITACHI,))


def _single_run_text(model: WorkloadOnDesign) -> str:
    """What one server of a design achieves, compared with the target."""
    run, target, dnn = model.run_on(1), model.work.request.target, model.work.dnn
    if target.gpus_busy is not None:
        gpus = plural(int(run.cols.gpus_per_server[0]), "GPU")
        return f"it has {gpus} of the {grouped(target.gpus_busy)} to keep fully utilized"
    if not all_fit([model.work], run.hosts(model.platform, model.catalog)).all():
        return f"its GPUs do not hold {dnn.name}"
    rate, cold = (part.value for part in run.rates)
    if target.samples_per_s is not None:
        unit = sample_unit(dnn)
        return f"{si(float(rate[0]), unit)} at the median, target {si(target.samples_per_s, unit)}"
    time_s = run.time_s(rate, cold)
    assert target.time_to_train_s is not None  # a target is one of the three
    assert time_s is not None
    return f"{duration(float(time_s[0]))} to train at the median, target {duration(target.time_to_train_s)}"


def _slow_fabric(model: WorkloadOnDesign) -> Claim:
    """Gradient exchange over 25 GbE compared with EDR."""
    slow, fast = model.catalog.links["25gbe"], model.catalog.links["edr"]
    server, n_servers = model.platform.server, model.n_servers
    # Ports of a server on the slower network: those that it is sold with, else one.
    n_ports = max(usual_ports(server.ports, slow), 1)
    losses = exchange_loss(model, slow, fast, n_ports)
    loss = float(losses[min(n_servers, MAX_SERVERS) - 1])

    def facts() -> tuple[str, str, str]:
        paying, least = np.flatnonzero(losses > LEAST_FABRIC_LOSS), share_text(LEAST_FABRIC_LOSS)
        pays = f"EDR would gain less than {least} on up to {MAX_SERVERS} servers"
        if paying.size:
            first = int(paying[0]) + 1
            gpus = grouped(first * int(model.run.cols.gpus_per_server[0]))
            pays = f"EDR gains more than {least} from {plural(first, 'server')} ({gpus} GPUs) on"
        if n_servers == 1:
            found = f"25 GbE loses nothing to the gradients: those of one server stay inside it; {pays}."
        elif loss <= LEAST_FABRIC_LOSS:
            found = f"25 GbE loses little to the gradients, {share_text(loss)} of the rate; {pays}."
        else:
            found = f"EDR pays off for the gradients: 25 GbE would cost {share_text(loss)} of the rate; {pays}."
        exchanging, work = max(n_servers, 2), model.work
        sent = gradient_bytes(work) + work.batch_per_gpu * looked_up_bytes(work)
        compute_s = step_samples(model, n_servers) / float(model.run.comp.gpu_alone[0])
        how = (
            f"A step exchanges {si(sent, 'B')} of gradients. Between {exchanging} servers that takes "
            f"{_ms(exchange_s(model, slow, exchanging, n_ports))} over the {si(n_ports * slow.bytes_per_s, 'B/s')} of "
            f"25 GbE and {_ms(exchange_s(model, fast, exchanging))} over the "
            f"{si(fabric_bytes_per_s(server, fast), 'B/s')} of EDR, as calibrated. "
            f"{_ms(compute_s)} of computation hides part of it."
        )
        return "25 GbE would lose little to the gradients", found, how

    return claim_of_threshold("slow-fabric", "share", model, loss, LEAST_FABRIC_LOSS, facts, [HITACHI])


def _ms(seconds: float) -> str:
    return f"{significant(1e3 * seconds)}{NARROW_SPACE}ms"


def _double_gpus(model: WorkloadOnDesign) -> Iterator[Claim]:
    gain = doubling(model)
    if gain is None:
        return

    def facts() -> tuple[str, str, str]:
        n_gpus = 2 * int(model.run.cols.gpus_per_server[0]) * model.n_servers
        rate, speed = significant(gain.rate_ratio), significant(gain.speed_ratio)
        before, after = (significant(epochs) for epochs in gain.epochs)
        return (
            "Twice the GPUs pay off",
            f"Twice the GPUs, {grouped(n_gpus)}, give {rate} times the rate and {speed} times the speed to accuracy.",
            f"The global batch goes from {grouped(gain.global_batch[0])} to {grouped(gain.global_batch[1])} and the "
            f"epochs to the target from {before} to {after}: {rate} × {before} / {after}, less the start-up time. "
            f"Twice the GPUs pay off from {plain(LEAST_SPEED_UP)} times on.",
        )

    sources = (HITACHI, "mlperf-v0.6")
    yield claim_of_threshold(
        "double-gpus", "ratio", model, gain.speed_ratio, LEAST_SPEED_UP, facts, sources, at_most=False
    )


def _gpus_wait(model: WorkloadOnDesign, answer: WorkloadAnswer) -> Claim:
    """Rate of the GPUs alone compared with that of the design."""
    capacity = float(model.run.comp.gpu.median[0])
    waiting = max(1 - float(model.run.rates[0].value[0]) / capacity, 0.0)

    def facts() -> tuple[str, str, str]:
        unit = sample_unit(answer.dnn)
        return (
            "The GPUs do not wait for data",
            f"The GPUs wait for data {share_text(waiting)} of the time.",
            f"They could process {si(capacity, unit)}; the design delivers {si(capacity * (1 - waiting), unit)}. "
            f"Bottleneck: {stage(answer.bottleneck, inside=True)}. GPUs at 97{NARROW_SPACE}% utilization or more are "
            "the bottleneck themselves.",
        )

    source = "dell-isilon-dgx1-blog-2018"
    return claim_of_threshold("gpus-wait", "share", model, waiting, MOST_WAITING, facts, [source])


def claims(evaluated: EvaluatedDesign) -> tuple[Claim, ...]:
    """Claims that apply to a design.

    A claim always favours the simpler option, so that a reader sees at a glance which requirement the design depends
    on. About the whole request first, then workload by workload.
    """
    serves = all(answer.serving is not None for answer in evaluated.result.design.workloads)
    made = [*_scale_claims(evaluated), *(() if serves else data_claims(evaluated))]
    known = evaluated.catalog.sources
    cited = [replace(one, sources=tuple(key for key in dict.fromkeys(one.sources) if key in known)) for one in made]
    return tuple(sorted(cited, key=lambda claim: claim.workload != ""))
