"""Tables of the chapters that open the guide: the answer in numbers, the request, the conditions, the networks."""

import datetime
from collections.abc import Mapping

from sizer.base.quantities import by_count, grouped, plain, si
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.guide.profile import Profile
from sizer.present import result_text, words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.tables import least_served
from sizer.sizing.result import STAGES, SizingResult, WorkloadAnswer
from sizer.workload.target_text import target_text


def control_table(result: SizingResult, profile: Profile, form: str) -> Table:
    """What identifies this document. ``form`` is what its form is called."""
    request, quote, valid = result.request, result.request.quote, result.design.bill.valid_until
    by = quote.prepared_by or profile.company
    # What nobody said is no row: most guides are printed before there is a quote.
    said = (
        ("Quote", quote.number),
        ("Prepared by", ", ".join(dict.fromkeys(part for part in (by, profile.company, profile.contact) if part))),
        ("Valid until", words.date(valid) if valid else ""),
        ("Confidentiality", profile.confidentiality),
    )
    kind = "Reference architecture" if result.needs_cluster else "Sizing advice"
    rows = [
        row("Document", f"{kind}, {form}"),
        row("Prepared for", quote.prepared_for or request.customer or Cell("not named", is_muted=True)),
        row("Revision", _revision(quote.revision or "1", request.date)),
        *(row(label, text) for label, text in said if text),
        row("Status", "budgetary and not binding; performance is projected, not guaranteed"),
        row("Catalogue", Cell(result.catalog_digest[:16])),
        row("Calibration", Cell(result.calibration_digest[:16])),
    ]
    note = "The same request, catalogue and calibration always print this same document."
    heads = columns(("", "left", 24), ("", "left", 76))
    return Table("control", "Document control", heads, tuple(rows), note, "plain")


def _revision(number: str, day: datetime.date | None) -> str:
    if day is None:
        return f"{number}, not dated"
    return f"{number} of {words.date(day)}"


def readers_table(numbers: Mapping[str, str]) -> Table:
    """Which chapters are for whom; ``numbers`` are those of the chapters by their ids."""

    def chapters(*ids: str) -> str:
        return words.listed(numbers[id_] for id_ in ids if id_ in numbers)

    rows = (
        row(
            "Who decides and buys",
            "what is proposed, what it costs, how sure it is",
            chapters("summary", "requirements", "bill", "risks"),
        ),
        row(
            "Who plans the architecture",
            "why each part is what it is, and what limits",
            chapters("overview", "architecture", "network", "storage", "performance", "validation"),
        ),
        row(
            "Who builds and runs it",
            "places, cables, addresses, software, tests, spare parts",
            chapters("network", "software", "facility", "operation", "addresses", "schedule"),
        ),
    )
    heads = columns(("Reader", "left", 26), ("Finds", "left", 50), ("In", "left", 24))
    return Table("readers", "Readers", heads, rows, style="plain")


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
            "Storage",
            result_text.storage(design)
            if design.storage_nodes
            else "at hand"
            if design.platform.attachment == "lan"
            else "1",
            design.platform.storage.name,
        ),
        row(
            "Switches and gateways",
            grouped(result_text.switches(design)) if result_text.switches(design) else "none",
            "all networks",
        ),
        row("Rack space", result_text.racks(design), ""),
        row("Power, maximum", result_text.power(design), f"{result_text.power(design, 'typical')} typical"),
    ]
    for answer in design.workloads:
        name = answer.workload.name if many else ""
        reached = row(
            "Throughput",
            words.estimate(answer.throughput, words.sample_unit(answer.dnn)),
            name or answer.dnn.name,
        )
        taken = answer.time and row(
            "Time to train", words.estimate(answer.time.total_s, "s"), name or result_text.epochs_text(answer)
        )
        limit = row("Limiting stage", Cell(STAGES[answer.bottleneck], stage=answer.bottleneck), name)
        rows += [taken or reached] if is_brief else [reached, *([taken] if taken else []), limit]
    if team is not None and team.model.case.queue:
        kind = least_served(team.run, team)
        about = f"{words.shortened(kind.name)}, most often late; {words.percent(team.team.wait_probability)} asked"
        rows.append(row("Jobs that start in time", words.percent(kind.share_within), about))
    rows.append(
        row(result_text.price_label(design.bill), result_text.price(design.bill), result_text.open_prices(design.bill))
    )
    if counts.unknown_power or counts.unknown_weight:
        missing = len(set(counts.unknown_power) | set(counts.unknown_weight))
        note = (
            f"“At least” marks totals without the {words.plural(missing, 'device type')} whose value no source gives."
        )
    else:
        note = ""
    return Table(
        "numbers",
        "The answer in numbers",
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
            "Neural network",
            f"{answer.dnn.name}, {words.name(workload.task)} with {words.name(workload.precision)}",
        ),
        row(
            "Software",
            f"{answer.stack.name}; {words.name(answer.stack.loader)}"
            if answer.stack.loader != "none"
            else answer.stack.name,
        ),
        row("Batch per GPU", grouped(answer.batch_per_gpu)),
        row("Data set", result_text.dataset_text(answer)),
        row("Format and order", f"{words.name(answer.dataset.format)}; {words.name(workload.access)}"),
        row("Cache", words.name(workload.cache)),
        row("Target", words.sentence(target_text(answer.workload, answer.dnn)).rstrip("."), kind="strong"),
    ]
    if answer.time is not None:
        rows.insert(-1, row("Length", result_text.epochs_text(answer)))
    title = f"Workload {number}: {workload.name}" if of > 1 else f"Workload as understood: {workload.name}"
    return Table(f"workload-{number}", title, columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="asked")


def conditions_table(result: SizingResult, catalog: Catalog) -> Table:
    """What may be used and what must not be exceeded."""
    request = result.request
    allowed, limits = request.platforms, request.limits
    asked = by_count(
        len(request.workload),
        f"{words.percent(request.confidence)} that the target is met",
        f"{words.percent(request.confidence)} that all targets are met together",
    )
    rows = [row("Probability asked", asked)]

    def names(label: str, ids: tuple[str, ...]) -> None:
        if ids:
            rows.append(row(label, words.listed(item_name(one, catalog) for one in ids)))

    names("Servers allowed", allowed.servers)
    names("Servers ruled out", allowed.forbidden_servers)
    names("GPUs allowed", allowed.gpus)
    names("Storage allowed", allowed.storage)
    names("Storage ruled out", allowed.forbidden_storage)
    if allowed.fabrics:
        rows.append(row("Fabrics allowed", words.listed(words.link_name(kind) for kind in allowed.fabrics)))
    if allowed.gpus_per_server is not None:
        rows.append(row("GPUs of a server in use", grouped(allowed.gpus_per_server)))
    if limits.budget is not None:
        rows.append(row("Budget", words.money(words.whole(limits.budget), request.currency)))
    watts = (("Power of a rack, most", limits.rack_power_w), ("Power in all, most", limits.power_w))
    rows += [row(label, si(value, "W")) for label, value in watts if value is not None]
    counts = (
        ("Racks, most", limits.racks),
        ("Rack units, most", limits.rack_units),
        ("Servers, most", limits.servers),
    )
    rows += [row(label, grouped(count)) for label, count in counts if count is not None]
    existing = {**request.existing.servers, **request.existing.storage_nodes, **request.existing.switches}
    if existing:
        rows.append(
            row(
                "At hand already",
                words.listed(f"{count} × {item_name(item, catalog)}" for item, count in existing.items()),
            )
        )
    if request.rank_by is not None:
        rows.append(row("Ranked by", words.name(request.rank_by)))
    rows.append(
        row(
            "Racks and power units",
            f"{item_name(request.site.rack, catalog)}, {item_name(request.site.pdu, catalog)}",
        )
    )
    return Table("conditions", "Conditions", columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="asked")


def checks_table(result: SizingResult) -> Table | None:
    """Data sets against memory and capacity."""
    design = result.design
    memory = design.platform.server.memory_bytes
    usable = float(design.quantities.usable_bytes[0])
    rows: list[Row] = []
    for answer in design.workloads:
        name = answer.workload.name
        if memory is not None:
            rows.append(row(name, "memory of one server", result_text.fits(answer.dataset_bytes, memory.value)))
            if design.n_servers > 1:
                together = memory.value * design.n_servers
                rows.append(
                    row(
                        "",
                        f"memory of {words.plural(design.n_servers, 'server')} together",
                        result_text.fits(answer.dataset_bytes, together),
                    )
                )
        if usable > 0:
            rows.append(
                row(
                    "" if memory is not None else name,
                    f"usable capacity of {design.platform.storage.name}",
                    result_text.fits(answer.dataset_bytes, usable),
                )
            )
    if not rows:
        return None
    return Table(
        "checks",
        "Where the data set fits",
        columns(("Workload", "left", 28), ("Against", "left", 36), ("Outcome", "left", 36)),
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
                words.capital(net.role),
                words.link_name(net.kind),
                result_text.network_switches(net, catalog),
                result_text.port_arithmetic(net),
                order if int(net.spines[0]) else "–",
            )
        )
    if not rows:
        return None
    notes = [
        words.sentence(f"{net.role}: {note}")
        for net in result.design.quantities.networks
        for note in (net.note, f"subnet manager {net.subnet_manager}" if net.subnet_manager else "")
        if note and int(net.ports_used[0])
    ]
    heads = columns(
        ("Network", "left", 17),
        ("Links", "left", 14),
        ("Switches", "left", 23),
        ("Ports", "left", 36),
        ("Down : up", "right", 10),
    )
    return Table("networks", "Networks and how their ports add up", heads, tuple(rows), " ".join(notes))


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
        ("Assumption", "left", 27),
        ("Value", "left", 17),
        ("Basis", "left", 11),
        ("Reason and source", "left", 45),
    )
    if most is None:
        return Table("all-assumptions", "Everything that is taken for granted", heads, tuple(rows))
    note = (
        by_count(left, f"{grouped(left)} more is taken for granted.", f"{grouped(left)} more are taken for granted.")
        if left > 0
        else ""
    )
    return Table("assumptions", "What is taken for granted", heads, tuple(rows), note)
