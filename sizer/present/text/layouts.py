"""Layouts of a language model's training as plain text."""

from sizer.base.quantities import grouped, probability_text, significant
from sizer.perf.language.memory import GIB
from sizer.sizing.search.language_layouts import LayoutAnswer, LayoutSearch

_RECOMPUTE = {0.0: "none", 1.0: "full"}
# Terms of a step in the order that a reader asks for them.
_TERMS = {
    "compute": ("linear", "elementwise"),
    "attention": ("attention",),
    "exposed traffic": ("tensor", "expert", "context", "data"),
    "pipeline bubble": ("bubble",),
    "optimizer": ("optimizer",),
    "fixed": ("fixed",),
}


def layouts_text(found: LayoutSearch) -> str:
    """The layouts as a table, and what a step of the fastest one is spent on."""
    asked = found.question
    head = f"{'TP':>3} {'PP':>3} {'VP':>3} {'CP':>3} {'EP':>3} {'DP':>6} {'micro':>5} {'sharding':10} {'recompute':9}"
    lines = [
        f"{asked.model} on {grouped(asked.gpus)} x {asked.gpu}, {asked.precision}, {asked.software}: "
        f"{grouped(asked.batch)} sequences of {grouped(asked.sequence)} tokens a step",
        f"{grouped(found.n_judged)} layouts judged, {grouped(found.n_fitting)} fit in memory with at least 90 % "
        "probability",
        "",
        f"{head} {'tokens/s':>12} {'90 % interval':>24} {'a GPU':>8} {'GiB':>5} {'fits':>9}",
    ]
    lines += [_line(one, asked.gpus) for one in found.answers]
    first = found.answers[0]
    step = sum(first.step_s.values())
    shares = []
    for name, parts in _TERMS.items():
        seconds = sum(first.step_s[part] for part in parts)
        shares.append(f"{name} {seconds / step:.0%}")
    lines += ["", f"A step of the fastest takes {significant(step)} s: {', '.join(shares)}."]
    return "\n".join(lines)


def _line(one: LayoutAnswer, gpus: int) -> str:
    rate, low, high = one.tokens_per_s
    interval = f"{grouped(float(f'{low:.3g}'))} to {grouped(float(f'{high:.3g}'))}"
    sharding = "FSDP" if one.is_fully_sharded else "optimizer"
    degrees = f"{one.tensor:3d} {one.pipeline:3d} {one.virtual:3d} {one.context:3d} {one.expert:3d} {one.data:6d}"
    return (
        f"{degrees} {one.micro_batch:5d} {sharding:10} {_RECOMPUTE.get(one.recompute, 'part'):9} "
        f"{grouped(float(f'{rate:.3g}')):>12} {interval:>24} {grouped(rate / gpus):>8} "
        f"{float(one.memory_bytes.value) / GIB:5.0f} {probability_text(one.probability_fits):>9}"
    )
