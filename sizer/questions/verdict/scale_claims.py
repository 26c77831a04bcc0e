"""Claims about how many servers and GPUs are enough, and what more of them bring."""

from collections.abc import Iterator

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import by_count, duration, grouped, plain, si, significant
from sizer.catalog.labels import sample_unit
from sizer.perf.exchange import gradient_bytes
from sizer.questions.verdict.claim_draft import HITACHI, Draft, Measure, by_measure, levers, percent, times
from sizer.questions.verdict.reversal import Lever, Trials
from sizer.questions.what_if.varied_input import BATCH, DATASET_SIZE, SAMPLE_SIZE, TARGET
from sizer.sizing.design.cluster_need import MAX_SERVERS, doubling, exchange_loss, exchange_s, step_samples
from sizer.sizing.design.evaluated_design import WorkloadOnDesign, rates_of
from sizer.sizing.recommend import search
from sizer.sizing.result import STAGES, SizingResult, WorkloadAnswer
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.platform_columns import fabric_bytes_per_s
from sizer.workload.request import SizingRequest

# A faster network pays from this share of the rate on: less is hardly seen beside the 90 % intervals of a rate.
LOSS = 0.05
# Twice the GPUs pay where at least half of what is bought arrives as speed to the accuracy asked for.
DOUBLE_PAYS = 1.5
# GPUs at 97 % or more are the bottleneck (dell-isilon-dgx1-blog-2018): they do not wait for data.
WAITING = 0.03


def scale_claims(result: SizingResult, trials: Trials) -> Iterator[Draft]:
    """Claims in the order of the guide; only those that make sense for the design."""
    yield _one_server(result, trials)
    for number, answer in enumerate(result.design.workloads):
        model = trials.models[number]
        if answer.workload.task == "training":
            yield _slow_fabric(trials, number, model)
            yield from _double_gpus(trials, number, model)
        yield _gpus_wait(trials, number, model, answer)


def one_server_meets(request: SizingRequest, trials: Trials) -> bool:
    """Whether a single server of some platform that a request allows meets it with everything it asks."""
    try:
        counting = search(request, trials.catalog, trials.calibration, most=1)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counting.candidates.any(axis=1)).tolist()
    return any(counting.feasible_of(index).size > 0 for index in runs)


def _one_server(result: SizingResult, trials: Trials) -> Draft:
    design = result.design
    holds = design.n_servers == 1 or one_server_meets(result.request, trials)
    single = next((one for one in (design, *result.platforms) if one.n_servers == 1), None)
    said = [_alone(model) for model in trials.models]
    if result.request.team is not None:
        said.append("the jobs of the team have to start in time, too")
    reached = "; ".join(said)
    server = design.platform.server.name
    if holds and single is not None:
        sentence = f"One {single.platform.server.name} is enough."
    elif holds:
        sentence = "One server is enough, of another kind than that of the described design."
    else:
        sentence = by_count(
            design.n_servers,
            f"One {server} is not enough: the request takes {grouped(design.n_servers)}.",
            f"One {server} is not enough: the request takes {grouped(design.n_servers)}.",
        )

    def is_held(lever: Lever, value: float) -> bool | None:
        request = trials.changed(lever, value)
        return None if request is None else one_server_meets(request, trials)

    return Draft(
        key="one-server",
        workload="",
        title="One server is enough",
        value=1.0 if holds else float(min(one.n_servers for one in result.platforms)),
        threshold=1.0,
        at_most=True,
        unit="servers",
        holds=holds,
        sentence=sentence,
        reason=(f"One {server} with this storage: {reached}. Confidence asked: {percent(result.request.confidence)}."),
        sources=(HITACHI,),
        # With a team it is the people whose jobs need servers.
        levers=trials.people(upwards=holds)
        if result.request.team is not None
        else levers(trials, range(len(trials.models)), (TARGET, holds), (DATASET_SIZE, holds)),
        is_held=is_held,
        effect="one server would no longer be enough" if holds else "one server would be enough",
    )


def _alone(model: WorkloadOnDesign) -> str:
    """What one server of a design does, against the target."""
    run = model.run_on(1)
    work, unit = model.work, sample_unit(model.work.dnn)
    target = work.request.target
    if target.gpus_busy is not None:
        gpus = int(run.cols.gpus_per_server[0])
        return by_count(
            gpus,
            f"it has {gpus} GPU of {target.gpus_busy} to keep busy",
            f"it has {gpus} GPUs of {target.gpus_busy} to keep busy",
        )
    rate, cold = rates_of([run.warm, run.cold]).tolist()
    if target.samples_per_s is not None:
        return f"{si(rate, unit)} at the median, {si(target.samples_per_s, unit)} asked"
    assert target.time_to_train_s is not None
    length = evaluate.epochs(work, run.cols, run.servers, model.calibration)
    time_s = model.metric(rate, cold, None if length is None else float(length.value[0]))
    return f"{duration(time_s)} to train at the median, {duration(target.time_to_train_s)} asked"


def _loss(model: WorkloadOnDesign) -> Measure:
    """Rate that 25 GbE loses against EDR at the size of a design."""
    losses = exchange_loss(model, "25gbe", "edr")
    return Measure(float(losses[min(model.n_servers, MAX_SERVERS) - 1]), LOSS)


def _slow_fabric(trials: Trials, number: int, model: WorkloadOnDesign) -> Draft:
    losses, found = exchange_loss(model, "25gbe", "edr"), _loss(model)
    over = np.flatnonzero(losses > LOSS)
    gpus = int(model.run.cols.gpus_per_server[0])
    first = int(over[0]) + 1 if over.size else None
    if first is None:
        pays = f"EDR would gain less than {percent(LOSS)} on up to {MAX_SERVERS} servers"
    else:
        pays = f"EDR gains more than {percent(LOSS)} from {first} servers ({grouped(first * gpus)} GPUs) on"
    if model.n_servers == 1:
        finding = f"25 GbE is enough for the gradients: those of one server stay inside it; {pays}."
    elif found.holds:
        finding = f"25 GbE is enough for the gradients: it costs {percent(found.value)} of the rate; {pays}."
    else:
        finding = f"EDR pays for the gradients: 25 GbE would cost {percent(found.value)} of the rate; {pays}."
    return Draft(
        key="slow-fabric",
        workload=model.work.request.name,
        title="25 GbE is enough for the gradients",
        value=found.value,
        threshold=LOSS,
        at_most=True,
        unit="share",
        holds=found.holds,
        sentence=finding,
        reason=_exchange_reason(model),
        sources=(HITACHI,),
        levers=levers(trials, [number], (TARGET, found.holds), (BATCH, not found.holds)),
        is_held=by_measure(trials, number, _loss),
        effect=f"EDR would gain more than {percent(LOSS)}"
        if found.holds
        else "25 GbE would be enough for the gradients",
    )


def _exchange_reason(model: WorkloadOnDesign) -> str:
    """The time of one exchange over both networks."""
    work, server = model.work, model.platform.server
    n = max(model.n_servers, 2)
    gradient = float(gradient_bytes(work.dnn.parameters.value, work.request.precision))
    compute_s = step_samples(model, model.n_servers) / float(model.run.comp.gpu_alone[0])
    slow, fast = (si(fabric_bytes_per_s(server, kind), "B/s") for kind in ("25gbe", "edr"))
    return (
        f"A step exchanges {si(gradient, 'B')} of gradients. Between {n} servers that takes "
        f"{_short(exchange_s(model, '25gbe', n))} over the {slow} of 25 GbE and "
        f"{_short(exchange_s(model, 'edr', n))} over the {fast} of EDR, as calibrated; "
        f"{_short(compute_s)} of arithmetic hides part of it."
    )


def _short(seconds: float) -> str:
    """A time of a step."""
    return f"{significant(1e3 * seconds)}\u202fms"


def _gain(model: WorkloadOnDesign) -> Measure:
    found = doubling(model)
    assert found is not None  # asked only where a recipe tells the epochs
    return Measure(found.speed_ratio, DOUBLE_PAYS, at_most=False)


def _double_gpus(trials: Trials, number: int, model: WorkloadOnDesign) -> Iterator[Draft]:
    found = doubling(model)
    if found is None:
        return
    measured = _gain(model)
    gpus = int(model.run.cols.gpus_per_server[0]) * model.n_servers
    yield Draft(
        key="double-gpus",
        workload=model.work.request.name,
        title="Twice the GPUs pay",
        value=found.speed_ratio,
        threshold=DOUBLE_PAYS,
        at_most=False,
        unit="ratio",
        holds=measured.holds,
        sentence=(
            f"Twice the GPUs, {grouped(2 * gpus)}, give {times(found.rate_ratio)} times the rate and "
            f"{times(found.speed_ratio)} times the speed to accuracy."
        ),
        reason=(
            f"The global batch grows from {grouped(found.global_batch[0])} to "
            f"{grouped(found.global_batch[1])} and the epochs to the target from "
            f"{significant(found.epochs[0])} to {significant(found.epochs[1])}: "
            f"{times(found.rate_ratio)} × {significant(found.epochs[0])} / "
            f"{significant(found.epochs[1])}, less what start-up takes. They pay from "
            f"{plain(DOUBLE_PAYS)} times on."
        ),
        sources=(HITACHI, "mlperf-v0.6"),
        levers=levers(trials, [number], (TARGET, measured.holds), (BATCH, measured.holds)),
        is_held=by_measure(trials, number, _gain),
        effect="twice the GPUs would no longer pay" if measured.holds else "twice the GPUs would pay",
    )


def _waiting(model: WorkloadOnDesign) -> Measure:
    rate = float(rates_of([model.run.warm])[0])
    return Measure(max(1 - rate / float(model.run.comp.gpu.median[0]), 0.0), WAITING)


def _gpus_wait(trials: Trials, number: int, model: WorkloadOnDesign, answer: WorkloadAnswer) -> Draft:
    found = _waiting(model)
    unit = sample_unit(answer.dnn)
    capacity = float(model.run.comp.gpu.median[0])
    rate = capacity * (1 - found.value)
    return Draft(
        key="gpus-wait",
        workload=answer.workload.name,
        title="The GPUs do not wait for data",
        value=found.value,
        threshold=WAITING,
        at_most=True,
        unit="share",
        holds=found.holds,
        sentence=f"The GPUs wait for data {percent(found.value)} of the time.",
        reason=(
            f"They could take {si(capacity, unit)}, the design gives {si(rate, unit)}; the limit is "
            f"{STAGES[answer.bottleneck]}. GPUs that are busy 97\u202f% of the time or more are the "
            "bottleneck themselves."
        ),
        sources=("dell-isilon-dgx1-blog-2018",),
        levers=levers(trials, [number], (SAMPLE_SIZE, found.holds)),
        is_held=by_measure(trials, number, _waiting),
        effect="the GPUs would wait for data" if found.holds else "the GPUs would no longer wait for data",
    )
