"""Tables of the chapters that open the guide: the answer in numbers, the request, the conditions, the networks."""

import datetime
from collections.abc import Mapping

from sizer.base.language import tr, trn
from sizer.base.quantities import grouped, plain, si
from sizer.catalog.model import Catalog
from sizer.catalog.wording import item_name
from sizer.physical.counted import network_text
from sizer.report import prose, words
from sizer.report.profile import Profile
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.report.team_tables import least_served
from sizer.sizing.result import STAGES, SizingResult, WorkloadAnswer
from sizer.sizing.team import TeamAnswer


def control_table(result: SizingResult, profile: Profile, form: str) -> Table:
    """What identifies this document. ``form`` is what its form is called."""
    request, quote, valid = result.request, result.request.quote, result.design.bill.valid_until
    by = quote.prepared_by or profile.company
    # What nobody said is no row: most guides are printed before there is a quote.
    said = (
        (tr("Quote"), quote.number),
        (tr("Prepared by"), ", ".join(dict.fromkeys(part for part in (by, profile.company, profile.contact) if part))),
        (tr("Valid until"), words.date(valid) if valid else ""),
        (tr("Confidentiality"), profile.confidentiality),
    )
    kind = tr("Reference architecture") if result.needs_cluster else tr("Sizing advice")
    rows = [
        row(tr("Document"), f"{kind}, {form}"),
        row(tr("Prepared for"), quote.prepared_for or request.customer or Cell(tr("not named"), is_muted=True)),
        row(tr("Revision"), _revision(quote.revision or "1", request.date)),
        *(row(label, text) for label, text in said if text),
        row(tr("Status"), tr("budgetary and not binding; performance is projected, not guaranteed")),
        row(tr("Catalogue"), Cell(result.catalog_digest[:16])),
        row(tr("Calibration"), Cell(result.calibration_digest[:16])),
    ]
    note = tr("The same request, catalogue and calibration always print this same document.")
    heads = columns(("", "left", 24), ("", "left", 76))
    return Table("control", tr("Document control"), heads, tuple(rows), note, "plain")


def _revision(number: str, day: datetime.date | None) -> str:
    if day is None:
        return tr("{n}, not dated", n=number)
    return tr("{n} of {date}", n=number, date=words.date(day))


def readers_table(numbers: Mapping[str, str]) -> Table:
    """Which chapters are for whom; ``numbers`` are those of the chapters by their ids."""

    def chapters(*ids: str) -> str:
        return words.listed(numbers[id_] for id_ in ids if id_ in numbers)

    rows = (
        row(
            tr("Who decides and buys"),
            tr("what is proposed, what it costs, how sure it is"),
            chapters("summary", "requirements", "bill", "risks"),
        ),
        row(
            tr("Who plans the architecture"),
            tr("why each part is what it is, and what limits"),
            chapters("overview", "architecture", "network", "storage", "performance", "validation"),
        ),
        row(
            tr("Who builds and runs it"),
            tr("places, cables, addresses, software, tests, spare parts"),
            chapters("network", "software", "facility", "operation", "addresses", "schedule"),
        ),
    )
    heads = columns((tr("Reader"), "left", 26), (tr("Finds"), "left", 50), (tr("In"), "left", 24))
    return Table("readers", tr("Readers"), heads, rows, style="plain")


def numbers_table(result: SizingResult, team: TeamAnswer | None = None, *, is_brief: bool = False) -> Table:
    """The answer in ten numbers, a few more with several workloads or a team; ``is_brief``: one row a workload."""
    design = result.design
    counts = design.quantities
    many = len(design.workloads) > 1
    rows = [
        row(
            words.capital(words.plural_of(design.n_servers, "GPU server")),
            grouped(design.n_servers),
            design.platform.server.name,
        ),
        row(words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus), design.platform.gpu.name),
        row(
            tr("Storage"),
            prose.storage(design)
            if design.storage_nodes
            else tr("at hand")
            if design.platform.attachment == "lan"
            else "1",
            design.platform.storage.name,
        ),
        row(
            tr("Switches and gateways"),
            grouped(prose.switches(design)) if prose.switches(design) else tr("none"),
            tr("all networks"),
        ),
        row(tr("Rack space"), prose.racks(design), ""),
        row(tr("Power, maximum"), prose.power(design), tr("{power} typical", power=prose.power(design, "typical"))),
    ]
    for answer in design.workloads:
        name = answer.workload.name if many else ""
        reached = row(
            tr("Throughput"),
            words.estimate(answer.throughput, words.sample_unit(answer.dnn)),
            name or answer.dnn.name,
        )
        taken = answer.time and row(
            tr("Time to train"), words.estimate(answer.time.total_s, "s"), name or prose.epochs_text(answer)
        )
        limit = row(tr("Limiting stage"), Cell(STAGES[answer.bottleneck], stage=answer.bottleneck), name)
        rows += [taken or reached] if is_brief else [reached, *([taken] if taken else []), limit]
    if team is not None and team.model.case.queue:
        kind = least_served(team.run, team)
        about = tr("{job}, most often late; {asked} asked", job=words.shortened(kind.name),
                   asked=words.percent(team.team.wait_probability))  # fmt: skip
        rows.append(row(tr("Jobs that start in time"), words.percent(kind.share_within), about))
    rows.append(row(prose.price_label(design.bill), prose.price(design.bill), prose.open_prices(design.bill)))
    if counts.unknown_power or counts.unknown_weight:
        missing = len(set(counts.unknown_power) | set(counts.unknown_weight))
        note = tr(
            "“At least” marks totals without the {types} whose value no source gives.",
            types=words.plural(missing, "device type"),
        )
    else:
        note = ""
    return Table(
        "numbers",
        tr("The answer in numbers"),
        columns(("", "left", 24), ("", "left", 32), ("", "left", 44)),
        tuple(rows),
        note,
        "facts",
    )


def requirement_table(answer: WorkloadAnswer, number: int, of: int) -> Table:
    """One workload as the tool understood it."""
    workload = answer.workload
    rows = [
        row(
            tr("Neural network"),
            tr(
                "{dnn}, {task} with {precision}",
                dnn=answer.dnn.name,
                task=words.name(workload.task),
                precision=words.name(workload.precision),
            ),
        ),
        row(
            tr("Software"),
            f"{answer.stack.name}; {words.name(answer.stack.loader)}"
            if answer.stack.loader != "none"
            else answer.stack.name,
        ),
        row(tr("Batch per GPU"), grouped(answer.batch_per_gpu)),
        row(tr("Data set"), prose.dataset_text(answer)),
        row(tr("Format and order"), f"{words.name(answer.dataset.format)}; {words.name(workload.access)}"),
        row(tr("Cache"), words.name(workload.cache)),
        row(tr("Target"), words.sentence(answer.target).rstrip("."), kind="strong"),
    ]
    if answer.time is not None:
        rows.insert(-1, row(tr("Length"), prose.epochs_text(answer)))
    title = (
        tr("Workload {n}: {name}", n=number, name=workload.name)
        if of > 1
        else tr("Workload as understood: {name}", name=workload.name)
    )
    return Table(f"workload-{number}", title, columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="asked")


def conditions_table(result: SizingResult, catalog: Catalog) -> Table:
    """What may be used and what must not be exceeded."""
    request = result.request
    allowed, limits = request.platforms, request.limits
    asked = trn(
        "{share} that the target is met", "{share} that all targets are met together", len(request.workload),
        share=words.percent(request.confidence),
    )  # fmt: skip
    rows = [row(tr("Probability asked"), asked)]

    def names(label: str, ids: tuple[str, ...]) -> None:
        if ids:
            rows.append(row(label, words.listed(item_name(one, catalog) for one in ids)))

    names(tr("Servers allowed"), allowed.servers)
    names(tr("Servers ruled out"), allowed.forbidden_servers)
    names(tr("GPUs allowed"), allowed.gpus)
    names(tr("Storage allowed"), allowed.storage)
    names(tr("Storage ruled out"), allowed.forbidden_storage)
    if allowed.fabrics:
        rows.append(row(tr("Fabrics allowed"), words.listed(words.link_name(kind) for kind in allowed.fabrics)))
    if allowed.gpus_per_server is not None:
        rows.append(row(tr("GPUs of a server in use"), grouped(allowed.gpus_per_server)))
    if limits.budget is not None:
        rows.append(row(tr("Budget"), words.money(words.whole(limits.budget), request.currency)))
    watts = ((tr("Power of a rack, most"), limits.rack_power_w), (tr("Power in all, most"), limits.power_w))
    rows += [row(label, si(value, "W")) for label, value in watts if value is not None]
    counts = (
        (tr("Racks, most"), limits.racks),
        (tr("Rack units, most"), limits.rack_units),
        (tr("Servers, most"), limits.servers),
    )
    rows += [row(label, grouped(count)) for label, count in counts if count is not None]
    existing = {**request.existing.servers, **request.existing.storage_nodes, **request.existing.switches}
    if existing:
        rows.append(
            row(
                tr("At hand already"),
                words.listed(f"{count} × {item_name(item, catalog)}" for item, count in existing.items()),
            )
        )
    if request.rank_by is not None:
        rows.append(row(tr("Ranked by"), words.name(request.rank_by)))
    rows.append(
        row(
            tr("Racks and power units"),
            f"{item_name(request.site.rack, catalog)}, {item_name(request.site.pdu, catalog)}",
        )
    )
    return Table(
        "conditions", tr("Conditions"), columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="asked"
    )


def checks_table(result: SizingResult) -> Table | None:
    """Data sets against memory and capacity."""
    design = result.design
    memory = design.platform.server.memory_bytes
    usable = float(design.quantities.usable_bytes[0])
    rows: list[Row] = []
    for answer in design.workloads:
        name = answer.workload.name
        if memory is not None:
            rows.append(row(name, tr("memory of one server"), prose.fits(answer.dataset_bytes, memory.value)))
            if design.n_servers > 1:
                together = memory.value * design.n_servers
                rows.append(
                    row(
                        "",
                        tr("memory of {servers} together", servers=words.plural(design.n_servers, "server")),
                        prose.fits(answer.dataset_bytes, together),
                    )
                )
        if usable > 0:
            rows.append(
                row(
                    "" if memory is not None else name,
                    tr("usable capacity of {storage}", storage=design.platform.storage.name),
                    prose.fits(answer.dataset_bytes, usable),
                )
            )
    if not rows:
        return None
    return Table(
        "checks",
        tr("Where the data set fits"),
        columns((tr("Workload"), "left", 28), (tr("Against"), "left", 36), (tr("Outcome"), "left", 36)),
        tuple(rows),
    )


def networks_table(result: SizingResult, catalog: Catalog) -> Table | None:
    """Networks with switches and ports; None where the design has none of its own."""
    rows = []
    for net in result.design.quantities.networks:
        if not int(net.ports_used[0]):
            continue
        ratio = float(net.oversubscription[0])
        order = "1 : 1" if ratio <= 1 else f"{plain(float(f'{ratio:.2g}'))} : 1"
        rows.append(
            row(
                words.capital(network_text(net.name)),
                words.link_name(net.kind),
                prose.network_switches(net, catalog),
                prose.port_arithmetic(net),
                order if int(net.spines[0]) else "–",
            )
        )
    if not rows:
        return None
    notes = [
        words.sentence(f"{network_text(net.name)}: {note}")
        for net in result.design.quantities.networks
        for note in (net.note, tr("subnet manager {place}", place=net.subnet_manager) if net.subnet_manager else "")
        if note and int(net.ports_used[0])
    ]
    heads = columns(
        (tr("Network"), "left", 17),
        (tr("Links"), "left", 14),
        (tr("Switches"), "left", 23),
        (tr("Ports"), "left", 36),
        (tr("Down : up"), "right", 10),
    )
    return Table("networks", tr("Networks and how their ports add up"), heads, tuple(rows), " ".join(notes))


def assumptions_table(result: SizingResult, most: int | None = None) -> Table | None:
    """Assumed facts first, as they weigh most; at most ``most`` rows, and a note on the rest."""
    ordered = sorted(result.assumptions, key=lambda one: one.basis != "assumed")
    left = len(ordered) - most if most is not None else 0
    ordered = ordered[:most]
    rows = [
        row(
            words.sentence(one.what).rstrip("."),
            one.value,
            words.name(one.basis),
            Cell(words.sentence(one.note), cites=(one.source,) if one.source else ()),
        )
        for one in ordered
    ]
    if not rows:
        return None
    heads = columns(
        (tr("Assumption"), "left", 27),
        (tr("Value"), "left", 17),
        (tr("Basis"), "left", 11),
        (tr("Reason and source"), "left", 45),
    )
    if most is None:
        return Table("all-assumptions", tr("Everything that is taken for granted"), heads, tuple(rows))
    note = (
        trn("{n} more is taken for granted.", "{n} more are taken for granted.", left, n=grouped(left))
        if left > 0
        else ""
    )
    return Table("assumptions", tr("What is taken for granted"), heads, tuple(rows), note)
