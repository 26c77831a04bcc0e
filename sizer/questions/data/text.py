"""Where the data is, what it needs and how it arrives, as tables, in sentences and as plain text."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import by_count, duration, grouped, plain, si, significant, tokens_text
from sizer.catalog.labels import with_vendor
from sizer.perf.storage import lost_fraction
from sizer.present import words
from sizer.present.availability import checkpoint_tables
from sizer.present.design_summary import tier_fields
from sizer.present.facts.storage_tiers import TIER_CONTENTS, system_text, tier_label, usable_text
from sizer.present.tables import WIDTH, Cell, Field, Row, Table, clean, fact_table, record_table, row, table_text
from sizer.present.text.assumptions import AssumptionRow
from sizer.questions.data.analysis import (
    DataPlan,
    IngestEntry,
    IngestLink,
    IngestLinkRole,
    IngestPlan,
    IngestRoute,
    LocalCopy,
    StorageQuestion,
    Transform,
    ValidationPass,
)
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.checkpoints import CheckpointedJob
from sizer.workload.language import ASSUMED_LENGTH
from sizer.workload.serving import WEIGHTS_OF

ENTRY_NAMES = {
    IngestEntry.SERVER_PORTS: "Through ports of the servers",
    IngestEntry.CUSTOMER_LAN: "Over the customer's LAN",
    IngestEntry.FRONT_END: "Through the front end of the storage",
    IngestEntry.FREE_FRONT_END: "Through the front end of the storage",
    IngestEntry.GATEWAY: "Through the gateway",
    IngestEntry.HEAD_NODE: "Through the head node",
    IngestEntry.GPU_SERVER: "Through the GPU server",
}
_ENTRY_NOTES = {
    IngestEntry.SERVER_PORTS: "every server gets a copy",
    IngestEntry.CUSTOMER_LAN: "the storage belongs to the customer; its links are out of scope",
    IngestEntry.FREE_FRONT_END: "ports that the gateway does not use",
    IngestEntry.GATEWAY: "bypasses the head node",
}


# --- capacity


def required_capacity_table(plan: DataPlan) -> Table:
    """Required capacity, part by part, compared with the usable capacity."""
    return fact_table(
        "data-account",
        "Required and usable capacity",
        _capacity_rows(plan),
        titles=("Item", "Size", "Basis"),
        widths=(38, 18, 44),
        aligns=("left", "right", "left"),
        style="",
    )


def _capacity_rows(plan: DataPlan) -> Iterator[tuple[str, str | Cell, str] | Row]:
    required = plan.required
    for data_set in required.sets:
        size = si(data_set.sample_bytes, "B")
        is_named = data_set.name.removesuffix(ASSUMED_LENGTH) == tokens_text(data_set.n_samples)
        samples = f"{size} a token" if is_named else f"{significant(data_set.n_samples)} samples of {size}"
        if data_set.name.startswith(WEIGHTS_OF):
            samples = "three versions of the model"
        yield data_set.name, si(data_set.size_bytes, "B"), samples
    if required.raw_bytes:
        yield "Raw data", si(required.raw_bytes, "B"), "stored in addition to the prepared data"
    if required.snapshots_bytes:
        yield (
            "Snapshots",
            si(required.snapshots_bytes, "B"),
            f"{words.percent(required.snapshot_share)} of the data of today",
        )
    if required.reserve_bytes:
        share = f"{words.percent(required.reserve_share)} of the data, for growth"
        yield "Reserve", si(required.reserve_bytes, "B"), share
    if required.checkpoints_bytes:
        count = f"{grouped(required.n_retained)} of each training, {si(required.checkpoint_bytes, 'B')} for one of each"
        if required.frozen_bytes:
            count = f"{count}; frozen weights, {si(required.frozen_bytes, 'B')}, once"
        yield "Checkpoints", si(required.checkpoints_bytes, "B"), count
    if required.is_minimum:
        yield "Stored data", si(required.stored_bytes, "B"), ""
        yield "Minimum capacity", si(required.minimum_bytes, "B"), "requested, whatever is stored"
    yield row("Required capacity", si(required.total_bytes, "B"), "", kind="total")
    for tier in plan.design.tiers:
        place = "on the drives of each server" if _is_per_server(plan) else "on the storage"
        if len(plan.design.tiers) > 1:
            place = f"on {system_text(tier)}"
            content = TIER_CONTENTS[tier.content]
            yield tier_label(tier, "Required capacity"), si(tier.required_bytes, "B"), content
        yield tier_label(tier, "Usable capacity"), Cell(usable_text(tier)), place
        if tier.usable_bytes > 0:
            share = f"{words.percent(tier.free_bytes / tier.usable_bytes)} of the usable capacity"
            yield tier_label(tier, "Headroom"), si(tier.free_bytes, "B"), share


def _is_per_server(plan: DataPlan) -> bool:
    """Whether the drives of each server hold the data."""
    return plan.design.platform.storage.kind == "local"


# --- ingest


def routes_table(ingest: IngestPlan) -> Table | None:
    """Every route into the storage with its links; None if the design has none."""
    if not ingest.routes:
        return None
    first = ingest.routes[0]
    if first.write is None:
        note = "No test of the write rate of this storage is published: the times are lower bounds."
    else:
        note = (
            f"The only published write rate is {si(first.write.bytes_per_s, 'B/s')}, from a test whose nodes or files "
            "are not fully stated. The expected rate is between this and the rate of the links."
        )
    return record_table(
        "ingest",
        f"Time to ingest {si(first.data_bytes, 'B')}, by route",
        ingest.routes,
        [
            Field("Route", lambda route: _route_name(route, ingest), "left", 24),
            Field("Links and their rates", _links_cell, "left", 44),
            Field("At least", lambda route: _time_cell(route.least_s), "right", 14),
            Field("At the tested write rate", _published_cell, "right", 18),
        ],
        kind=lambda route: "strong" if route is ingest.chosen else "",
        note=note,
    )


def _route_name(route: IngestRoute, ingest: IngestPlan) -> str:
    name = ENTRY_NAMES[route.entry]
    return f"{name} (this plan)" if route is ingest.chosen else name


def _links_cell(route: IngestRoute) -> Cell:
    texts = [*map(link_text, route.links), _ENTRY_NOTES.get(route.entry, "")]
    cites = tuple(dict.fromkeys(link.source for link in route.links if link.source))
    return Cell(words.capital("; ".join(filter(None, texts))), cites)


def link_text(link: IngestLink) -> str:
    """A link with its rate: '4 ports of the storage, 40 GbE each, 20.0 GB/s'."""
    return f"{link_name(link)}, {si(link.data_bytes_per_s, 'B/s')}"


def link_name(link: IngestLink) -> str:
    """A link without its rate: '4 ports of the storage, 40 GbE each'."""
    kind = "" if link.port_kind is None else link.port_kind.name
    count = link.n_ports
    by_others = " (cable provided by others)" if link.is_by_others else ""
    storage_ports = by_count(count, f"{grouped(count)} port of the storage", f"{grouped(count)} ports of the storage")
    return {
        IngestLinkRole.CUSTOMER_SOURCE: "the customer's source, as stated",
        IngestLinkRole.PUBLISHED_WRITES: "writes of a published test",
        IngestLinkRole.MOST_WRITES: "writes of the storage, at most",
        IngestLinkRole.SERVER_PORT: f"one port of each server, {kind}{by_others}",
        IngestLinkRole.STORAGE_PORTS: f"{storage_ports}, {kind}{' each' if count > 1 else ''}",
        IngestLinkRole.STORAGE_LINE: "ports of the storage",
        IngestLinkRole.PORTS_BEHIND_GATEWAY: f"{storage_ports} behind it",
        IngestLinkRole.GATEWAY_PORTS: by_count(
            count, f"{grouped(count)} free port of the gateway", f"{grouped(count)} free ports of the gateway"
        ),
        IngestLinkRole.GATEWAY_UPLINKS: "uplinks of the gateway",
        IngestLinkRole.SWITCH_PORTS: by_count(
            count,
            f"one free port of its switches, {kind}{by_others}",
            f"{grouped(count)} free ports of its switches, {kind} each{by_others}",
        ),
        IngestLinkRole.HOST_PORT: f"one external port, {kind}{by_others}",
        IngestLinkRole.STORAGE_NETWORK_PORT: f"one port on the storage network, {kind}",
        IngestLinkRole.FABRIC_PORT: f"one port on the compute fabric, {kind}",
    }[link.role]


def _published_cell(route: IngestRoute) -> Cell:
    return _time_cell(route.published_s, () if route.write is None else (route.write.source,))


def _time_cell(seconds: float | None, cites: tuple[str, ...] = ()) -> Cell:
    return Cell(words.NOT_PUBLISHED) if seconds is None else Cell(duration(seconds), cites)


# --- other uses of the data


def _share_cell(fraction: float) -> Cell:
    if fraction < 1e-3:
        return Cell(f"under {words.percent(1e-3)}")
    return Cell(words.percent(fraction))


def validation_table(validations: Sequence[ValidationPass]) -> Table | None:
    """Passes over held-out samples: rate, reads, duration, and the rate from local drives; None if there are none."""
    if not validations:
        return None
    note = "Without any cache."
    if any(validation.every_is_assumed for validation in validations):
        note += " Without a recipe, one pass after every epoch is assumed."
    return record_table(
        "validation-passes",
        "Validation passes",
        validations,
        [
            Field("Workload", lambda validation: validation.workload, "left", 17),
            Field("Samples", lambda validation: grouped(validation.n_samples), "right", 12),
            Field("Samples/s", lambda validation: significant(validation.samples_per_s), "right", 11),
            Field("Bottleneck", lambda one: Cell(words.stage(one.limiting), stage=one.limiting), "left", 17),
            Field("Reads", lambda validation: si(validation.reads_bytes_per_s, "B/s"), "right", 11),
            Field("Pass time", lambda validation: duration(validation.pass_s), "right", 10),
            Field("Share of time", lambda one: "" if one.share is None else _share_cell(one.share), "right", 10),
            Field("Samples/s, local drives", _local_rate, "right", 12),
        ],
        note=note,
    )


def _local_rate(validation: ValidationPass) -> Cell:
    if validation.local_samples_per_s is None:
        return Cell("")
    return Cell(words.NOT_PUBLISHED if validation.drives_are_bound else significant(validation.local_samples_per_s))


# --- assumptions


def assumptions(plan: DataPlan) -> Iterator[AssumptionRow]:
    """Assumptions that no statement of the request replaces."""
    if plan.transform is None:
        return
    if plan.transform.raw_size_is_assumed:
        note = "the request states none; raw data take the same capacity again"
        yield AssumptionRow("Raw sample size", "as a prepared sample", "assumed", "", note)
    if plan.transform.cost_is_assumed:
        cost = f"{significant(plan.transform.core_s_per_sample * 1e3)} core-ms per sample"
        note = "decoding and cropping by TensorFlow's loader, as a first estimate; measure yours"
        yield AssumptionRow("Preprocessing cost", cost, "assumed", "dell-isilon-dgx1-blog-2018", note)


def assumptions_table(plan: DataPlan) -> Table | None:
    """Assumptions behind these numbers; None if there are none."""
    records = list(assumptions(plan))
    if not records:
        return None
    return record_table(
        "data-assumed",
        "Assumptions about the data",
        records,
        [
            Field("Assumption", lambda assumption: assumption.what, "left", 30),
            Field("Value", lambda assumption: assumption.value, "left", 26),
            Field("Reason", lambda one: Cell(one.note, tuple(filter(None, [one.source]))), "left", 44),
        ],
    )


# Share of the time for checkpoints that is negligible: a choice of ours.
_LITTLE_LOSS = 0.01
# Epochs whose times differ by less count as equally fast.
_EQUALLY_FAST = 0.005
# Ports of this rate fill a storage of terabytes in days where faster adapters take hours. [Gbit/s]
_SLOW_GBIT_PER_S = 1.0
# Larger files are written at the rate of the links, not at that of opening them.
_SMALL_FILE_BYTES = 50e6
_QUESTIONS = {
    StorageQuestion.DRIVE_WRITE_RATE: "sustained write rate of the drives",
    StorageQuestion.WRITE_RATE: "sustained write rate, for one client and for all together",
    StorageQuestion.WRITE_RATE_BY_SCALE: "write rate by number of nodes and clients, each with its own files",
    StorageQuestion.FILE_CREATION_RATE: "file creation rate, for data sets of single files",
}


def data_document(design: str, plan: DataPlan) -> dict[str, Any]:
    """Everything about the data; the epoch of a break-even that never comes is null."""
    required, ingest = plan.required, plan.ingest
    return json_document(
        "data",
        **fields_of(plan, "validations"),
        design=design,
        assumptions=list(assumptions(plan)),
        questions=questions(plan),
        checkpoints=[
            _checkpoint(plan, answer, answer.job)
            for answer in plan.design.workloads
            if answer.job is not None and answer.job.checkpoints.is_asked
        ],
        transform=None if plan.transform is None else _transform(plan.transform),
        capacity={
            **fields_of(required, "raw_bytes", "snapshots_bytes", "reserve_bytes", "checkpoints_bytes"),
            **fields_of(plan.design.tiers[-1], "usable_bytes", "free_bytes"),
            "is_per_server": _is_per_server(plan),
            "tiers": [tier_fields(tier) for tier in plan.design.tiers],
            "sets": [fields_of(data_set, "name", "size_bytes", "n_samples") for data_set in required.sets],
            "minimum_bytes": required.minimum_bytes,
            "must_fit_bytes": required.total_bytes,
        },
        ingest=fields_of(
            ingest,
            *("missing", "n_files"),
            chosen=None if ingest.chosen is None else ingest.chosen.key,
            ways=[_route(route) for route in ingest.routes],
        ),
        # The drives are a part of the catalogue: their id names them.
        local_copies=[
            {**fields_of(copy, *vars(copy), "fits", "pays", "saved_nodes"), "drives": copy.drives.id}
            for copy in plan.copies
        ],
    )


def _checkpoint(plan: DataPlan, answer: WorkloadAnswer, job: CheckpointedJob) -> dict[str, object]:
    kept, every_s = checkpoint_storage(plan.design, job), job.plan.interval_s + job.plan.blocked_s
    is_known = isfinite(kept.write_s)
    return {
        "workload": answer.workload.name,
        "size_bytes": kept.written_bytes,
        "every_s": every_s,
        "kept": plan.required.n_retained,
        "write_bytes_per_s": kept.write_bytes_per_s[0] if is_known else None,
        "rate_is_bound": not kept.write_is_published,
        "write_s": kept.write_s if is_known else None,
        # Of the time, if training waits for the writing; and the rate at which little of it is lost.
        "lost_fraction": float(lost_fraction(kept.write_s, every_s)) if is_known else None,
        "little_lost_bytes_per_s": kept.written_bytes / (_LITTLE_LOSS * every_s),
    }


def _transform(transform: Transform) -> dict[str, object]:
    return fields_of(
        transform,
        *("n_samples", "core_s_per_sample", "core_hours", "cores", "cpu_s", "raw_bytes", "prepared_bytes"),
        is_assumed=transform.cost_is_assumed,
    )


def _route(route: IngestRoute) -> dict[str, object]:
    return fields_of(
        route,
        *("key", "data_bytes", "least_s", "published_s"),
        name=ENTRY_NAMES[route.entry],
        links=[
            fields_of(link, "bytes_per_s", "copies", "source", "is_by_others", name=link_name(link))
            for link in route.links
        ],
        write_bytes_per_s=None if route.write is None else route.write.bytes_per_s,
    )


def data_text(title: str, design: str, plan: DataPlan) -> str:
    """Capacity, ingest, checkpoints, preprocessing, validation, local copies, assumptions, and vendor questions."""
    title = clean(title)
    parts = [f"{title}\n{'=' * min(len(title), WIDTH)}\n{clean(design)}", table_text(required_capacity_table(plan))]
    tables = (
        routes_table(plan.ingest),
        *checkpoint_tables(plan.design),
        validation_table(plan.validations),
        assumptions_table(plan),
    )
    sentences = [ingest_text(plan.ingest), *map(copy_text, plan.copies)]
    if plan.transform is not None:
        sentences.insert(1, transform_text(plan.transform))
    parts.append("\n".join(map(clean, sentences)))
    parts += [table_text(table) for table in tables if table is not None]
    parts.append("\n".join(["To ask the vendor", *(f"- {clean(question)}" for question in questions(plan))]))
    return "\n\n".join(parts)


def questions(plan: DataPlan) -> list[str]:
    """Questions to the vendor of the storage."""
    return [f"{with_vendor(plan.design.platform.storage)}: {_QUESTIONS[question]}" for question in plan.questions]


def ingest_text(ingest: IngestPlan) -> str:
    """Time of the chosen route, its bottleneck and cautions."""
    return " ".join([_ingest_time(ingest), *_ingest_cautions(ingest)])


def _ingest_time(ingest: IngestPlan) -> str:
    route = ingest.chosen
    if route is None:
        return "This plan has no route into the storage: state how the data reach it."
    size, name = si(route.data_bytes, "B"), ENTRY_NAMES[route.entry]
    least, published = route.least_s, route.published_s
    if published is not None and (least is None or published > least):
        bound = "" if least is None else f" The links alone allow {duration(least)}."
        return f"{name}, {size} take {duration(published)} at the only published write rate.{bound}"
    if least is None:
        return f"The time to ingest {size} is not known: neither link rates nor write rates are published."
    assert route.slowest is not None  # there is a time because a link has a rate
    if route.most_s is not None and route.most_s > least:
        return f"{name}, {size} take {_assumed(least, route.most_s)}."
    return f"{name}, {size} take at least {duration(least)}. Bottleneck: {link_text(route.slowest)}."


def _assumed(least_s: float, most_s: float) -> str:
    """A time that a write rate decides which no source gives."""
    return (
        f"{duration(least_s)} to {duration(most_s)}: no write rate of the storage is known to us, a quarter "
        "to a half of its read rate is assumed"
    )


def filling_text(ingest: IngestPlan) -> str:
    """How long the storage takes to fill, in one sentence without the route."""
    route = ingest.chosen
    if route is None or (route.least_s is None and route.published_s is None):
        return _ingest_time(ingest)
    size, least, published = si(route.data_bytes, "B"), route.least_s, route.published_s
    if least is not None and published is None and route.most_s is not None and route.most_s > least:
        return f"Filling the storage with {size} takes {_assumed(least, route.most_s)}."
    if least is not None and published in (None, least):
        return f"Filling the storage with {size} takes at least {duration(least)}."
    assert published is not None  # one of the two is known
    if least is None:
        return f"Filling the storage with {size} takes {duration(published)} at the only published write rate."
    return (
        f"Filling the storage with {size} takes {duration(published)} at the only published write rate of the storage; "
        f"the links alone would allow {duration(least)}."
    )


def _ingest_cautions(ingest: IngestPlan) -> Iterator[str]:
    if ingest.missing is not None:
        yield f"This design does not have the requested route, {words.name(ingest.missing)}."
    route = ingest.chosen
    slowest = None if route is None else route.slowest
    kind = None if slowest is None else slowest.port_kind
    if kind is not None and kind.gbit_per_s.value <= _SLOW_GBIT_PER_S:
        yield f"A faster adapter in place of the {kind.name} port shortens this."
    if ingest.n_files and (route is None or route.data_bytes < _SMALL_FILE_BYTES * ingest.n_files):
        yield (
            f"The data are {significant(ingest.n_files)} single files, and no rate in files per second is "
            "known to us. Measure it, or pack the files into records first."
        )


def transform_text(transform: Transform) -> str:
    """Processor time to preprocess all data before training."""
    text = (
        f"Preprocessing {significant(transform.n_samples)} samples before training takes "
        f"{significant(transform.core_hours)} core-hours ({significant(transform.core_s_per_sample * 1e3)} core-ms per "
        "sample)"
    )
    if transform.cpu_s is None or transform.cores is None:
        return f"{text}."
    return (
        f"{text}, or {duration(transform.cpu_s)} on the {grouped(transform.cores)} cores of the idle GPU servers. "
        f"{si(transform.raw_bytes, 'B')} become {si(transform.prepared_bytes, 'B')}."
    )


def copy_text(copy: LocalCopy) -> str:
    """Whether copying first saves time, and why."""
    size = si(copy.copy_bytes, "B")
    if copy.fits is False:
        return (
            f"{copy.workload}: a copy of {size} does not fit the {si(copy.usable_bytes, 'B')} of local drives in each "
            "server. The data stay on the storage."
        )
    return " ".join([f"{copy.workload}: {_copy_verdict(copy)}", *_copy_cautions(copy)])


def _copy_verdict(copy: LocalCopy) -> str:
    copy_time, local, shared = duration(copy.copy_s), duration(copy.local_s), duration(copy.shared_s)
    if np.isinf(copy.break_even_epoch):
        if copy.local_s > copy.shared_s * (1 + _EQUALLY_FAST):
            return (
                f"copying first is never faster. An epoch takes {local} from local drives, {shared} from the storage."
            )
        return f"copying first ({copy_time}) is never faster: later epochs take as long from the storage."
    count = int(copy.break_even_epoch)
    text = (
        f"the copy takes {copy_time} and pays off after {words.plural(count, 'epoch')}: {local} per epoch instead of "
        f"{shared}."
    )
    if copy.pays is None or copy.epochs is None:
        return text
    rounded = round(copy.epochs, 1)
    epochs, verb = (
        by_count(rounded, "1 epoch", f"{plain(rounded)} epochs"),
        "pays off" if copy.pays else "does not pay off",
    )
    return f"{text} The training has {epochs}, so it {verb}."


def _copy_cautions(copy: LocalCopy) -> Iterator[str]:
    if copy.fits is None:
        yield f"It is not published whether {si(copy.copy_bytes, 'B')} fit the drives of a server."
    if copy.drives_are_bound:
        yield "Our catalogue has no rate of these drives; with slower drives the break-even comes later or never."
    if copy.storage_is_bound:
        yield "Our catalogue has no read rate of the storage; the line rate of its ports is used instead."
    if copy.saved_nodes:
        nodes = words.plural(copy.nodes_for_data, "storage node")
        hold = by_count(copy.nodes_for_data, "holds", "hold")
        yield (
            f"If every epoch is read locally, {nodes} {hold} the data, and the copy takes "
            f"{duration(copy.copy_with_fewer_s)}."
        )
