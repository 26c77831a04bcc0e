"""Formula and inputs of the capacity of one stage, from the same models as the answer."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sizer.base.locale import current_locale
from sizer.base.provenance import Sourced
from sizer.base.quantities import NARROW_SPACE, duration, grouped, number_and_unit, si, significant
from sizer.calibrate.calibration import host_task_of
from sizer.calibrate.cases import peak_fact
from sizer.catalog.sample_formats import FORMAT_NAMES, HOST_STEPS
from sizer.perf.step_terms import (
    EFFICIENCY,
    FILL,
    INTER,
    INTRA,
    LAUNCH,
    N_DRAWS,
    OVERLAP,
    RUN_AHEAD,
    SCALE_OUT,
    STRAGGLER,
    StepTerms,
)
from sizer.perf.training_step import INTER_HOP_S, INTRA_HOP_S, TRAINING_PASSES
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, fact_table, row
from sizer.present.text.assumptions import assumption_rows
from sizer.present.text.calibration import note_text
from sizer.present.text.layouts import layout_sentence
from sizer.sizing.assumptions import AssumedFact, DefaultTaken
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.design.rate_models import design_rates
from sizer.sizing.result import SizingResult
from sizer.sizing.stages import gpu_side, measured_rates, sharding
from sizer.sizing.stages.language_rates import language_answer
from sizer.sizing.stages.platform_columns import compute_groups, node_read_rate
from sizer.sizing.stages.serving_rates import serving_run

# Digits of inputs: the formula reproduces the printed answer.
_DIGITS = 5
_SMALL = 0.01


@dataclass(frozen=True)
class Explanation:
    """Formula, inputs, reasons, uncertainty and assumptions of one figure."""

    title: str
    answer: str
    formula: str
    inputs: Table
    reasons: tuple[str, ...]  # sentences
    uncertainty: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the documents that the inputs come from, in their order."""
        return tuple(dict.fromkeys(key for one in self.inputs.rows for cell in one.cells for key in cell.cites))


@dataclass(frozen=True)
class StageInputs:
    """Formula of the capacity of a stage, its inputs and cautions."""

    formula: str
    inputs: tuple[Row, ...]
    cautions: tuple[str, ...]
    parts: tuple[str, ...] = ()  # names of the parts whose facts are used
    fields: tuple[str, ...] = ()  # words in the names of these facts


def input_row(name: str, value: str, fact: Sourced[Any] | None = None, note: str = "") -> Row:
    """One input with the document and the place in it; ``note`` says where it comes from instead."""
    if fact is None:
        return row(name, value, Cell(note, is_muted=not note))
    basis = f", {words.name(fact.basis)}" if fact.basis in ("assumed", "derived") else ""
    return row(name, value + basis, Cell("", (fact.source,), fact.where))


def inputs_table(key: str, rows: Iterable[Row]) -> Table:
    """Inputs of a figure."""
    return fact_table(
        f"why-{key}",
        "Inputs of the figure",
        rows,
        titles=("Input", "Value", "Source"),
        widths=(40, 22, 38),
        aligns=("left", "right", "left"),
        style="",
    )


def in_unit(value: float, unit: str) -> str:
    """A value with its unit, with enough digits to repeat the calculation."""
    amount, printed = number_and_unit(value, unit, digits_of(value))
    return f"{_trimmed(amount)}{NARROW_SPACE}{printed}"


def number(value: float) -> str:
    """A pure number with the same digits."""
    return _trimmed(significant(value, digits_of(value)))


def digits_of(value: float) -> int:
    """Digits that repeat a calculation; one less of a small number, which has zeros before them."""
    return _DIGITS if abs(value) >= _SMALL else _DIGITS - 1


def _trimmed(amount: str) -> str:
    """A number without zeros at the end of its decimals: '3.5000' is '3.5'."""
    sign = current_locale().decimal_sign
    return amount.rstrip("0").rstrip(sign) if sign in amount else amount


def assumed(result: SizingResult, names: Sequence[str], fields: Sequence[str] = ()) -> tuple[str, ...]:
    """Assumptions about workloads and parts with these names.

    ``names``: names of workloads and parts. ``fields``: of parts only facts whose field has one of these words in its
    name; empty: all facts.
    """
    texts = []
    for assumption, text in zip(result.assumptions, assumption_rows(result), strict=True):
        match assumption:
            case DefaultTaken(workload, _):
                is_wanted = workload in names
            case AssumedFact(item, fact):
                is_wanted = item.name in names and (not fields or any(word in fact.field for word in fields))
            case _:
                is_wanted = False
        if is_wanted:
            texts.append(f"{text.what}: {text.value}" + (f" ({text.note})" if text.note else ""))
    return tuple(dict.fromkeys(words.sentence(text) for text in texts))


LANGUAGE_FORMULA = (
    "C = a · B · S / t, t = t linear + t attention + t elementwise + t tensor + t expert + t context + t data + "
    "t bubble + t optimizer + t fixed"
)
_TERMS = {
    "linear": "t linear, products of matrices",
    "attention": "t attention, products inside attention",
    "elementwise": "t elementwise, other layers, at the rate of the GPU memory",
    "tensor": "t tensor, exposed traffic of tensor parallelism",
    "expert": "t expert, exposed traffic of experts",
    "context": "t context, exposed traffic of context parallelism",
    "data": "t data, exposed traffic of weights and gradients",
    "bubble": "t bubble, waiting for the pipeline to fill",
    "optimizer": "t optimizer, update of the parameters",
    "fixed": "t fixed, launches and what a step always takes",
}


def step_terms(model: WorkloadOnDesign) -> tuple[tuple[Row, ...], str]:
    """Inputs of :data:`LANGUAGE_FORMULA` on a design, and its layout in words."""
    n_gpus = model.n_servers * int(model.run.cols.gpus_per_server[0])
    found = language_answer(model.work, model.platform, n_gpus, model.catalog)
    assert found is not None  # a design of a language model holds it
    plan = found.plan
    terms = [
        input_row(
            "a, goodput",
            number(plan.goodput[0]),
            note=f"an interruption every {duration(plan.between_s[0])}, a checkpoint every {duration(plan.interval_s)}",
        ),
        input_row("B, sequences of a step", grouped(found.batch), note="request, or usual"),
        input_row("S, tokens of a sequence", grouped(found.work.sequence), note="request, or usual"),
    ]
    note = "model of a step, fitted to published runs"
    terms += [input_row(_TERMS[part], f"{number(time_s)} s", note=note) for part, time_s in found.layout.step_s.items()]
    return tuple(terms), layout_sentence(found)


MEASURED_FORMULA = (
    "C = c · m · g · b / (t launch + b · t sample + t inside + t between), t between = 2 (m − 1)/m · E / B server"
)
_NOTE = "fitted to the runs of MLPerf Training"


@dataclass(frozen=True)
class StepPart:
    """A fitted part of a step."""

    symbol: str
    label: str
    value: float
    unit: str = ""  # ms, B or none

    @property
    def text(self) -> str:
        """Value with its unit."""
        digits = digits_of(self.value)
        if self.unit == "B":
            return si(self.value, "B", digits)
        return significant(self.value, digits) + (f"{NARROW_SPACE}{self.unit}" if self.unit else "")


def measured_parts(model: WorkloadOnDesign) -> Iterator[StepPart]:
    """Every fitted part of a step, and how far the size of the design lies from them."""
    group = compute_groups([model.platform])[0][0]
    cols, work = model.run.cols, model.work
    used, nic = int(cols.gpus_per_server[0]), float(cols.exchange_bytes_per_s[0])
    system = measured_rates.system_on(work.mlperf, group, used, nic, model.catalog)
    parts, batch, servers = system.parts(), work.batch_per_gpu, model.n_servers
    step_s = parts.launch_s + batch * parts.sample_s
    yield StepPart("t sample", "Arithmetic and memory traffic of a sample on one GPU", 1e3 * parts.sample_s, "ms")
    yield StepPart("t launch", "Fixed part of a step, independent of the batch", 1e3 * parts.launch_s, "ms")
    if parts.inside_s:
        inside_s = 2 * (used - 1) / used * parts.inside_s
        step_s += inside_s
        yield StepPart("t inside", "Exchange inside a server that computing does not hide", 1e3 * inside_s, "ms")
    if servers > 1:
        step_s += 2 * (servers - 1) / servers * parts.exchange_bytes / nic
        yield StepPart("E", "Bytes between servers that computing does not hide", parts.exchange_bytes, "B")
    modelled = servers * used * batch / step_s
    rate = math.exp(float(system.rate(servers, batch).log))
    yield StepPart("c", "Rate of the published sizes nearby over that of these parts", rate / modelled)


def gpu_inputs(model: WorkloadOnDesign) -> tuple[Row, ...]:
    """Inputs of :data:`MEASURED_FORMULA` on a design."""
    cols = model.run.cols
    return (
        input_row("m, servers", grouped(model.n_servers), note="search"),
        input_row("g, GPUs of a server that the job uses", number(float(cols.gpus_per_server[0]))),
        input_row("b, samples per GPU and step", grouped(model.work.batch_per_gpu), note="request, or published"),
        *(
            input_row(f"{part.symbol}, {part.label[:1].lower()}{part.label[1:]}", part.text, note=_NOTE)
            for part in measured_parts(model)
        ),
        input_row("B server, line rate between servers", si(float(cols.exchange_bytes_per_s[0]), "B/s", 3)),
    )


def stage_inputs(evaluated: EvaluatedDesign, workload: int, stage: str) -> StageInputs:
    """Formula and inputs of a stage of one workload."""
    return _MAKERS[stage](evaluated.workloads[workload])


def _rate(value: float) -> str:
    return in_unit(value, "B/s")


def _reads(model: WorkloadOnDesign) -> list[Row]:
    """Bytes of a sample and the share of the reads that memory serves."""
    hits = round(float(model.run.comp.hit_fraction[0]), 6)
    return [
        input_row("s, bytes of a sample", in_unit(model.work.sample_bytes, "B"), note=model.work.dataset.name),
        input_row("h, share of the reads that memory serves", number(hits), note="cache model, after the first epoch"),
    ]


_ALL_IN_MEMORY = "Memory serves every read after the first epoch, so this stage has no limit from then on."


def _storage(model: WorkloadOnDesign) -> StageInputs:
    run, storage = model.run, model.platform.storage
    cols, nodes = run.cols, max(model.storage_nodes, 1)
    is_local = storage.kind == "local"
    count = model.n_servers if is_local else nodes
    line = float(cols.node_line_bytes_per_s[0])
    low, high = float(cols.node_low_bytes_per_s[0]), float(cols.node_high_bytes_per_s[0])
    mounts = float(cols.mounts[0] + cols.mounts_per_node[0] * (model.n_servers if is_local else nodes))
    mount_low, mount_high = float(cols.mount_low_bytes_per_s[0]), float(cols.mount_high_bytes_per_s[0])
    rate = node_read_rate(storage)
    facts = (None, None) if rate is None else rate
    unknown = "no published rate: line rate of the ports" if rate is None else ""
    of = "a server's drives" if is_local else "a node"
    inputs = [
        input_row("n, " + ("servers with drives" if is_local else "storage nodes"), grouped(count), note="search"),
        input_row(f"R low, demonstrated rate of {of}", _limit(min(low, line)), facts[0], unknown),
        input_row(f"R high, highest published rate of {of}", _limit(min(high, line)), facts[1], unknown),
    ]
    if math.isfinite(mount_low):
        inputs += [
            input_row("m, servers", grouped(model.n_servers), note="search"),
            input_row(
                "k, mounts of a server", number(mounts), storage.mounts_per_server, "one for every front-end address"
            ),
            input_row("M low, rate of a mount", _rate(mount_low), storage.mount_low_bytes_per_s, "generic NFS client"),
            input_row(
                "M high, rate of a mount", _rate(mount_high), storage.mount_high_bytes_per_s, "generic NFS client"
            ),
        ]
    formula = "C = √(low · high) / (s · (1 − h)), low = min(n · R low, m · k · M low), high likewise"
    if not math.isfinite(mount_low):
        formula = "C = √(low · high) / (s · (1 − h)), low = n · R low, high = n · R high"
    cautions = ["The true rate is between the two ends: a log-uniform distribution, of which the interval is 90 %."]
    if float(run.comp.hit_fraction[0]) >= 1:
        cautions.insert(0, _ALL_IN_MEMORY)
    return StageInputs(
        formula, (*inputs, *_reads(model)), tuple(cautions), (storage.name,), ("read", "mount", "front_end")
    )


def _limit(value: float) -> str:
    return _rate(value) if math.isfinite(value) else "not limited"


_GRADIENT_IN = defaultdict(
    lambda: "2 (m − 1)/m · G / (g · b)",
    {
        sharding.Sharding.EMBEDDINGS: "2 (m − 1)/m · (G / (g · b) + V)",
        sharding.Sharding.STATE: "2 (m − 1)/m · 1.5 G / (g · b), with the weights",
    },
)


def _network(model: WorkloadOnDesign) -> StageInputs:
    run, platform = model.run, model.platform
    side = run.side
    front, gateway = float(side.front_end_bytes_per_s.flat[0]), float(side.gateway_bytes_per_s.flat[0])
    nic = float(run.cols.storage_nic_bytes_per_s[0])
    link = platform.fabric.name
    inputs = [
        input_row("m, servers", grouped(model.n_servers), note="search"),
        input_row("B server, line rate into a server", _limit(nic), note=f"ports of {platform.server.name}, {link}"),
        input_row("B front, line rate of the storage", _limit(front), note=f"front end of {platform.storage.name}"),
        input_row(
            "B gateway, its uplinks",
            _limit(gateway),
            note="none" if platform.gateway is None else platform.gateway.name,
        ),
        *_reads(model),
        input_row(
            "x, gradient bytes into a server for a sample",
            in_unit(float(run.comp.exchanged_bytes[0]), "B"),
            note=_GRADIENT_IN[sharding.sharding_of(model.work)],
        ),
    ]
    formula = "C = min( min(B front, B gateway) / (s · (1 − h)), m · B server / (s · (1 − h) + x) )"
    cautions = ["Line rates, full duplex, without contention: treated as exact."]
    if float(run.comp.hit_fraction[0]) >= 1 and not float(run.comp.exchanged_bytes[0]):
        cautions.insert(0, _ALL_IN_MEMORY)
    return StageInputs(
        formula,
        tuple(inputs),
        tuple(cautions),
        (platform.server.name, platform.storage.name),
        ("ports", "front_end"),
    )


def _decode(model: WorkloadOnDesign) -> StageInputs:
    run, server = model.run, model.platform.server
    cores = float(run.cols.cores[0])
    cost = run.comp.core_s_per_sample
    fact = None if server.cpu is None else model.catalog.cpus[server.cpu.value].cores
    inputs = (
        input_row("m, servers", grouped(model.n_servers), note="search"),
        input_row("cores of a server", number(cores) if math.isfinite(cores) else "not published", fact),
        input_row(
            "c, core time of a sample",
            f"{number(cost)}{NARROW_SPACE}s",
            note=f"{FORMAT_NAMES[model.work.sample_format]}: {HOST_STEPS[model.work.sample_format]}",
        ),
    )
    spread = float(run.comp.decode.log_sd.flat[0])
    assumed = model.calibration.hosts.note(host_task_of(model.work.sample_format, model.work.stack))
    basis = "fitted to published runs" if assumed is None else f"an estimate ({note_text(assumed)})"
    if model.work.request.host_core_s is not None:
        basis = "stated in the request"
    cautions = (f"The core time is {basis}; its uncertainty (1 sigma) is {words.percent(spread)}.",)
    return StageInputs("C = m · cores / c", inputs, cautions, (server.name,), ("cpu", "core"))


def _host_link(model: WorkloadOnDesign) -> StageInputs:
    server, work, cols = model.platform.server, model.work, model.run.cols
    rate, spread = model.calibration.host_link
    inputs = (
        input_row("m, servers", grouped(model.n_servers), note="search"),
        input_row("g, GPUs of a server that the job uses", number(float(cols.gpus_per_server[0])), server.n_gpus),
        input_row(
            "l, x16 links between host and GPUs of a server",
            number(float(cols.host_links[0])),
            server.host_links,
            "not published: one of each of two processors",
        ),
        input_row("B host, rate of one link", _rate(rate * float(cols.host_link_gain[0])), note=_FITTED),
        input_row(
            "d, values of a decoded sample",
            grouped(work.dnn.input_bytes.value),
            None if work.is_custom_dnn else work.dnn.input_bytes,
            "request",
        ),
    )
    cautions = (
        f"The rate of a link is fitted; its uncertainty (1 sigma) is {words.percent(spread)}.",
        "Samples are copied as values of 4 bytes.",
    )
    formula = "C = m · min(g, l) · B host / (4 · d)"
    return StageInputs(formula, inputs, cautions, (server.name, work.dnn.name), ("host_links", "input"))


def _terms(model: WorkloadOnDesign) -> StepTerms:
    """Fitted terms of the workload on the platform, as the search takes them."""
    return gpu_side.terms_of(model.work, model.platform, model.n_servers, model.calibration, model.catalog)


_FITTED = "fitted to published rates"


def _common(model: WorkloadOnDesign, terms: StepTerms) -> list[Row]:
    """Inputs of a step on one GPU."""
    work, platform, v = model.work, model.platform, terms.values
    precision = work.request.precision
    source = peak_fact(platform.gpu, precision)
    peak = source.value
    used = float(model.run.cols.gpus_per_server[0])
    dnn_fact = None if work.is_custom_dnn else work.dnn.forward_flop
    return [
        input_row("m, servers", grouped(model.n_servers), note="search"),
        input_row("g, GPUs of a server that the job uses", number(used), platform.server.n_gpus),
        input_row("b, samples per GPU and step", grouped(work.batch_per_gpu), note="request"),
        input_row("F, forward pass of a sample", in_unit(work.dnn.forward_flop.value, "FLOP"), dnn_fact, "request"),
        input_row(
            "P, peak of the GPU",
            in_unit(peak, "FLOP/s"),
            source,
        ),
        input_row("η, fraction of the peak reached", number(math.exp(v[EFFICIENCY])), note=_FITTED),
        input_row("f, samples needed to fill the GPU", number(math.exp(v[FILL])), note=_FITTED),
        input_row("t launch, time independent of the batch", _seconds(math.exp(v[LAUNCH])), note=_FITTED),
        input_row("q, overlap of launches and arithmetic", number(1 + math.exp(v[RUN_AHEAD])), note=_FITTED),
    ]


def _seconds(value: float) -> str:
    return f"{number(1e3 * value)}{NARROW_SPACE}ms"


def _median_over_fitted(model: WorkloadOnDesign, terms: StepTerms) -> Row:
    """How far the uncertainty of all coefficients together moves the median of the rate."""
    run = model.run
    steps = gpu_side.step_run(model.work, run.hosts(model.platform, model.catalog))
    fitted = float(gpu_side.gpu_samples_per_s(steps, terms.values).flat[0])
    return input_row(
        "d, median rate over the rate at the fitted values",
        number(float(run.comp.gpu.median.flat[0]) / fitted),
        note=f"{N_DRAWS} draws of the fitted values within their uncertainty",
    )


_STEP = "t GPU = (t launch^q + (p · F · (b + f) / (P · η))^q)^(1/q)"


def _serving(model: WorkloadOnDesign) -> StageInputs:
    """Requests a second of a model in use: replicas, each at the largest load within the limits."""
    run = serving_run(model.work, model.run.hosts(model.platform, model.catalog))
    replicas = float(run.replicas[0])
    inputs = (
        input_row("r, replicas", number(replicas), note="of the fastest layout that fits"),
        input_row(
            "X, requests a second of a replica",
            number(float(run.median_samples_per_s[0]) / replicas),
            note="the largest load within the limits, fitted to published serving runs",
        ),
    )
    return StageInputs("C = r · X", inputs, (), (model.platform.server.name, model.platform.gpu.name), ())


def _gpu(model: WorkloadOnDesign) -> StageInputs:
    return _GPU.get(design_rates(model.work, model.platform.gpu.id).name, _of_step)(model)


def _language(model: WorkloadOnDesign) -> StageInputs:
    parts_of_step, layout = step_terms(model)
    return StageInputs(LANGUAGE_FORMULA, parts_of_step, (f"Layout: {layout}.",))


def _mlperf(model: WorkloadOnDesign) -> StageInputs:
    of_design = (model.platform.server.name, model.platform.gpu.name, model.work.dnn.name)
    return StageInputs(MEASURED_FORMULA, gpu_inputs(model), (), of_design, ("gpu",))


# By the model of rates; all others have the step of V100 networks.
_GPU = {"serving": _serving, "language": _language, "mlperf": _mlperf}


def _of_step(model: WorkloadOnDesign) -> StageInputs:
    terms = _terms(model)
    v = terms.values
    parts = (model.platform.server.name, model.platform.gpu.name, model.work.dnn.name)
    if model.work.is_inference:
        inputs = [
            *_common(model, terms),
            input_row("p, passes", "1", note="forward only"),
            _median_over_fitted(model, terms),
        ]
        formula = f"C = d · m · g · b / t GPU, {_STEP}"
        return StageInputs(formula, tuple(inputs), (), parts, ("flop", "peak", "gpu"))
    factor = sharding.work_factor(model.work)
    again = "" if factor == 1 else ", activations recomputed"
    inputs = [
        *_common(model, terms),
        input_row("p, passes", number(TRAINING_PASSES * factor), note=f"one forward, two backward{again}"),
        input_row("t x, time of the exchange", _seconds(_exchange_s(model)), note="see gradient exchange"),
        input_row(
            "k, share of the backward pass that hides the exchange",
            number(1 / (1 + math.exp(-v[OVERLAP]))),
            note=_FITTED,
        ),
        input_row("w, growth of a step per doubling of GPUs in a server", number(math.exp(v[STRAGGLER])), note=_FITTED),
        input_row("r, growth of a step from one server to two", number(math.exp(v[SCALE_OUT])), note=_FITTED),
        _median_over_fitted(model, terms),
    ]
    formula = (
        f"C = d · m · g · b / ((t GPU + t exposed) · (1 + w · log2 g + 2 · r · (m − 1)/m)), {_STEP}, "
        "t exposed = (δ + √(δ² + (0.2 · t x)²)) / 2, δ = t x − k · 2/3 · t GPU"
    )
    return StageInputs(formula, tuple(inputs), (), parts, ("flop", "peak", "gpu"))


def _exchange_s(model: WorkloadOnDesign) -> float:
    """Time of one exchange; 0 for one GPU. [s]"""
    capacity = float(model.run.comp.exchange[0])
    samples = model.n_servers * float(model.run.cols.gpus_per_server[0]) * model.work.batch_per_gpu
    return samples / capacity if math.isfinite(capacity) else 0.0


def _looked_up(vectors_bytes: float) -> list[Row]:
    """Vectors that move where embedding tables are divided over the GPUs."""
    if not vectors_bytes:
        return []
    return [input_row("V, vectors that a sample looks up", in_unit(vectors_bytes, "B"), note="divided tables")]


def _exchange(model: WorkloadOnDesign) -> StageInputs:
    if model.work.is_inference:
        return StageInputs("C is not limited", (), ("Inference exchanges no gradients.",))
    if model.exchange_is_in_step:
        caution = "The exposed traffic between GPUs is part of a step: see GPU compute."
        return StageInputs("C is not limited", (), (caution,))
    run, v = model.run, _terms(model).values
    server = model.platform.server
    gradient, looked_up = sharding.all_reduced_bytes(model.work), sharding.looked_up_bytes(model.work)
    has_weights = sharding.sharding_of(model.work) is sharding.Sharding.STATE
    several = model.n_servers > 1
    inputs = [
        input_row("m, servers", grouped(model.n_servers), note="search"),
        input_row("g, GPUs of a server that the job uses", number(float(run.cols.gpus_per_server[0])), server.n_gpus),
        input_row("b, samples per GPU and step", grouped(model.work.batch_per_gpu), note="request"),
        input_row(
            "G, bytes of the gradient" + (", and half as much for the weights" if has_weights else ""),
            in_unit(gradient, "B"),
            None if model.work.is_custom_dnn else model.work.dnn.parameters,
            "request",
        ),
        *_looked_up(looked_up),
        input_row(
            "B in, rate of a GPU inside the server",
            _rate(math.exp(v[INTRA])),
            note="fitted to published exchanges",
        ),
        input_row(
            "a in, time of a hop inside",
            f"{number(1e6 * INTRA_HOP_S)}{NARROW_SPACE}µs",
            note="tuning constant of NCCL",
        ),
    ]
    if several:
        inputs += [
            input_row(
                "B server, line rate between servers",
                _rate(float(run.cols.exchange_bytes_per_s[0])),
                note=f"ports of {server.name}",
            ),
            input_row(
                "u, fraction of the line rate reached",
                number(math.exp(v[INTER])),
                note="fitted to published exchanges",
            ),
            input_row(
                "a out, time of a hop between servers",
                f"{number(1e6 * INTER_HOP_S)}{NARROW_SPACE}µs",
                note="tuning constant of NCCL",
            ),
        ]
    inside, outside = ("(G + b · V / m)", "(G + g · b · V)") if looked_up else ("G", "G")
    formula = f"C = m · g · b / t x, t x = 2 (g − 1)/g · {inside} / B in + 2 (g − 1) · a in"
    if several:
        formula += f" + 2 (m − 1)/m · {outside} / (u · B server) + 2 ceil(log2 m) · a out"
    cautions = ("Shown as exact: the part that is not hidden, with its uncertainty, belongs to the GPU stage.",)
    return StageInputs(formula, tuple(inputs), cautions, (server.name,), ("ports", "intra_link"))


_MAKERS = {
    "storage": _storage,
    "network": _network,
    "decode": _decode,
    "host_link": _host_link,
    "gpu": _gpu,
    "exchange": _exchange,
}
