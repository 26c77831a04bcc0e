"""The data of a design in sentences, and as plain text for a terminal."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import by_count, duration, grouped, plain, si, significant
from sizer.catalog.labels import with_vendor
from sizer.present import words
from sizer.present.design_summary import tier_fields
from sizer.present.plain_table import WIDTH, clean, table_text
from sizer.questions.data.analysis import Checkpoint, DataPlan, StorageQuestion, Transform
from sizer.questions.data.ingest import IngestLink, IngestPlan, IngestRoute
from sizer.questions.data.local_copy import LocalCopy
from sizer.questions.data.tables import (
    ENTRY_NAMES,
    assumptions,
    assumptions_table,
    checkpoints_table,
    copies_table,
    decoded_table,
    link_name,
    link_text,
    required_capacity_table,
    routes_table,
    validation_table,
)

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
        **fields_of(plan, "decoded", "validations"),
        design=design,
        assumptions=list(assumptions(plan)),
        questions=questions(plan),
        checkpoints=[_checkpoint(checkpoint) for checkpoint in plan.checkpoints],
        transform=None if plan.transform is None else _transform(plan.transform),
        capacity={
            **fields_of(required, "raw_bytes", "snapshots_bytes", "reserve_bytes", "checkpoints_bytes"),
            **fields_of(plan.tiers[-1], "usable_bytes", "free_bytes"),
            "is_per_server": plan.is_per_server,
            "tiers": [tier_fields(tier) for tier in plan.tiers],
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
        local_copies=[_copy(copy) for copy in plan.copies],
    )


def _checkpoint(checkpoint: Checkpoint) -> dict[str, object]:
    return fields_of(
        checkpoint,
        *("workload", "size_bytes", "every_s", "write_bytes_per_s", "rate_is_bound", "write_s", "lost_fraction"),
        kept=checkpoint.n_retained,
        little_lost_bytes_per_s=checkpoint.negligible_loss_bytes_per_s,
    )


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
        links=[_link(link) for link in route.links],
        write_bytes_per_s=None if route.write is None else route.write.bytes_per_s,
    )


def _link(link: IngestLink) -> dict[str, object]:
    return fields_of(link, "bytes_per_s", "copies", "source", "is_by_others", name=link_name(link))


def _copy(copy: LocalCopy) -> dict[str, object]:
    # The drives are a part of the catalogue: their id names them.
    return {**fields_of(copy, *vars(copy), "fits", "pays", "saved_nodes"), "drives": copy.drives.id}


def data_text(title: str, design: str, plan: DataPlan) -> str:
    """Capacity, ingest, checkpoints, preprocessing, validation, local copies, assumptions, and vendor questions."""
    title = clean(title)
    parts = [f"{title}\n{'=' * min(len(title), WIDTH)}\n{clean(design)}", table_text(required_capacity_table(plan))]
    tables = (
        routes_table(plan.ingest),
        checkpoints_table(plan.checkpoints),
        validation_table(plan.validations),
        decoded_table(plan.decoded),
        copies_table(plan.copies),
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
    return [f"{with_vendor(plan.storage)}: {_QUESTIONS[question]}" for question in plan.questions]


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
        f"{duration(least_s)} to {duration(most_s)}: no source gives the write rate of the storage, a quarter "
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
            f"The data are {significant(ingest.n_files)} single files, and no source gives a rate in files per second. "
            "Measure it, or pack the files into records first."
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
        yield "No source gives the rate of these drives; with slower drives the break-even comes later or never."
    if copy.storage_is_bound:
        yield "No source gives the read rate of the storage; the line rate of its ports is used instead."
    if copy.saved_nodes:
        nodes = words.plural(copy.nodes_for_data, "storage node")
        hold = by_count(copy.nodes_for_data, "holds", "hold")
        yield (
            f"If every epoch is read locally, {nodes} {hold} the data, and the copy takes "
            f"{duration(copy.copy_with_fewer_s)}."
        )
