"""Claims about how many servers and GPUs are enough, and what more of them bring."""

from collections.abc import Iterator

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.language import tr, trn
from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.catalog.wording import sample_unit
from sizer.perf.exchange import gradient_bytes
from sizer.sizing import evaluate
from sizer.sizing.arguments import MAX_SERVERS, doubling, exchange_loss, exchange_s, step_samples
from sizer.sizing.best import search
from sizer.sizing.claim_draft import HITACHI, Draft, Measure, by_measure, levers, percent, times
from sizer.sizing.columns import fabric_bytes_per_s
from sizer.sizing.overturn import Lever, Trials
from sizer.sizing.result import STAGES, SizingResult, WorkloadAnswer
from sizer.sizing.varied_input import BATCH, DATASET_SIZE, SAMPLE_SIZE, TARGET
from sizer.sizing.what_if import Model, rates_of
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
        said.append(tr("the jobs of the team have to start in time, too"))
    reached = "; ".join(said)
    server = design.platform.server.name
    if holds and single is not None:
        sentence = tr("One {server} is enough.", server=single.platform.server.name)
    elif holds:
        sentence = tr("One server is enough, of another kind than that of the described design.")
    else:
        sentence = trn(
            "One {server} is not enough: the request takes {n}.", "One {server} is not enough: the request takes {n}.",
            design.n_servers, server=server, n=grouped(design.n_servers),
        )  # fmt: skip

    def is_held(lever: Lever, value: float) -> bool | None:
        request = trials.changed(lever, value)
        return None if request is None else one_server_meets(request, trials)

    return Draft(
        key="one-server",
        workload="",
        title=tr("One server is enough"),
        value=1.0 if holds else float(min(one.n_servers for one in result.platforms)),
        threshold=1.0,
        at_most=True,
        unit="servers",
        holds=holds,
        sentence=sentence,
        reason=tr(
            "One {server} with this storage: {reached}. Confidence asked: {share}.",
            server=server, reached=reached, share=percent(result.request.confidence),
        ),
        sources=(HITACHI,),
        # With a team it is the people whose jobs need servers.
        levers=trials.people(upwards=holds)
        if result.request.team is not None
        else levers(trials, range(len(trials.models)), (TARGET, holds), (DATASET_SIZE, holds)),
        is_held=is_held,
        effect=tr("one server would no longer be enough") if holds else tr("one server would be enough"),
    )  # fmt: skip


def _alone(model: Model) -> str:
    """What one server of a design does, against the target."""
    run = model.run_on(1)
    work, unit = model.work, sample_unit(model.work.dnn)
    target = work.request.target
    if target.gpus_busy is not None:
        gpus = int(run.cols.gpus_per_server[0])
        return trn("it has {n} GPU of {asked} to keep busy", "it has {n} GPUs of {asked} to keep busy", gpus, n=gpus,
                   asked=target.gpus_busy)  # fmt: skip
    rate, cold = rates_of([run.warm, run.cold]).tolist()
    if target.samples_per_s is not None:
        return tr("{rate} at the median, {asked} asked", rate=si(rate, unit), asked=si(target.samples_per_s, unit))
    assert target.time_to_train_s is not None
    length = evaluate.epochs(work, run.cols, run.servers, model.calibration)
    time_s = model.metric(rate, cold, None if length is None else float(length.value[0]))
    return tr(
        "{time} to train at the median, {asked} asked", time=duration(time_s), asked=duration(target.time_to_train_s)
    )


def _loss(model: Model) -> Measure:
    """Rate that 25 GbE loses against EDR at the size of a design."""
    losses = exchange_loss(model, "25gbe", "edr")
    return Measure(float(losses[min(model.n_servers, MAX_SERVERS) - 1]), LOSS)


def _slow_fabric(trials: Trials, number: int, model: Model) -> Draft:
    losses, found = exchange_loss(model, "25gbe", "edr"), _loss(model)
    over = np.flatnonzero(losses > LOSS)
    gpus = int(model.run.cols.gpus_per_server[0])
    first = int(over[0]) + 1 if over.size else None
    if first is None:
        pays = tr("EDR would gain less than {share} on up to {n} servers", share=percent(LOSS), n=MAX_SERVERS)
    else:
        pays = tr("EDR gains more than {share} from {n} servers ({gpus} GPUs) on", share=percent(LOSS), n=first,
                  gpus=grouped(first * gpus))  # fmt: skip
    if model.n_servers == 1:
        finding = tr("25 GbE is enough for the gradients: those of one server stay inside it; {pays}.", pays=pays)
    elif found.holds:
        finding = tr("25 GbE is enough for the gradients: it costs {share} of the rate; {pays}.",
                     share=percent(found.value), pays=pays)  # fmt: skip
    else:
        finding = tr("EDR pays for the gradients: 25 GbE would cost {share} of the rate; {pays}.",
                     share=percent(found.value), pays=pays)  # fmt: skip
    return Draft(
        key="slow-fabric",
        workload=model.work.request.name,
        title=tr("25 GbE is enough for the gradients"),
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
        effect=tr("EDR would gain more than {share}", share=percent(LOSS))
        if found.holds
        else tr("25 GbE would be enough for the gradients"),
    )


def _exchange_reason(model: Model) -> str:
    """The time of one exchange over both networks."""
    work, server = model.work, model.platform.server
    n = max(model.n_servers, 2)
    gradient = float(gradient_bytes(work.dnn.parameters.value, work.request.precision))
    compute_s = step_samples(model, model.n_servers) / float(model.run.comp.gpu_alone[0])
    slow, fast = (si(fabric_bytes_per_s(server, kind), "B/s") for kind in ("25gbe", "edr"))
    return tr(
        "A step exchanges {gradient} of gradients. Between {n} servers that takes {slow_s} over the {slow} of 25 GbE "
        "and {fast_s} over the {fast} of EDR, as calibrated; {compute_s} of arithmetic hides part of it.",
        gradient=si(gradient, "B"), n=n, slow=slow, slow_s=_short(exchange_s(model, "25gbe", n)), fast=fast,
        fast_s=_short(exchange_s(model, "edr", n)), compute_s=_short(compute_s),
    )  # fmt: skip


def _short(seconds: float) -> str:
    """A time of a step."""
    return f"{significant(1e3 * seconds)}\u202fms"


def _gain(model: Model) -> Measure:
    found = doubling(model)
    assert found is not None  # asked only where a recipe tells the epochs
    return Measure(found.speed_ratio, DOUBLE_PAYS, at_most=False)


def _double_gpus(trials: Trials, number: int, model: Model) -> Iterator[Draft]:
    found = doubling(model)
    if found is None:
        return
    measured = _gain(model)
    gpus = int(model.run.cols.gpus_per_server[0]) * model.n_servers
    yield Draft(
        key="double-gpus",
        workload=model.work.request.name,
        title=tr("Twice the GPUs pay"),
        value=found.speed_ratio,
        threshold=DOUBLE_PAYS,
        at_most=False,
        unit="ratio",
        holds=measured.holds,
        sentence=tr(
            "Twice the GPUs, {n}, give {rate} times the rate and {speed} times the speed to accuracy.",
            n=grouped(2 * gpus), rate=times(found.rate_ratio), speed=times(found.speed_ratio),
        ),
        reason=tr(
            "The global batch grows from {few} to {many} and the epochs to the target from {before} to {after}: "
            "{rate} × {before} / {after}, less what start-up takes. They pay from {least} times on.",
            few=grouped(found.global_batch[0]), many=grouped(found.global_batch[1]),
            before=significant(found.epochs[0]), after=significant(found.epochs[1]), rate=times(found.rate_ratio),
            least=plain(DOUBLE_PAYS),
        ),
        sources=(HITACHI, "mlperf-v0.6"),
        levers=levers(trials, [number], (TARGET, measured.holds), (BATCH, measured.holds)),
        is_held=by_measure(trials, number, _gain),
        effect=tr("twice the GPUs would no longer pay") if measured.holds else tr("twice the GPUs would pay"),
    )  # fmt: skip


def _waiting(model: Model) -> Measure:
    rate = float(rates_of([model.run.warm])[0])
    return Measure(max(1 - rate / float(model.run.comp.gpu.median[0]), 0.0), WAITING)


def _gpus_wait(trials: Trials, number: int, model: Model, answer: WorkloadAnswer) -> Draft:
    found = _waiting(model)
    unit = sample_unit(answer.dnn)
    capacity = float(model.run.comp.gpu.median[0])
    rate = capacity * (1 - found.value)
    return Draft(
        key="gpus-wait",
        workload=answer.workload.name,
        title=tr("The GPUs do not wait for data"),
        value=found.value,
        threshold=WAITING,
        at_most=True,
        unit="share",
        holds=found.holds,
        sentence=tr("The GPUs wait for data {share} of the time.", share=percent(found.value)),
        reason=tr(
            "They could take {capacity}, the design gives {rate}; the limit is {stage}. GPUs that are busy "
            "97\u202f% of the time or more are the bottleneck themselves.",
            capacity=si(capacity, unit), rate=si(rate, unit), stage=STAGES[answer.bottleneck],
        ),
        sources=("dell-isilon-dgx1-blog-2018",),
        levers=levers(trials, [number], (SAMPLE_SIZE, found.holds)),
        is_held=by_measure(trials, number, _waiting),
        effect=tr("the GPUs would wait for data") if found.holds else tr("the GPUs would no longer wait for data"),
    )  # fmt: skip
