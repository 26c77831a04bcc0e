"""What is drawn of a language model in use: output over latency, users over servers, cost over load, a GPU's memory."""

from collections.abc import Iterator

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.base.quantities import by_count, grouped, plain, significant
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Drawing, FilledBar, Label, text_width
from sizer.present import words
from sizer.present.charting import BandChart, band_rows
from sizer.present.text.serving import gib_text, owned_per_million, people_text, within
from sizer.sizing.design.served_day import YEARS
from sizer.sizing.result import DesignAnswer, TokenCost, WorkloadAnswer
from sizer.sizing.stages.serving_rates import ServingAnswer, serving_curve
from sizer.workload.loads import DAY_HOURS
from sizer.workload.optional_tables import Ownership

_MS = 1e3
# Share of the line's length that is shown before its beginning.
_BEFORE = 0.2
# Room above the highest value.
_ABOVE = 1.05
# Servers of the chart over those of the design.
_BEYOND = 2
# Of the cost at the load or the price compared, the highest that is drawn: at low loads it has no bound.
_COSTLIEST = 3.0
# Loads that are drawn, over the one asked and the one from which on owning pays.
_LOADS_BEYOND = 6.0
_POINTS = 60


def serving_charts(
    design: DesignAnswer, answer: WorkloadAnswer, asked: Ownership | None, *, with_cost: bool = False
) -> Iterator[BandChart]:
    """Charts of a language model in use; none of other workloads.

    ``asked``: what the request says of owning. ``with_cost``: estimates of cost for the house.
    """
    found = answer.serving
    if found is None:
        return
    if not found.work.is_embedding:  # it has no tokens to wait for
        yield _load(found)
    if len(design.workloads) > 1:  # their table says it
        return
    yield _capacity(design, found)
    owned = owned_per_million(design, asked)
    drawn = [_day(answer), _cost(answer, owned, asked) if owned or (with_cost and asked is None) else None]
    yield from (one for one in drawn if one is not None)


def _load(answer: ServingAnswer) -> BandChart:
    """Output of a GPU over the time between tokens, with runs of the same GPU and model."""
    curve, limit = serving_curve(answer), answer.work.token_s
    output, (token_s, rate) = curve.tokens_per_s, curve.at
    rows = band_rows("x", _MS * np.asarray(curve.token_s), output.value, output.low, output.high)
    longest = _ABOVE * max(rows[-1]["x"], _MS * (limit or 0.0))
    top = _ABOVE * max(row["high"] for row in rows)
    runs = [(_MS * one.token_s, one.tokens_per_s, one.source) for one in curve.published]
    shown = tuple(run for run in runs if run[0] <= longest and run[1] <= top)
    how = ["Line and band: the chosen layout, from one request in flight upwards, with its 90 % interval"]
    if limit is not None:
        how.append(f"dashed: the limit of the {answer.work.percentile}th percentile")
    if shown:
        how.append(f"circles: {words.plural(len(shown), 'published run')} of this model on this GPU")
    at = "this load" if answer.load == "asked" else "most"
    return BandChart(
        id="load",
        finding=f"At {at}, each GPU delivers {significant(rate)} tokens/s, and each request gets a token every "
        f"{significant(token_s * _MS)} ms",
        how="; ".join(how),
        caption="Output of a GPU by the time between tokens, as more requests are in flight.",
        x_title="time between tokens, ms",
        y_title="output of a GPU, tokens/s",
        rows=rows,
        design=(_MS * token_s, rate),
        label="this load" if answer.load == "asked" else "most within the limits",
        # From somewhat before the first request on: a line near its limit would be a stub in an empty chart.
        x_domain=(max(0.0, rows[0]["x"] - _BEFORE * (longest - rows[0]["x"])), longest),
        top=top,
        x_limit=None if limit is None else _MS * limit,
        published=shown,
    )


def _counted(answer: ServingAnswer) -> tuple[Estimate, str]:
    """The most within the limits as the target counts it, and its name."""
    work, rate = answer.work, answer.requests_per_s
    if work.in_flight is not None:
        return rate.scaled(answer.limit_concurrency * answer.replicas / float(rate.value)), "requests in flight"
    if work.counts_people and answer.users is not None:
        return rate.scaled(answer.users / float(rate.value)), people_text(work)
    return rate, "requests/s"


def _capacity(design: DesignAnswer, answer: ServingAnswer) -> BandChart:
    """Users, or requests, that servers serve within the limits: replicas add up."""
    most, unit = _counted(answer)
    group = answer.servers_of_replica
    groups = design.n_servers // group
    servers = group * np.arange(_BEYOND * groups + 1)
    value, low, high = (float(end) * servers / (group * groups) for end in most)
    asked = None if answer.work.asked_rate is None else answer.work.number
    if not (answer.work.counts_people or answer.work.in_flight is not None):
        asked = answer.work.asked_rate
    is_rate = unit == "requests/s"
    reached = significant(float(most.value)) if is_rate else grouped(float(f"{most.value:.2g}"))
    target = "" if asked is None else plain(asked) if is_rate else grouped(asked)
    serve = by_count(design.n_servers, "One server serves", f"{grouped(design.n_servers)} servers serve")
    finding = f"{serve} at most {reached} {unit}{within(answer.work)}{f'; {target} are asked for' if target else ''}"
    return BandChart(
        id="capacity",
        finding=finding,
        how=f"Line and band: the most{within(answer.work)}, with its 90 % interval; dot: this design",
        caption=f"The most that servers of this kind serve{within(answer.work)}, by their number.",
        x_title="servers",
        y_title=unit,
        rows=band_rows("x", servers, value, low, high),
        design=(float(design.n_servers), float(most.value)),
        label=f"{reached} {unit}",
        x_domain=(0.0, float(servers[-1])),
        top=_ABOVE * max(float(high[-1]), asked or 0.0),
        level=None if asked is None else (asked, f"target {target}"),
        counts_x=True,
    )


def _cost(answer: WorkloadAnswer, owned: TokenCost | None, asked: Ownership | None) -> BandChart | None:
    """What a million tokens cost over the load, against the price that the request compares with.

    ``owned``: what they cost to own at this load; None: what the hardware does, written off. None without either.
    """
    found, day = answer.served, answer.day
    work, cost = found.work, owned or (None if day is None else day.bought_per_million)
    if cost is None:
        return None
    price = float(asked.cost_per_million_tokens or 0.0) if asked is not None else 0.0
    at, here = found.mean_tokens_per_s / work.priced_tokens / work.mean_load, cost.expected
    even = here * at / price if price else 0.0
    most = max(float(found.requests_per_s.value), at)
    reach = min(most, _LOADS_BEYOND * max(at, even))
    top = _COSTLIEST * max(here, price)
    loads = np.geomspace(max(cost.high * at / top, reach / _POINTS**2), reach, _POINTS)
    ends: list[Floats] = [end * at / loads for end in (cost.expected, cost.low, cost.high)]
    years = YEARS if asked is None else asked.years
    basis = f"over {years} years of owning" if owned else f"of hardware over {years} years"
    tokens = f"a million {work.priced}"
    finding = f"At {significant(at)} requests/s {tokens} cost about {cost.currency} {significant(here, 2)} {basis}"
    if price:
        than, where = "more", "at any load"
        if even <= most:
            high = significant(cost.high * at / price, 2)
            than, where = "less", f"from {significant(even, 2)} requests/s on ({high} at the high end of the price)"
        finding = f"Owning costs {than} than {cost.currency} {plain(price)} for {tokens} {where}"
    used = asked.utilization_fraction if asked is not None else None
    hours = f"in {words.percent(used)} of all hours" if used is not None else "around the clock"
    return BandChart(
        id="cost",
        finding=finding,
        how=f"Line and band: cost {basis}, between both ends of the price; dot: the load that was asked"
        + ("; dashed: the price compared" if price else ""),
        caption="Cost of tokens by the load.",
        x_title=f"requests/s {'in the peak hour of the day' if work.varies else hours}",
        y_title=f"{cost.currency} for {tokens}",
        rows=band_rows("x", loads, *ends),
        design=(at, min(here, top)),
        label=f"this load: {significant(here, 2)}",
        x_domain=(0.0, _ABOVE * reach),
        top=top,
        level=(price, f"price compared: {plain(price)}") if price else None,
    )


def _day(answer: WorkloadAnswer) -> BandChart | None:
    """Load of the hours of a day, with the most within the limits; None of one load at all hours."""
    found, work, day = answer.served, answer.served.work, answer.day
    if day is None or not work.varies:
        return None
    loads = found.served_per_s * np.asarray(work.load_by_hour)
    peak, most = int(np.argmax(loads)), float(found.requests_per_s.value)
    is_near = most <= _COSTLIEST * loads[peak]
    return BandChart(
        id="day",
        finding=f"The mean load of the day is {words.percent(work.mean_load)} of that of the peak hour; "
        f"{words.percent(day.idle_share)} of what the GPUs serve is left idle",
        how="Line: requests in the hours of a day" + ("; dashed: the most within the limits" if is_near else ""),
        caption="Load of a day.",
        x_title="hour of the day",
        y_title="requests/s",
        rows=band_rows("x", range(DAY_HOURS), loads, loads, loads),
        design=(float(peak), float(loads[peak])),
        label=f"peak: {significant(float(loads[peak]))}",
        x_domain=(0.0, DAY_HOURS - 1.0),
        top=_ABOVE * (most if is_near else float(loads[peak])),
        level=(most, f"at most {significant(most)}") if is_near else None,
        counts_x=True,
    )


_BAR_TOP, _BAR_PX = 8.0, 22.0
_SQUARE_PX, _WORDS_PX = 8.0, 9.5


def memory_drawing(answer: WorkloadAnswer) -> Drawing | None:
    """What fills a GPU, as one bar with its parts named below; None of other workloads."""
    found = answer.serving
    if found is None:
        return None
    total = answer.memory.memory_bytes
    adapters = found.adapter_bytes
    parts = [
        ("weights", found.weight_bytes - adapters, "gpu"),
        ("adapters", adapters, "host_link"),
        (f"{found.work.memory_content} at this load", found.cache_bytes, "storage"),
        ("workspace", found.reserve_bytes, "other"),
    ]
    parts.append(("free", max(total - sum(size for _, size, _ in parts), 0.0), "hairline"))
    bars, labels, x, at = [], [], 0.0, 0.0
    for name, size, role in parts:
        if not size:
            continue
        width = COLUMN_PX * size / total
        bars.append(FilledBar(x, _BAR_TOP, width, _BAR_PX, role))
        x += width
        text = f"{name} {gib_text(size)}"
        below = _BAR_TOP + _BAR_PX + 10
        bars.append(FilledBar(at, below, _SQUARE_PX, _SQUARE_PX, role))
        labels.append(Label(at + _SQUARE_PX + 5, below + _SQUARE_PX, text, _WORDS_PX))
        at += _SQUARE_PX + 5 + text_width(text, _WORDS_PX) + 16
    share = words.percent(found.weight_bytes / total)
    title = (
        f"Weights take {share} of the memory of each {found.deployment.gpu.name}; a replica has room for "
        f"{grouped(int(found.most_concurrent))} requests"
    )
    return Drawing(COLUMN_PX, _BAR_TOP + _BAR_PX + 24, title, bars=tuple(bars), labels=tuple(labels))
