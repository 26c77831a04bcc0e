"""Acceptance tests of a design: what to run, what to expect, and the limit that passes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, probability_text, si, significant
from sizer.catalog.labels import sample_unit
from sizer.guide.acceptance.limits import AcceptanceTest as AcceptanceTest
from sizer.guide.acceptance.limits import in_interval, interval, least, most
from sizer.guide.acceptance.parts import network_tests, parts_tests, storage_tests
from sizer.physical.racks.feed_loads import feed_loads
from sizer.present import words
from sizer.present.text.layouts import settings_text
from sizer.present.text.plan import feed_loss_is_open, feed_names
from sizer.present.text.serving import replicas_text, software_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.serving_rates import ServingAnswer
from sizer.sizing.stages.workload_run import rate_in_one_server

# A limit cites the sources that weigh most; the engineer's file has all of them.
_MOST_SOURCES = 3
# Of an acceptance test: three days.
_LONGEST_TEST_S = 259_200.0
# Expected share of the processors below which a measured load says nothing: the training processes themselves and the
# operating system take as much.
_LEAST_LOAD = 0.05


def training_tests(design: DesignAnswer, known: Sequence[WorkloadOnDesign | None]) -> Iterator[AcceptanceTest]:
    """Rates of one GPU, one server and the whole cluster, host load and time to train, workload by workload."""
    several = len(design.workloads) > 1
    for number, (answer, model) in enumerate(zip(design.workloads, known, strict=True), start=1):
        if not answer.rate_is_predicted:
            continue
        mark = f"-{number}" if several else ""
        tests = _serving(answer, answer.served) if not answer.kind.reads_data else _runs(design, answer, model)
        for test in tests:
            yield replace(test, key=test.key + mark, about=_about(answer))


def _runs(design: DesignAnswer, answer: WorkloadAnswer, model: WorkloadOnDesign | None) -> Iterator[AcceptanceTest]:
    """One GPU, one server, and the whole cluster."""
    yield from _alone(answer, model, design.gpus_at_work(answer))
    yield from _together(design, answer)


def _serving(answer: WorkloadAnswer, found: ServingAnswer) -> Iterator[AcceptanceTest]:
    """A public load generator against all replicas: latencies at the asked load, and the most within the limits."""
    work, unit = found.work, sample_unit(answer.dnn)
    cached = work.input_tokens * work.prefix_cached
    # One prefix for all requests would be found in the cache however small it is.
    sessions = max(found.sessions_stored if work.people is None else found.active_users or 1.0, 1.0)
    shared = (
        f", of which the first {grouped(cached)} are those of one of {grouped(sessions)} sessions (--dataset-name "
        f"prefix_repetition --prefix-repetition-num-prefixes {sessions:.0f} --prefix-repetition-prefix-len "
        f"{cached:.0f} --prefix-repetition-suffix-len {work.input_tokens - cached:.0f})"
    )
    of_answers = "for embeddings" if work.is_embedding else f"answers of {grouped(work.output_tokens)}"
    tool = (
        f"vllm bench serve or aiperf with random prompts of {grouped(work.input_tokens)} tokens"
        f"{shared if cached else ''}, {of_answers}"
    )
    rate = found.served_per_s if work.requests_per_s is None else work.requests_per_s
    basis = "90\u202f% interval of published serving runs"
    latencies = (
        (
            "first-token",
            "time to the first token",
            found.ttft_percentile_s,
            work.first_token_s,
            found.first_token_chance,
        ),
        ("later-tokens", "time of each later token", found.tpot_percentile_s, work.token_s, found.token_chance),
    )
    for key, what, expected, limit, chance in latencies if work.first_token_s is not None else ():
        criterion = most(float(expected.high), "s", limit)
        yield AcceptanceTest(
            key,
            "training",
            f"Run {tool} and {significant(rate)} {unit} for 30 min; read the {what}, {work.percentile}th percentile.",
            interval(expected, "s"),
            criterion.text,
            basis if limit is None else f"limit of the request; {_odds(chance)}",
            _sources(answer),
            criterion,
        )
    if cached and found.replicas > 1:
        share = words.percent(work.prefix_cached)
        yield AcceptanceTest(
            "session-affinity",
            "training",
            f"Run {tool} through the load balancer; read the tokens found in the prefix cache of each replica.",
            f"{share} of all tokens in",
            f"at least {words.percent(0.9 * work.prefix_cached)}, and each session at one replica",
            "share of the request, less a tenth for first prompts; assumed",
        )
    criterion = least(float(answer.throughput.low), unit, answer.required_samples_per_s)
    ends = "it rises no more" if work.first_token_s is None else "a latency limit is reached"
    yield AcceptanceTest(
        "most-requests",
        "training",
        f"Run {tool}; raise the rate of the requests until {ends}.",
        interval(answer.throughput, unit),
        criterion.text,
        basis if criterion.value == float(answer.throughput.low) else f"required rate; {_odds(answer.probability)}",
        _sources(answer),
        criterion,
    )


def _alone(answer: WorkloadAnswer, model: WorkloadOnDesign | None, n_gpus: int) -> Iterator[AcceptanceTest]:
    """One GPU and one server with synthetic data, without storage and decoding."""
    if model is None:
        return
    gpus = int(model.run.cols.gpus_per_server[0])
    basis = "90\u202f% interval of runs on real data; synthetic data is at least as fast"
    if model.work.is_inference:
        basis = "90\u202f% interval of the calibration"
    for key, count in (("one-gpu", 1), ("one-server", gpus)):
        if key == "one-server" and gpus == 1:
            continue
        rate = rate_in_one_server(model.work, model.platform, model.run.cols, count, model.catalog, model.calibration)
        if rate is None:
            continue
        unit = sample_unit(answer.dnn)
        required = _required_while_running(answer)
        share = None if required is None else required * count / n_gpus
        criterion = least(float(rate.low), unit, share)
        yield AcceptanceTest(
            key,
            "training",
            f"Run on synthetic data with {_gpus(count)} of one server.",
            interval(rate, unit),
            criterion.text,
            basis if criterion.value == float(rate.low) else "share of the required rate",
            _sources(answer),
            criterion,
        )


def _together(design: DesignAnswer, answer: WorkloadAnswer) -> Iterator[AcceptanceTest]:
    """The whole cluster on its own data."""
    unit = sample_unit(answer.dnn)
    n_gpus = design.gpus_at_work(answer)
    n_servers = -(-n_gpus // design.platform.gpus_per_server)
    servers = by_count(n_servers, "1 server", f"{grouped(n_servers)} servers")
    run = f"Run on the data set with {_gpus(n_gpus)} of {servers}"
    basis = "90\u202f% interval of the slowest stage"
    limiting = (source for stage in answer.stages if stage.is_limiting for source in stage.sources)
    sources = tuple(dict.fromkeys((*_sources(answer), *limiting)))[:_MOST_SOURCES]
    warm, read, size = answer.throughput, answer.cold_storage_bytes_per_s, answer.sample_bytes
    cold = Estimate(read.value / size, read.low / size, read.high / size)
    phases = [
        ("cluster-cold", "first epoch, after all caches are dropped", cold),
        ("cluster-warm", "after the first epoch", warm),
    ]
    if answer.is_one_epoch:
        phases = [("cluster-warm", "the whole epoch, after all caches are dropped", cold)]
    if not answer.kind.rereads:  # tokens are read once or from afar: no cache makes a difference
        phases = [("cluster-warm", "after the first 100 steps", answer.running_throughput)]
    for key, when, rate in phases:
        text = f"{run}; {when}."
        required = None if key == "cluster-cold" else _required_while_running(answer)
        criterion = least(float(rate.low), unit, required)
        why = basis if criterion.value == float(rate.low) else f"required rate; {_odds(answer.probability)}"
        yield AcceptanceTest(key, "training", text, interval(rate, unit), criterion.text, why, sources, criterion)
    load = answer.cpu_utilization_fraction
    if answer.kind.rereads and float(load.value) >= _LEAST_LOAD:
        limit = most(100 * float(load.high), "%") if load.high < 1 else None
        yield AcceptanceTest(
            "cpu-load",
            "training",
            f"{run}; read the load of the physical cores (mpstat) after the first epoch.",
            in_interval(*(_percent(end) for end in load)),
            f"at most {_percent(float(load.high))}"
            if limit is not None
            else "recorded only: the host data path may be the bottleneck",
            "rate times the calibrated host time per sample",
            _sources(answer),
            limit,
        )
    yield from _time(answer, run)


def _required_while_running(answer: WorkloadAnswer) -> float | None:
    """Rate that a run without interruptions must reach, so that the target holds with them."""
    if answer.required_samples_per_s is None or not answer.throughput.value:
        return answer.required_samples_per_s
    return answer.required_samples_per_s * float(answer.running_throughput.value) / float(answer.throughput.value)


def _time(answer: WorkloadAnswer, run: str) -> Iterator[AcceptanceTest]:
    if answer.time is None:
        return
    target = answer.workload.target.time_to_train_s
    total = answer.time.total_s
    if not answer.kind.rereads and float(total.value) > _LONGEST_TEST_S:
        return  # weeks of training are no acceptance test; the rate is
    criterion = most(float(total.high), "s", target)
    basis = (
        "90\u202f% interval of epochs and rate"
        if target is None
        else f"target of the request; {_odds(answer.probability)}"
    )
    whole = "complete training" if not answer.kind.rereads else "complete training with evaluations"
    text = f"{run}; {whole}."
    points = answer.recipe.points if answer.recipe is not None else ()
    sources = tuple(dict.fromkeys((*_sources(answer), *(point.source for point in points))))[:_MOST_SOURCES]
    yield AcceptanceTest(
        "time-to-train", "training", text, interval(total, "s"), criterion.text, basis, sources, criterion
    )


def _odds(probability: float | None) -> str:
    """How likely a system without faults passes a test of the target."""
    if probability is None:
        return "the probability of reaching it is not known"
    return f"the design reaches it with {probability_text(probability)} probability"


def _about(answer: WorkloadAnswer) -> str:
    """Workload, software and settings of its runs."""
    if not answer.kind.reads_data:
        return f"{answer.workload.name}: {replicas_text(answer.served)}, {software_text(answer.served)}"
    return f"{answer.workload.name}: {answer.stack.name}, {settings_text(answer)}"


def _gpus(count: int) -> str:
    return by_count(count, f"{grouped(count)} GPU", f"{grouped(count)} GPUs")


def _sources(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Sources of the nearest runs that the rate is calibrated on."""
    return tuple(dict.fromkeys(row.source for row in answer.evidence if row.calibrates))[:_MOST_SOURCES]


def _percent(share: float) -> str:
    return f"{significant(100 * share, 2)}{NARROW_SPACE}%"


def power_tests(design: DesignAnswer) -> Iterator[AcceptanceTest]:
    """Power at the PDUs with all GPUs training, and after the loss of one feed."""
    found, loads = design.quantities, feed_loads(design.plan.racks, design.plan.catalog)
    names = feed_names(loads)
    limits = ", ".join(
        f"no {name} above its {si(load.capacity_w, 'W')}" for name, load in zip(names, loads, strict=True)
    )
    typical, most = float(found.power_typical_w[0]), float(found.power_max_w[0])
    expect = f"{si(typical, 'W')} to {si(most, 'W')}"
    if typical == most:
        expect = f"up to {si(most, 'W')}"
    passes, basis = f"never above {si(most, 'W')}", "typical and maximum power, summed over the devices"
    if found.unknown_power:
        expect = f"at least {si(typical, 'W')}; the power of some devices is not published"
        passes = limits or "no PDU above its rating"
        basis = "devices with published power; rating of the PDUs"
    yield AcceptanceTest("power", "power", "Read all PDUs with all GPUs under load.", expect, passes, basis)
    if not loads or design.platform.site.feeds == "N":
        return
    alone = words.listed(f"{si(load.alone_w, 'W')} per {name}" for name, load in zip(names, loads, strict=True))
    expected = f"at most {alone}"
    if found.unknown_power:
        expected = f"more than {alone}; the power of some devices is not published"
    stays_on = "no dual-corded device off"
    if feed_loss_is_open(design.plan):
        stays_on = "devices that keep enough power supplies stay on"
    yield AcceptanceTest(
        "feed-loss",
        "power",
        "With all GPUs under load, switch off one feed, then the other; read the live PDUs.",
        expected,
        f"{limits}, {stays_on}",
        "maximum power of all devices on a feed" if len(loads) > 1 else "maximum power of all devices on a PDU",
    )


def acceptance_tests(evaluated: EvaluatedDesign) -> tuple[AcceptanceTest, ...]:
    """Tests of a design, in the order in which they are run: from parts and links to training and power.

    A limit is the end of the 90 % interval on the side that counts, which one run in twenty of a sound system misses;
    or a line rate times a share that was reached; or a count. It is never laxer than the requirement of the design, and
    never stricter than what the ports of the test pass (:class:`~sizer.guide.acceptance.limits.Criterion`). Where the
    catalogue does not hold the parts of an answer, tests that need the rate of one GPU, one server or the storage alone
    are left out.

    Those of training once a workload, their keys then numbered. Sources are keys of the catalogue.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    design, known = result.design, evaluated.workloads
    found = (
        *parts_tests(design),
        *network_tests(design, fitted),
        *storage_tests(design, known, result.request.data),
        *training_tests(design, known),
        *power_tests(design),
    )
    return tuple(
        replace(test, sources=tuple(key for key in dict.fromkeys(test.sources) if key in catalog.sources))
        for test in found
    )
