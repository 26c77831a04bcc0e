"""Tables and sentences about the data of a design: what must fit, how it gets in, what is done beside training."""

from collections.abc import Sequence

import numpy as np

from sizer.base.language import tr, translated
from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.report import words
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.sizing.data_plan import LITTLE_LOST, Checkpoint, DataPlan, Decoded, Transform, Validation
from sizer.sizing.ingest import Fill, Ingest
from sizer.sizing.local_copy import LocalCopy
from sizer.sizing.result import Assumption

# Epochs that are as good as the same.
_ALIKE = 0.005


def account_table(plan: DataPlan) -> Table:
    """What must fit, part by part, against what is usable."""
    held = plan.held
    rows = [
        row(one.name, si(one.size_bytes, "B"), tr("{n} samples of {size}", n=significant(one.n_samples),
            size=si(one.sample_bytes, "B")))
        for one in held.sets
    ]  # fmt: skip
    if held.raw_bytes:
        rows.append(row(tr("The same, raw"), si(held.raw_bytes, "B"), tr("kept beside what it is transformed to")))
    if held.snapshots_bytes:
        share = words.percent(held.snapshot_share)
        rows.append(row(tr("Snapshots"), si(held.snapshots_bytes, "B"), tr("{share} of the data", share=share)))
    if held.reserve_bytes:
        share = words.percent(held.reserve_share)
        rows.append(
            row(tr("Reserve"), si(held.reserve_bytes, "B"), tr("{share} of the data, for data to come", share=share))
        )
    if plan.checkpoints:
        kept = tr("{n} of each training", n=grouped(plan.checkpoints[0].kept))
        rows.append(row(tr("Checkpoints"), si(held.checkpoints_bytes, "B"), kept))
    rows.append(row(tr("Must fit"), si(held.total_bytes, "B"), "", kind="total"))
    where = tr("on the drives of each server") if plan.is_per_server else tr("on the storage")
    if np.isnan(plan.usable_bytes):
        rows.append(row(tr("Usable"), Cell(translated(words.NOT_PUBLISHED)), where))
    else:
        left = plan.free_bytes / plan.usable_bytes
        rows.append(row(tr("Usable"), si(plan.usable_bytes, "B"), where))
        rows.append(
            row(tr("Free beyond that"), si(plan.free_bytes, "B"), tr("{share} of it", share=words.percent(left)))
        )
    heads = columns((tr("What"), "left", 38), (tr("Size"), "right", 18), (tr("How"), "left", 44))
    return Table("data-account", tr("What must fit, and what is usable"), heads, tuple(rows))


def ways_table(found: Ingest) -> Table | None:
    """Every way into the storage with its links; None where the design has none."""
    if not found.fills:
        return None
    rows = [_way_row(fill, fill is found.chosen) for fill in found.fills]
    heads = columns(
        (tr("Way"), "left", 24),
        (tr("Links and their rates"), "left", 44),
        (tr("At least"), "right", 14),
        (tr("At the published write rate"), "right", 18),
    )
    size = si(found.fills[0].data_bytes, "B")
    caption = tr("Time to bring in {size}, by each way that the design has", size=size)
    return Table("ingest", caption, heads, tuple(rows), _write_note(found.fills[0]))


def _write_note(fill: Fill) -> str:
    if fill.write is None:
        return tr("No source gives a write rate of this storage: the times are what the links allow at best.")
    return tr(
        "The only published write rate is {rate}; nodes or files of that test are not stated in full. Between it and "
        "the links lies what the storage will do.",
        rate=si(fill.write.bytes_per_s, "B/s"),
    )


def _way_row(fill: Fill, is_chosen: bool) -> Row:
    links = "; ".join(_link_text(link.name, link.data_bytes_per_s) for link in fill.links)
    least, published = fill.least_s, fill.published_s
    name = tr("{way} (this plan)", way=fill.way.name) if is_chosen else fill.way.name
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
    return Cell(translated(words.NOT_PUBLISHED))


def fill_text(found: Ingest) -> str:
    """How long the chosen way takes, and what bounds it."""
    chosen = found.chosen
    if chosen is None:
        return tr("No way into the storage is part of this plan: say how the data reach it.")
    size = si(chosen.data_bytes, "B")
    least, published = chosen.least_s, chosen.published_s
    if least is None and published is None:
        text = tr("How long {size} take is not known: neither link nor write rate is published.", size=size)
    elif least is None or (published is not None and published > least):
        assert published is not None
        text = tr(
            "{way}, {size} take {time} at the only published write rate",
            way=chosen.way.name,
            size=size,
            time=duration(published),
        )
        text += tr("; the links alone would allow {time}.", time=duration(least)) if least is not None else "."
    else:
        assert chosen.slowest is not None
        text = tr(
            "{way}, {size} take at least {time}; the slowest link is {link}.",
            way=chosen.way.name,
            size=size,
            time=duration(least),
            link=_link_text(chosen.slowest.name, chosen.slowest.data_bytes_per_s),
        )
    return " ".join([text, *_fill_remarks(found)])


def _fill_remarks(found: Ingest) -> list[str]:
    remarks = []
    if found.missing is not None:
        remarks.append(tr("The way asked for, {way}, is not part of this design.", way=words.name(found.missing)))
    if found.n_files:
        remarks.append(
            tr(
                "They are {n} single files, and no source gives a rate in files a second: measure it, or pack them "
                "into records first.",
                n=significant(found.n_files),
            )
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
        (tr("Training"), "left", 26), (tr("Size"), "right", 13), (tr("Every"), "right", 12),
        (tr("Takes"), "right", 17), (tr("Of the time"), "right", 15),
        (tr("Rate that costs {share}", share=words.percent(LITTLE_LOST)), "right", 17),
    )  # fmt: skip
    note = tr("Training is taken to wait for the writing; a framework that writes beside it loses less.")
    return Table("checkpoints", tr("Checkpoints"), heads, tuple(rows), note)


def _bounded(seconds: float | None, is_bound: bool) -> Cell:
    if seconds is None:
        return _not_known()
    return Cell(tr("at least {time}", time=duration(seconds)) if is_bound else duration(seconds))


def _share(fraction: float, is_bound: bool) -> Cell:
    # A share of a ten-thousandth is nothing to print digits of.
    text = words.percent(fraction) if fraction >= 1e-3 else tr("under {share}", share=words.percent(1e-3))
    return Cell(tr("at least {share}", share=text) if is_bound and fraction >= 1e-3 else text)


def transform_text(found: Transform) -> str:
    """What transforming all data ahead takes of the processors."""
    text = tr(
        "Transforming {n} samples ahead of training takes {hours} core-hours ({time} core-ms a sample)",
        n=significant(found.n_samples),
        hours=significant(found.core_hours),
        time=significant(found.core_s_per_sample * 1e3),
    )
    if found.cpu_s is None or found.cores is None:
        return f"{text}."
    return text + tr(
        ", {time} on the {cores} cores of the GPU servers while nothing trains; {raw} become {prepared}.",
        time=duration(found.cpu_s),
        cores=grouped(found.cores),
        raw=si(found.raw_bytes, "B"),
        prepared=si(found.prepared_bytes, "B"),
    )


def decoded_table(found: Sequence[Decoded]) -> Table | None:
    """What storing decoded tensors would take and save; None where everything is decoded already."""
    if not found:
        return None
    rows = [
        row(
            one.workload,
            tr("{times} times", times=significant(one.size_ratio)),
            si(one.dataset_bytes, "B"),
            si(one.reads_bytes_per_s, "B/s"),
            significant(one.cores_saved_per_gpu),
        )
        for one in found
    ]
    heads = columns(
        (tr("Workload"), "left", 28), (tr("Size of a sample"), "right", 17), (tr("Whole set"), "right", 17),
        (tr("Reads without a cache"), "right", 20), (tr("Cores saved a GPU"), "right", 18),
    )  # fmt: skip
    note = tr("Tensors are cut once: random crops of the whole picture are no longer possible.")
    return Table("decoded", tr("Were decoded tensors stored instead"), heads, tuple(rows), note)


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
        (tr("Workload"), "left", 17), (tr("Samples"), "right", 12), (tr("A second"), "right", 11),
        (tr("Bound by"), "left", 17), (tr("Reads"), "right", 11), (tr("A pass"), "right", 10),
        (tr("Of the time"), "right", 10), (tr("A second, local drives"), "right", 12),
    )  # fmt: skip
    note = tr("Nothing is read from a cache.")
    if any(one.every_is_assumed for one in found):
        note += " " + tr("Without a recipe a pass after every epoch is assumed.")
    return Table("validation-passes", tr("Validation beside training"), heads, tuple(rows), note)


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
    heads = columns(
        (tr("Shared storage"), "left", 26), ("", "right", 22), (tr("Local drives"), "left", 30), ("", "right", 22)
    )
    return Table("local-copies", tr("Copying the data to the servers' own drives first"), heads, tuple(rows))


def _copy_rows(one: LocalCopy, usable: Cell) -> list[Row]:
    fewer = tr("with {n} nodes, enough for the data", n=grouped(one.nodes_for_data)) if one.saved_nodes else ""
    return [
        row(tr("Copy to each server"), si(one.copy_bytes, "B"), tr("usable there"), usable),
        row(
            tr("Time to copy"),
            _bounded(one.copy_s, one.storage_is_bound),
            fewer,
            duration(one.copy_with_fewer_s) if fewer else "",
        ),
        row(
            tr("First epoch"),
            duration(one.first_shared_s),
            tr("first epoch"),
            _bounded(one.first_local_s, one.drives_are_bound),
        ),
        row(
            tr("Later epochs"), duration(one.shared_s), tr("later epochs"), _bounded(one.local_s, one.drives_are_bound)
        ),
        row(
            tr("Copy is ahead after"),
            break_even_text(one),
            tr("storage nodes for reads alone"),
            grouped(one.saved_nodes),
            kind="strong",
        ),
    ]


def break_even_text(one: LocalCopy) -> str:
    """First number of epochs at which the copy is ahead."""
    if np.isinf(one.break_even_epoch):
        return tr("no number of epochs")
    count = words.plural(int(one.break_even_epoch), "epoch")
    return tr("{epochs} at the earliest", epochs=count) if one.drives_are_bound else count


def copy_text(one: LocalCopy) -> str:
    """Whether copying first pays, and why."""
    size = si(one.copy_bytes, "B")
    if one.fits is False:
        return tr(
            "{name}: each server would need a copy of {size}; its drives hold {usable}. The data stay on the storage.",
            name=one.workload,
            size=size,
            usable=si(one.usable_bytes, "B"),
        )
    parts = [_copy_verdict(one)]
    if one.fits is None:
        parts.append(tr("Whether {size} fit the drives of a server is not published.", size=size))
    if one.drives_are_bound:
        parts.append(tr("No source gives the rate of these drives; slower ones bring the break-even later, or never."))
    if one.storage_is_bound:
        parts.append(tr("No source gives the read rate of the storage; the line rate of its ports stands in for it."))
    if one.saved_nodes:
        parts.append(
            tr(
                "Were every epoch read locally, {n} would hold the data, and the copy would take {time}.",
                n=words.plural(one.nodes_for_data, "storage node"),
                time=duration(one.copy_with_fewer_s),
            )
        )
    return " ".join(parts)


def _copy_verdict(one: LocalCopy) -> str:
    copy = duration(one.copy_s)
    if np.isinf(one.break_even_epoch):
        if one.local_s > one.shared_s * (1 + _ALIKE):
            return tr(
                "{name}: copying first never pays: an epoch takes {local} from local drives and {shared} from the "
                "storage.",
                name=one.workload, local=duration(one.local_s), shared=duration(one.shared_s),
            )  # fmt: skip
        return tr(
            "{name}: copying first ({copy}) never pays: later epochs from the storage are as fast as from the drives.",
            name=one.workload, copy=copy,
        )  # fmt: skip
    text = tr(
        "{name}: the copy takes {copy} and is regained after {epochs}: {local} instead of {shared} each.",
        name=one.workload, copy=copy, epochs=words.plural(int(one.break_even_epoch), "epoch"),
        local=duration(one.local_s), shared=duration(one.shared_s),
    )  # fmt: skip
    if one.pays is None or one.epochs is None:
        return text
    length = plain(round(one.epochs, 1))
    if one.pays:
        return f"{text} " + tr("The training has {n} epochs, so it pays.", n=length)
    return f"{text} " + tr("The training has {n} epochs, so it does not pay.", n=length)


def taken_table(taken: Sequence[Assumption]) -> Table | None:
    """What these numbers take for granted; None where nothing is."""
    if not taken:
        return None
    rows = tuple(row(one.what, one.value, Cell(one.note, (one.source,) if one.source else ())) for one in taken)
    heads = columns((tr("Assumed"), "left", 30), (tr("Value"), "left", 26), (tr("Why"), "left", 44))
    return Table("data-assumed", tr("Taken for granted about the data"), heads, rows)
