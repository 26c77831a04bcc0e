"""Front matter of the guide: document control, reading guide, key figures of the cover, page footer."""

import datetime
from collections.abc import Mapping

from sizer.base.quantities import grouped
from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.present import words
from sizer.present.tables import Cell, Table, fact_table
from sizer.sizing.result import SizingResult

LEGAL_NOTICE = (
    "Computed from published data. Performance is projected with an interval and is not guaranteed; "
    "prices are budgetary and non-binding; part numbers must be confirmed before ordering. "
    "Product names are trademarks of their owners."
)


def kind_name(result: SizingResult) -> str:
    """What the document is called."""
    return "Reference architecture" if result.needs_cluster else "Sizing advice"


def form_name(edition: Edition) -> str:
    """What a form of the guide is called."""
    return {"short": "short guide", "full": "full guide", "summary": "summary"}[edition.form]


def control_table(context: GuideContext) -> Table:
    """Identification of the document; rows without a value are omitted."""
    result, profile, request = context.result, context.edition.profile, context.result.request
    quote, valid_until = request.quote, result.design.bill.valid_until
    authors = (quote.prepared_by or profile.company, profile.company, profile.contact)
    facts = (
        ("Document", f"{kind_name(result)}, {form_name(context.edition)}"),
        ("Prepared for", quote.prepared_for or request.customer or Cell("not named", is_muted=True)),
        ("Revision", _revision(quote.revision or "1", request.date)),
        ("Quote", quote.number or None),
        ("Prepared by", ", ".join(dict.fromkeys(author for author in authors if author)) or None),
        ("Valid until", words.date(valid_until) if valid_until else None),
        ("Confidentiality", profile.confidentiality or None),
        ("Status", "budgetary and non-binding; performance is projected, not guaranteed"),
        ("Catalogue", result.catalog_digest[:16]),
        ("Calibration", result.calibration_digest[:16]),
    )
    note = "The same request, catalogue and calibration always produce the same document."
    return fact_table("control", "Document control", facts, widths=(24, 76), note=note, style="plain")


def _revision(number: str, day: datetime.date | None) -> str:
    return f"{number}, not dated" if day is None else f"{number} of {words.date(day)}"


def readers_table(numbers: Mapping[str, str]) -> Table:
    """Chapters by reader; ``numbers`` are those of the chapters by id."""

    def chapters(*ids: str) -> str:
        return words.listed(numbers[id_] for id_ in ids if id_ in numbers)

    rows = (
        (
            "Decision makers and procurement",
            "proposal, cost, sizing confidence",
            chapters("summary", "requirements", "bill", "risks"),
        ),
        (
            "Architects",
            "reason for each component, bottlenecks",
            chapters("overview", "architecture", "network", "storage", "performance", "validation"),
        ),
        (
            "Installation and operation",
            "rack positions, cables, addresses, software, tests, spare parts",
            chapters("network", "software", "facility", "operation", "addresses", "schedule"),
        ),
    )
    titles = ("Reader", "Content", "Chapters")
    return fact_table("readers", "Readers", rows, titles=titles, widths=(28, 48, 24), style="plain")


def key_figures(result: SizingResult) -> list[tuple[str, str]]:
    """Four labelled numbers for the cover."""
    design = result.design
    first = design.workloads[0]
    speed = ("throughput", words.rounded(first.throughput, words.sample_unit(first.dnn)))
    if first.time is not None and first.workload.target.time_to_train_s is not None:
        speed = ("time to train", words.rounded(first.time.total_s, "s"))
    return [
        (words.plural_of(design.n_servers, "GPU server"), grouped(design.n_servers)),
        (words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus)),
        speed,
        ("probability of meeting the target", words.percent(design.probability)),
    ]


def footer(context: GuideContext) -> str:
    """Footer of every page."""
    result, quote = context.result, context.result.request.quote
    parts = [
        context.edition.profile.confidentiality,
        quote.number,
        f"revision {quote.revision}" if quote.revision else "",
        f"catalogue {result.catalog_digest[:8]}",
        f"calibration {result.calibration_digest[:8]}",
    ]
    return words.capital(" · ".join(part for part in parts if part))
