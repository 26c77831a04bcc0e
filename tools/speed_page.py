"""The tables of docs/speed.md and its charts, from the kept run."""

from pathlib import Path

from sizer.base.quantities import grouped, si, significant
from sizer.present.charting import chart_svg
from tools.speed_charts import figures_chart, growth_chart
from tools.speed_figures import (
    ASKED,
    BARE,
    LOOP,
    MANY,
    OTHERS,
    TRIAD,
    Figure,
    Found,
    Run,
    amount,
    asked,
    found,
    growths,
    referred,
    seconds,
    verdict,
)

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "speed.md"


def page(text: str, run: Run) -> str:
    """Text of the page with every measured part made from a run; what stands between is a person's."""
    for name, part in parts(run).items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"{PAGE.name}: {begin} and {end} are needed once each")
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        text = f"{before}{begin}\n{part}\n{end}{after}"
    return text


def parts(run: Run) -> dict[str, str]:
    """Measured parts by the name of their place."""
    return {
        "machine": _machine(run),
        "verdict": _verdict(found(run, ASKED)),
        "figures": _table(run, ASKED),
        "growth": _growth(run),
        "others": _table(run, OTHERS),
        "batch": _batch(run),
    }


def charts(run: Run) -> dict[str, str]:
    """SVG by the name of its file."""
    made = {"speed-figures": figures_chart(found(run, ASKED))}
    if growths(run):
        made["speed-growth"] = growth_chart(growths(run))
    # Whoever reads the page may not have the fonts of the guide.
    return {f"{name}.svg": chart_svg(chart).replace('"Inter"', '"Inter, sans-serif"') for name, chart in made.items()}


def write(run: Run) -> None:
    """Make page and charts anew."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), run), encoding="utf-8")
    for name, svg in charts(run).items():
        (DOCS / "images" / name).write_text(svg + "\n", encoding="utf-8")


def _machine(run: Run) -> str:
    machine = run.machine
    family, model, stepping = machine["model"]
    clock = f" at {machine['clock_hz'] / 1e9:g} GHz" if machine["clock_hz"] else ""
    caches = " and ".join(
        f"{si(machine[key], 'B')} of {name} cache"
        for key, name in (("l2_bytes", "second"), ("l3_bytes", "third"))
        if machine[key]
    )
    loop, bare, triad = (run.benches[name].median_s for name in (LOOP, BARE, TRIAD))
    return (
        f"Version {run.sizer}, measured on {run.date}: {machine['processor']} (family {family}, model {model},"
        f" stepping {stepping}),"
        f" {machine['cores']} cores{clock}, {caches} as the system tells it,"
        f" {si(machine['memory_bytes'], 'B')} of memory; {machine['system']}, Python {machine['python']},"
        f" numpy {machine['numpy']}, one thread. A loop took {seconds(loop)}, a triad {seconds(triad)},"
        f" a start {seconds(bare)}."
    )


def _verdict(figures: list[Found]) -> str:
    told = [one for one in figures if one.is_reached is not None]
    lines = [f"{sum(bool(one.is_reached) for one in told)} of {len(told)} figures are reached."]
    lines += [
        f"- Not reached: {one.figure.name}, {amount(one.value, one.figure)}; asked {asked(one.figure)}."
        for one in told
        if not one.is_reached
    ]
    lines += [f"- Not measured: {one.figure.name}." for one in figures if one.value is None]
    return "\n".join([lines[0], "", *lines[1:]] if lines[1:] else lines)


def _table(run: Run, figures: tuple[Figure, ...]) -> str:
    lines = ["| figure | asked | measured | reached | in references |", "|---|---|---|---|---|"]
    for one in found(run, figures):
        cells = one.figure.name, asked(one.figure), amount(one.value, one.figure), verdict(one), referred(one, run)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _growth(run: Run) -> str:
    lines = [
        "| of | from | to | time from | time to | time of one, to by from | exponent at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.name} | {grouped(one.sizes[0])} {one.unit} | {grouped(one.sizes[-1])} | {seconds(one.times_s[0])} "
        f"| {seconds(one.times_s[-1])} | {significant(one.of_linear)} | {one.last_exponent:.2f} |"
        for one in growths(run)
    ]
    return "\n".join(lines)


def _batch(run: Run) -> str:
    if MANY not in run.benches:
        return "Not measured."
    extra = run.benches[MANY].extra
    sized = extra["statuses"].get("sized", 0)
    return (
        f"{grouped(extra['requests'])} requests were measured, with {extra['workers']} processes; "
        f"{grouped(sized)} found a design, {grouped(extra['requests'] - sized)} have none that meets them."
    )
