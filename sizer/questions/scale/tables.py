"""Tables of the same GPUs in fewer or in more servers."""

from collections.abc import Sequence

from sizer.base.quantities import NARROW_SPACE, grouped, si, significant
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.drawings.racks import at_least
from sizer.present import result_text, words
from sizer.present.tables import Align, Cell, Table, columns, row
from sizer.questions.scale.analysis import Kept, Pair, Way
from sizer.questions.scale.arrangements import LeftOut
from sizer.questions.scale.comparison_text import signed
from sizer.sizing.result import STAGES

# Items without a price named below a table; the others are counted.
_NAMED = 8
# Shorter parts of a step are nothing that the model could tell. [ms]
_LEAST_MS = 0.01
# Parts that tell arrangements apart; cables, cords and panels without a price are counted only.
_TELLING = ("compute", "storage", "network")


def rates_table(ways: Sequence[Way], number: int = 0, suffix: str = "", first: Way | None = None) -> Table:
    """Rate of every arrangement, against the first and against single GPUs, and what limits it.

    Parameters
    ----------
    ways : sequence of Way
        Rows in this order.
    number : int
        Of the workload.
    suffix : str
        Makes the table's id unique in a document.
    first : Way, optional
        What the others are set against; default the first row.
    """
    first = first or ways[0]
    unit = words.sample_unit(first.runs[number].answer.dnn)
    is_timed = all(way.runs[number].answer.time is not None for way in ways)
    rows = []
    for way in ways:
        answer = way.runs[number].answer
        cells: list[str | Cell] = [
            way_name(way),
            words.estimate(answer.throughput, unit, bare=True),
            "–" if way is first else _percent(Pair(first, way), number),
            words.percent(answer.scaling_efficiency),
            Cell(STAGES[answer.bottleneck], stage=answer.bottleneck),
        ]
        if is_timed and answer.time is not None:
            cells.append(words.rounded(answer.time.total_s, "s"))
        rows.append(row(*cells, kind="strong" if way is first else ""))
    timed: list[tuple[str, Align, int]] = [("Time to train", "right", 12)] if is_timed else []
    heads = columns(
        ("Arrangement", "left", 24 if is_timed else 29),
        (f"Rate, {unit}", "right", 16),
        ("Against the first", "right", 22),
        ("Of single GPUs", "right", 10),
        ("Limit", "left", 16),
        *timed,
    )
    note = (
        "Against the first: of the medians, with the 90 % interval of the ratio, in which both "
        "sides share what the model does not know exactly. Of single GPUs: rate over that of as "
        "many GPUs that work alone."
    )
    return Table(
        f"up-or-out-rates{suffix}",
        f"{grouped(first.n_gpus)} GPUs in several arrangements",
        heads,
        tuple(rows),
        with_marks(note, ways),
    )


def steps_table(ways: Sequence[Way], number: int = 0, suffix: str = "", first: Way | None = None) -> Table | None:
    """Where the time of a training step goes; None for inference."""
    rows = []
    for way in ways:
        split = way.runs[number].split
        if split is None:
            return None
        parts = (
            split.step_s,
            split.compute_s,
            split.inside_s,
            split.between_s,
            split.exposed_s,
            split.waiting_s,
            split.data_s,
        )
        rows.append(row(way_name(way), *map(milliseconds, parts), kind="strong" if way is (first or ways[0]) else ""))
    heads = columns(
        ("Arrangement", "left", 30),
        ("Step, ms", "right", 10),
        ("Computing", "right", 11),
        ("Gradients inside", "right", 11),
        ("Gradients between", "right", 11),
        ("Not hidden", "right", 8),
        ("Waiting for others", "right", 10),
        ("Waiting for data", "right", 9),
    )
    note = (
        "A step is computing, the gradients that computing does not hide, and waiting. Runs "
        "published for many servers lose more than the links explain; the model books that as "
        "waiting of the GPUs for one another."
    )
    return Table(
        f"up-or-out-steps{suffix}",
        "A training step, in milliseconds, at the medians",
        heads,
        tuple(rows),
        with_marks(note, ways),
    )


def things_table(ways: Sequence[Way], catalog: Catalog, first: Way | None = None) -> Table:
    """Rack units, watts, switches, ports, cables and price of every arrangement as a whole design."""
    rows = [
        row(
            way_name(way),
            grouped(way.rack_units),
            power(way),
            grouped(way.n_switches),
            grouped(way.n_ports),
            grouped(way.n_cables),
            result_text.price(way.bill),
            kind="strong" if way is (first or ways[0]) else "",
        )
        for way in ways
    ]
    heads = columns(
        ("Arrangement", "left", 30),
        ("Rack units", "right", 8),
        ("Power", "right", 20),
        ("Switches", "right", 9),
        ("Ports", "right", 7),
        ("Cables", "right", 8),
        (result_text.price_label(ways[0].bill), "right", 18),
    )
    note = (
        "The whole design with storage and network. Power is the bracket from the sum of the "
        "parts to the rating of the supplies where no draw is published. GPUs that stand idle "
        "count."
    )
    return Table(
        "up-or-out-things",
        f"What {grouped(ways[0].n_gpus)} GPUs take in every arrangement",
        heads,
        tuple(rows),
        with_marks(f"{note} {_unpriced(ways, catalog)}".strip(), ways),
    )


def per_gpu_table(ways: Sequence[Way], number: int = 0, first: Way | None = None) -> Table:
    """The same for each GPU in use."""
    unit = words.sample_unit(ways[0].runs[number].answer.dnn)
    rows = []
    for way in ways:
        n, bill = way.n_gpus, way.bill
        price = result_text.price(bill)
        if not bill.net_total.is_unknown:
            price = at_least(not bill.is_complete, words.money(words.whole(float(bill.total) / n), bill.currency))
        rows.append(
            row(
                way_name(way),
                significant(float(way.runs[number].answer.throughput.value) / n),
                significant(way.rack_units / n, 2),
                at_least(way.has_unknown_power, si(way.power_max_w / n, "W")),
                price,
                kind="strong" if way is (first or ways[0]) else "",
            )
        )
    heads = columns(
        ("Arrangement", "left", 32),
        (f"Rate, {unit}", "right", 16),
        ("Rack units", "right", 13),
        ("Most power", "right", 18),
        (result_text.price_label(ways[0].bill), "right", 21),
    )
    return Table("up-or-out-per-gpu", "The same for each GPU in use", heads, tuple(rows), with_marks("", ways))


def short_table(ways: Sequence[Way]) -> Table:
    """What a customer compares: rate of the first workload, rack units, watts and price."""
    first = ways[0]
    unit = words.sample_unit(first.runs[0].answer.dnn)
    rows = [
        row(
            way_name(way),
            words.estimate(way.runs[0].answer.throughput, unit, bare=True),
            "–" if way is first else _percent(Pair(first, way), 0),
            grouped(way.rack_units),
            power(way),
            result_text.price(way.bill),
            kind="strong" if way is first else "",
        )
        for way in ways
    ]
    heads = columns(
        ("Arrangement", "left", 20),
        (f"Rate, {unit}", "right", 17),
        ("Against the first", "right", 21),
        ("Rack units", "right", 7),
        ("Power", "right", 18),
        (result_text.price_label(first.bill), "right", 17),
    )
    note = "Medians with 90 % intervals. The order of the rows ranks nobody."
    if len(first.runs) > 1:
        note += " " + "Throughput of the first workload."
    return Table(
        "up-or-out",
        f"{grouped(first.n_gpus)} GPUs in several arrangements",
        heads,
        tuple(rows),
        with_marks(note, ways),
    )


def kept_table(kept: Sequence[Kept], number: int = 0) -> Table:
    """What each GPU keeps of its rate from one number of GPUs to the next, on the same kind of server."""
    rows = [
        row(
            f"{one.few.arrangement.name} to {one.many.arrangement.name}",
            words.percent(float(one.share[number].value)),
            (f"{words.percent(float(one.share[number].low))} to {words.percent(float(one.share[number].high))}"),
        )
        for one in kept
    ]
    heads = columns(("From and to", "left", 50), ("Each GPU keeps", "right", 22), ("90 % interval", "right", 28))
    name = kept[0].few.runs[number].answer.workload.name
    return Table(f"up-or-out-kept-{number}", f"{name}: what more servers cost each GPU", heads, tuple(rows))


def left_out_table(left_out: Sequence[LeftOut]) -> Table | None:
    """Kinds of server that are not compared, and why; None where there is none."""
    if not left_out:
        return None
    rows = tuple(row(one.name, words.sentence(one.reason)) for one in left_out)
    heads = columns(("Server", "left", 35), ("Why it is not compared", "left", 65))
    return Table("up-or-out-left-out", "Not compared", heads, rows)


def way_name(way: Way) -> str:
    """Name of an arrangement, with a mark where the request does not allow it."""
    return way.arrangement.name if way.arrangement.is_allowed else f"{way.arrangement.name} *"


def power(way: Way) -> str:
    """Bracket of the draw, 'at least' where a device has no published one."""
    low, high = si(way.power_low_w, "W"), si(way.power_max_w, "W")
    if low.rpartition(NARROW_SPACE)[2] == high.rpartition(NARROW_SPACE)[2]:
        low = low.rpartition(NARROW_SPACE)[0]  # of 16.4 kW to 17.4 kW the second unit is enough
    text = high if way.power_low_w == way.power_max_w else f"{low} to {high}"
    # Where the cell must break, it breaks before the bracket.
    return at_least(way.has_unknown_power, text.replace(" ", words.NO_BREAK))


def milliseconds(seconds: float) -> str:
    """A part of a step, to a hundredth of a millisecond at most."""
    value = 1e3 * seconds
    if value >= 1:
        return significant(value)
    return grouped(value, 2) if value >= _LEAST_MS / 2 else "0"


def with_marks(note: str, ways: Sequence[Way]) -> str:
    """A note, with the meaning of the mark where one is set."""
    if all(way.arrangement.is_allowed for way in ways):
        return note
    return f"{note} * Not among what the request allows; compared all the same.".strip()


def _percent(pair: Pair, number: int) -> str:
    """'−3.1 % (−5.0 to +0.4)'."""
    value, low, high = (signed(100 * (float(part) - 1)) for part in pair.relative[number])
    text = f"{value}{NARROW_SPACE}%"
    # The same here, before the interval.
    span = f"{low} to {high}".replace(" ", words.NO_BREAK)
    return text if low == high else f"{text} ({span})"


def _unpriced(ways: Sequence[Way], catalog: Catalog) -> str:
    """What has no price, by name: servers first, since they tell arrangements apart."""
    lines = [line for way in ways for line in way.bill.bought if line.extended_net is None and line.item]
    # A customer's copy prices the offer alone; what else has a published price is not its matter.
    if not lines or ways[0].bill.is_customer_copy:
        return ""
    told = dict.fromkeys(line.item for kind in _TELLING for line in lines if line.category == kind)
    named = [item_name(item, catalog) for item in told][:_NAMED]
    rest = len({line.item for line in lines}) - len(named)
    return "Without a published price: {items}.".format(
        items=words.listed([*named, f"{rest} others"] if rest else named)
    )
