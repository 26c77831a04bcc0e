"""Layouts of a language model's training as plain text."""

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, probability_text, si, significant, tokens_text
from sizer.perf.language.step import GIB
from sizer.present.text.result_text import precision_text, trained_text
from sizer.present.words import listed, percent, plural
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.language_rates import LanguageAnswer, LayoutAnswer, LayoutQuestion, LayoutSearch
from sizer.workload.transformer.number_formats import format_text, number_format_named

# Layouts that differ by less are printed as equal: by whole percents the difference would be 0.
_EQUAL = 0.005
_RECOMPUTE = {0.0: "none", 1.0: "full"}


def layouts_text(search: LayoutSearch, model: str) -> str:
    """The layouts of a model as a table, and what a step of the fastest one is spent on."""
    asked = search.question
    head = f"{'TP':>3} {'PP':>3} {'VP':>3} {'CP':>3} {'EP':>3} {'DP':>6} {'micro':>5} {'sharding':10} {'recompute':9}"
    lines = [
        f"{model} on {grouped(asked.gpus)} x {asked.gpu}, {_format_text(asked)}, {asked.software}: "
        f"{grouped(asked.batch)} sequences of {grouped(asked.sequence)} tokens a step",
        f"{grouped(search.n_judged)} layouts judged, {grouped(search.n_fitting)} fit in memory with at least 90 % "
        "probability",
        "",
        f"{head} {'tokens/s':>12} {'90 % interval':>24} {'a GPU':>8} {'GiB':>5} {'fits':>9}",
    ]
    lines += [_line(answer, asked.gpus) for answer in search.answers]
    first = search.answers[0]
    lines += [
        "",
        f"A step of the fastest takes {significant(sum(first.step_s.values()))} s: {', '.join(_shares(first))}.",
    ]
    return "\n".join(lines)


def _format_text(asked: LayoutQuestion) -> str:
    """The number format as typed, and the one whose rate it takes where that is another: 'mxfp8 (rated as FP8)'."""
    number_format = number_format_named(asked.precision, "precision")
    return asked.precision + format_text(number_format).removeprefix(number_format.upper())


def settings_text(answer: WorkloadAnswer) -> str:
    """Batch, number format and sequence: 'batch 256 per GPU, mixed precision'."""
    found = answer.language
    if found is None:
        return f"batch {answer.batch_per_gpu} per GPU, {precision_text(answer)}"
    return f"{trained_text(found.work)}, {precision_text(answer)}, {step_size_text(found)}"


def step_size_text(answer: LanguageAnswer) -> str:
    """What a step takes in: 'sequences of 8 192 tokens, 440 sequences (3.60 million tokens) a step'."""
    sequence, stated = answer.work.sequence, answer.work.step_sequences
    # A stated number moves by at most 2 %, so that the GPUs divide it.
    moved = f", {grouped(stated)} stated" if answer.work.has_fixed_batch and stated != answer.batch else ""
    return (
        f"sequences of {grouped(sequence)} tokens, "
        f"{grouped(answer.batch)} sequences ({tokens_text(answer.batch * sequence)}{moved}) a step"
    )


def useful_text(answer: LanguageAnswer, tokens_per_s: float) -> str:
    """Useful arithmetic of one GPU, by which trainings are compared: '464 TFLOP/s, 47 % of the peak in BF16 (MFU)'."""
    share = f"{percent(answer.utilization(tokens_per_s))} of the peak in {format_text(answer.work.number_format)} (MFU)"
    return f"{si(answer.model_flop_per_s(tokens_per_s), 'FLOP/s')}, {share}"


def layout_text(answer: LanguageAnswer) -> str:
    """The layout: 'TP 4, PP 4 (5 chunks), CP 2, DP 12, optimizer state divided on 384 GPUs'."""
    return f"{degrees_text(answer.layout)} on {grouped(answer.gpus_used)} GPUs"


def layout_sentence(answer: LanguageAnswer) -> str:
    """The layout, and the next one: 'TP 4, PP 4 (5 chunks), CP 2, DP 12, optimizer state divided; next: ...'."""
    text = layout_text(answer)
    if answer.runner_up is None:
        return text
    slower = 1 - float(answer.runner_up.tokens_per_s.value) / float(answer.layout.tokens_per_s.value)
    less = "equally fast" if slower < _EQUAL else f"{_whole_percent(slower)} slower"
    return f"{text}; next: {degrees_text(answer.runner_up)}, {less}"


def unused_gpus_text(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """That the fastest layout leaves GPUs without work; "" where it uses all of them."""
    found = answer.language
    if found is None or found.gpus_used >= design.n_gpus:
        return ""
    free = design.n_gpus - found.gpus_used
    use = by_count(free, "the other one is spare", f"the other {grouped(free)} are spare")
    return f"The fastest layout uses {grouped(found.gpus_used)} of the {grouped(design.n_gpus)} GPUs; {use}."


def rate_basis_text(answer: LanguageAnswer) -> str:
    """As :func:`basis_sentence`, as a clause of its own."""
    text = basis_sentence(answer)
    return f"the rate rests on {text}" if answer.basis.all_three else text


def step_sentence(answer: LanguageAnswer) -> str:
    """What a step is spent on: '14.2 s: compute 68 %, attention 9 %, ...'."""
    return f"{significant(sum(answer.layout.step_s.values()))} s: {', '.join(_shares(answer.layout))}"


def basis_sentence(answer: LanguageAnswer) -> str:
    """Published runs that the rate rests on, and how far it extrapolates: '12 published runs with this model, ...'."""
    basis = answer.basis
    if basis.all_three:
        text = f"{plural(basis.all_three, 'published run')} with this model, GPU, number format and software stack"
    else:
        counts = ((basis.model, "this model"), (basis.gpu_precision, "this GPU and number format"),
                  (basis.stack, "this software stack"))  # fmt: skip
        parts = [f"{grouped(count) if count else 'none'} with {what}" for count, what in counts]
        text = f"no run known to us combines model, GPU, number format and software stack: {listed(parts)}"
    if not basis.most_gpus:
        return text
    if answer.gpus_used > basis.most_gpus:
        return f"{text}; the largest had {plural(basis.most_gpus, 'GPU')}, so {grouped(answer.gpus_used)} extrapolate"
    return f"{text}, on up to {plural(basis.most_gpus, 'GPU')}"


def stacks_sentence(answer: LanguageAnswer) -> str:
    """What other stacks are worth: 'torchtitan (PyTorch FSDP2) 28 % slower (5 % to 46 %), ...'; "" without any."""
    return ", ".join(f"{one.stack.name} {_compared(one.rate_ratio)}" for one in answer.stacks.value)


def _compared(ratio: Estimate) -> str:
    middle, low, high = (float(value) for value in ratio)
    share, interval = _whole_percent(abs(1 - middle)), f"{_whole_percent(low)} to {_whole_percent(high)} of the rate"
    return f"{share} {'faster' if middle > 1 else 'slower'} ({interval})"


def _shares(layout: LayoutAnswer) -> list[str]:
    return [f"{name} {_whole_percent(share)}" for name, share in layout.step_shares.items()]


def _whole_percent(share: float) -> str:
    return f"{100 * share:.0f}{NARROW_SPACE}%"


def degrees_text(layout: LayoutAnswer) -> str:
    """Degrees of a layout and what its replicas divide: 'TP 2, PP 1, CP 1, DP 24, optimizer state divided'."""
    chunks = f" ({layout.virtual} chunks)" if layout.virtual > 1 else ""
    parts = [f"TP {layout.tensor}", f"PP {layout.pipeline}{chunks}", f"CP {layout.context}"]
    if layout.expert > 1:
        parts.append(f"EP {layout.expert}")
    state = {"all (FSDP)": ", all state divided (FSDP)", "optimizer": ", optimizer state divided"}
    recompute = recompute_text(layout)
    activations = "" if recompute == "none" else f", {recompute} recompute"
    return f"{', '.join(parts)}, DP {layout.data}{state.get(sharding_text(layout), '')}{activations}"


def sharding_text(layout: LayoutAnswer) -> str:
    """State that is divided over the replicas: 'all (FSDP)', 'optimizer' or 'none'."""
    if layout.data * layout.context == 1:
        return "none"
    return "all (FSDP)" if layout.is_fully_sharded else "optimizer" if layout.is_optimizer_sharded else "none"


def recompute_text(layout: LayoutAnswer) -> str:
    """Activations that are computed again in the backward pass: 'none', 'selective' or 'full'."""
    return _RECOMPUTE.get(layout.recompute, "selective")


def _line(one: LayoutAnswer, gpus: int) -> str:
    rate, low, high = one.tokens_per_s
    interval = f"{grouped(float(f'{low:.3g}'))} to {grouped(float(f'{high:.3g}'))}"
    degrees = f"{one.tensor:3d} {one.pipeline:3d} {one.virtual:3d} {one.context:3d} {one.expert:3d} {one.data:6d}"
    return (
        f"{degrees} {one.micro_batch:5d} {sharding_text(one):10} {recompute_text(one):9} "
        f"{grouped(float(f'{rate:.3g}')):>12} {interval:>24} {grouped(rate / gpus):>8} "
        f"{float(one.memory_bytes.value) / GIB:5.0f} {probability_text(one.probability_fits):>9}"
    )
