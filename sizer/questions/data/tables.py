"""Tables and sentences about the data of a design: what must fit, how it gets in, what is done beside training."""

from collections.abc import Sequence

import numpy as np

from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.present import words
from sizer.present.assumption_text import AssumptionRow
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.questions.data.analysis import LITTLE_LOST, Checkpoint, DataPlan, Decoded, Transform, Validation
from sizer.questions.data.ingest import Fill, Ingest
from sizer.questions.data.local_copy import LocalCopy

# Epochs that are as good as the same.
_ALIKE = 0.005


def account_table(plan: DataPlan) -> Table:
    """What must fit, part by part, against what is usable."""
    held = plan.held
    rows = [
        row(one.name, si(one.size_bytes, "B"), f"{significant(one.n_samples)} samples of {si(one.sample_bytes, 'B')}")
        for one in held.sets
    ]
    if held.raw_bytes:
        rows.append(row("The same, raw", si(held.raw_bytes, "B"), "kept beside what it is transformed to"))
    if held.snapshots_bytes:
        share = words.percent(held.snapshot_share)
        rows.append(row("Snapshots", si(held.snapshots_bytes, "B"), f"{share} of the data"))
    if held.reserve_bytes:
        share = words.percent(held.reserve_share)
        rows.append(row("Reserve", si(held.reserve_bytes, "B"), f"{share} of the data, for data to come"))
    if plan.checkpoints:
        kept = f"{grouped(plan.checkpoints[0].kept)} of each training"
        rows.append(row("Checkpoints", si(held.checkpoints_bytes, "B"), kept))
    rows.append(row("Must fit", si(held.total_bytes, "B"), "", kind="total"))
    where = "on the drives of each server" if plan.is_per_server else "on the storage"
    if np.isnan(plan.usable_bytes):
        rows.append(row("Usable", Cell(words.NOT_PUBLISHED), where))
    else:
        left = plan.free_bytes / plan.usable_bytes
        rows.append(row("Usable", si(plan.usable_bytes, "B"), where))
        rows.append(row("Free beyond that", si(plan.free_bytes, "B"), f"{words.percent(left)} of it"))
    heads = columns(("What", "left", 38), ("Size", "right", 18), ("How", "left", 44))
    return Table("data-account", "What must fit, and what is usable", heads, tuple(rows))


def ways_table(found: Ingest) -> Table | None:
    """Every way into the storage with its links; None where the design has none."""
    if not found.fills:
        return None
    rows = [_way_row(fill, fill is found.chosen) for fill in found.fills]
    heads = columns(
        ("Way", "left", 24),
        ("Links and their rates", "left", 44),
        ("At least", "right", 14),
        ("At the published write rate", "right", 18),
    )
    size = si(found.fills[0].data_bytes, "B")
    caption = f"Time to bring in {size}, by each way that the design has"
    return Table("ingest", caption, heads, tuple(rows), _write_note(found.fills[0]))


def _write_note(fill: Fill) -> str:
    if fill.write is None:
        return "No source gives a write rate of this storage: the times are what the links allow at best."
    return (
        f"The only published write rate is {si(fill.write.bytes_per_s, 'B/s')}; nodes or files of "
        "that test are not stated in full. Between it and the links lies what the storage will "
        "do."
    )


def _way_row(fill: Fill, is_chosen: bool) -> Row:
    links = "; ".join(_link_text(link.name, link.data_bytes_per_s) for link in fill.links)
    least, published = fill.least_s, fill.published_s
    name = f"{fill.way.name} (this plan)" if is_chosen else fill.way.name
    text = words.capital("; ".join(part for part in (links, fill.way.note) if part))
    cites = tuple(dict.fromkeys(link.source for link in fill.links if link.source))
    return row(
        name,
        Cell(text, cites),
        _not_known() if least is None else duration(least),
        _not_known() if published is None else Cell(duration(published), (fill.write.source,) if fill.write else ()),
        kind="strong" if is_chosen else "",
    )


def _link_text(name: str, bytes_per_s: float) -> str:
    return f"{name}, {si(bytes_per_s, 'B/s')}"


def _not_known() -> Cell:
    return Cell(words.NOT_PUBLISHED)


def fill_text(found: Ingest) -> str:
    """How long the chosen way takes, and what bounds it."""
    chosen = found.chosen
    if chosen is None:
        return "No way into the storage is part of this plan: say how the data reach it."
    size = si(chosen.data_bytes, "B")
    least, published = chosen.least_s, chosen.published_s
    if least is None and published is None:
        text = f"How long {size} take is not known: neither link nor write rate is published."
    elif least is None or (published is not None and published > least):
        assert published is not None
        text = f"{chosen.way.name}, {size} take {duration(published)} at the only published write rate"
        text += f"; the links alone would allow {duration(least)}." if least is not None else "."
    else:
        assert chosen.slowest is not None
        text = (
            f"{chosen.way.name}, {size} take at least {duration(least)}; the slowest link is "
            f"{_link_text(chosen.slowest.name, chosen.slowest.data_bytes_per_s)}."
        )
    return " ".join([text, *_fill_remarks(found)])


def _fill_remarks(found: Ingest) -> list[str]:
    remarks = []
    if found.missing is not None:
        remarks.append(f"The way asked for, {words.name(found.missing)}, is not part of this design.")
    if found.n_files:
        remarks.append(
            f"They are {significant(found.n_files)} single files, and no source gives a rate in files "
            "a second: measure it, or pack them into records first."
        )
    return remarks


def checkpoints_table(found: Sequence[Checkpoint]) -> Table | None:
    """Size, time and share of the time of checkpoints; None where none are asked for."""
    if not found:
        return None
    rows = [
        row(
            one.workload,
            si(one.size_bytes, "B"),
            duration(one.every_s),
            _bounded(one.write_s, one.rate_is_bound),
            _not_known() if one.lost_fraction is None else _share(one.lost_fraction, one.rate_is_bound),
            si(one.little_lost_bytes_per_s, "B/s"),
        )
        for one in found
    ]
    heads = columns(
        ("Training", "left", 26),
        ("Size", "right", 13),
        ("Every", "right", 12),
        ("Takes", "right", 17),
        ("Of the time", "right", 15),
        (f"Rate that costs {words.percent(LITTLE_LOST)}", "right", 17),
    )
    note = "Training is taken to wait for the writing; a framework that writes beside it loses less."
    return Table("checkpoints", "Checkpoints", heads, tuple(rows), note)


def _bounded(seconds: float | None, is_bound: bool) -> Cell:
    if seconds is None:
        return _not_known()
    return Cell(f"at least {duration(seconds)}" if is_bound else duration(seconds))


def _share(fraction: float, is_bound: bool) -> Cell:
    # A share of a ten-thousandth is nothing to print digits of.
    text = words.percent(fraction) if fraction >= 1e-3 else f"under {words.percent(1e-3)}"
    return Cell(f"at least {text}" if is_bound and fraction >= 1e-3 else text)


def transform_text(found: Transform) -> str:
    """What transforming all data ahead takes of the processors."""
    text = (
        f"Transforming {significant(found.n_samples)} samples ahead of training takes "
        f"{significant(found.core_hours)} core-hours "
        f"({significant(found.core_s_per_sample * 1e3)} core-ms a sample)"
    )
    if found.cpu_s is None or found.cores is None:
        return f"{text}."
    return text + (
        f", {duration(found.cpu_s)} on the {grouped(found.cores)} cores of the GPU servers while "
        f"nothing trains; {si(found.raw_bytes, 'B')} become {si(found.prepared_bytes, 'B')}."
    )


def decoded_table(found: Sequence[Decoded]) -> Table | None:
    """What storing decoded tensors would take and save; None where everything is decoded already."""
    if not found:
        return None
    rows = [
        row(
            one.workload,
            f"{significant(one.size_ratio)} times",
            si(one.dataset_bytes, "B"),
            si(one.reads_bytes_per_s, "B/s"),
            significant(one.cores_saved_per_gpu),
        )
        for one in found
    ]
    heads = columns(
        ("Workload", "left", 28),
        ("Size of a sample", "right", 17),
        ("Whole set", "right", 17),
        ("Reads without a cache", "right", 20),
        ("Cores saved a GPU", "right", 18),
    )
    note = "Tensors are cut once: random crops of the whole picture are no longer possible."
    return Table("decoded", "Were decoded tensors stored instead", heads, tuple(rows), note)


def validation_table(found: Sequence[Validation]) -> Table | None:
    """Passes over held-back samples: how long, what they read, and from local drives; None where there are none."""
    if not found:
        return None
    rows = [
        row(
            one.workload,
            grouped(one.n_samples),
            significant(one.samples_per_s),
            Cell(words.stage(one.limiting), stage=one.limiting),
            si(one.reads_bytes_per_s, "B/s"),
            duration(one.pass_s),
            _added(one),
            _from_drives(one),
        )
        for one in found
    ]
    heads = columns(
        ("Workload", "left", 17),
        ("Samples", "right", 12),
        ("A second", "right", 11),
        ("Bound by", "left", 17),
        ("Reads", "right", 11),
        ("A pass", "right", 10),
        ("Of the time", "right", 10),
        ("A second, local drives", "right", 12),
    )
    note = "Nothing is read from a cache."
    if any(one.every_is_assumed for one in found):
        note += " " + "Without a recipe a pass after every epoch is assumed."
    return Table("validation-passes", "Validation beside training", heads, tuple(rows), note)


def _added(one: Validation) -> Cell:
    return Cell("") if one.share is None else _share(one.share, is_bound=False)


def _from_drives(one: Validation) -> Cell:
    if one.local_samples_per_s is None:
        return Cell("")
    return _not_known() if one.drives_are_bound else Cell(significant(one.local_samples_per_s))


def copies_table(found: Sequence[LocalCopy]) -> Table | None:
    """Copying to local drives against shared storage; None where there is nothing to compare, or no copy fits."""
    rows: list[Row] = []
    for one in found:
        if one.fits is False:
            continue
        usable = _not_known() if np.isnan(one.usable_bytes) else Cell(si(one.usable_bytes, "B"))
        if len(found) > 1:
            rows.append(row(one.workload, kind="group"))
        rows += _copy_rows(one, usable)
    if not rows:
        return None
    heads = columns(("Shared storage", "left", 26), ("", "right", 22), ("Local drives", "left", 30), ("", "right", 22))
    return Table("local-copies", "Copying the data to the servers' own drives first", heads, tuple(rows))


def _copy_rows(one: LocalCopy, usable: Cell) -> list[Row]:
    fewer = f"with {grouped(one.nodes_for_data)} nodes, enough for the data" if one.saved_nodes else ""
    return [
        row("Copy to each server", si(one.copy_bytes, "B"), "usable there", usable),
        row(
            "Time to copy",
            _bounded(one.copy_s, one.storage_is_bound),
            fewer,
            duration(one.copy_with_fewer_s) if fewer else "",
        ),
        row(
            "First epoch",
            duration(one.first_shared_s),
            "first epoch",
            _bounded(one.first_local_s, one.drives_are_bound),
        ),
        row("Later epochs", duration(one.shared_s), "later epochs", _bounded(one.local_s, one.drives_are_bound)),
        row(
            "Copy is ahead after",
            break_even_text(one),
            "storage nodes for reads alone",
            grouped(one.saved_nodes),
            kind="strong",
        ),
    ]


def break_even_text(one: LocalCopy) -> str:
    """First number of epochs at which the copy is ahead."""
    if np.isinf(one.break_even_epoch):
        return "no number of epochs"
    count = words.plural(int(one.break_even_epoch), "epoch")
    return f"{count} at the earliest" if one.drives_are_bound else count


def copy_text(one: LocalCopy) -> str:
    """Whether copying first pays, and why."""
    size = si(one.copy_bytes, "B")
    if one.fits is False:
        return (
            f"{one.workload}: each server would need a copy of {size}; its drives hold "
            f"{si(one.usable_bytes, 'B')}. The data stay on the storage."
        )
    parts = [_copy_verdict(one)]
    if one.fits is None:
        parts.append(f"Whether {size} fit the drives of a server is not published.")
    if one.drives_are_bound:
        parts.append("No source gives the rate of these drives; slower ones bring the break-even later, or never.")
    if one.storage_is_bound:
        parts.append("No source gives the read rate of the storage; the line rate of its ports stands in for it.")
    if one.saved_nodes:
        parts.append(
            f"Were every epoch read locally, {words.plural(one.nodes_for_data, 'storage node')} would "
            f"hold the data, and the copy would take {duration(one.copy_with_fewer_s)}."
        )
    return " ".join(parts)


def _copy_verdict(one: LocalCopy) -> str:
    copy = duration(one.copy_s)
    if np.isinf(one.break_even_epoch):
        if one.local_s > one.shared_s * (1 + _ALIKE):
            return (
                f"{one.workload}: copying first never pays: an epoch takes {duration(one.local_s)} from "
                f"local drives and {duration(one.shared_s)} from the storage."
            )
        return (
            f"{one.workload}: copying first ({copy}) never pays: later epochs from the storage are as "
            "fast as from the drives."
        )
    text = (
        f"{one.workload}: the copy takes {copy} and is regained after "
        f"{words.plural(int(one.break_even_epoch), 'epoch')}: {duration(one.local_s)} instead of "
        f"{duration(one.shared_s)} each."
    )
    if one.pays is None or one.epochs is None:
        return text
    length = plain(round(one.epochs, 1))
    if one.pays:
        return f"{text} " + f"The training has {length} epochs, so it pays."
    return f"{text} " + f"The training has {length} epochs, so it does not pay."


def taken_table(taken: Sequence[AssumptionRow]) -> Table | None:
    """What these numbers take for granted; None where nothing is."""
    if not taken:
        return None
    rows = tuple(row(one.what, one.value, Cell(one.note, (one.source,) if one.source else ())) for one in taken)
    heads = columns(("Assumed", "left", 30), ("Value", "left", 26), ("Why", "left", 44))
    return Table("data-assumed", "Taken for granted about the data", heads, rows)
