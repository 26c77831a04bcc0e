"""Front matter of the documents: document control, key figures and budget line of the cover, page footer."""

import datetime

from sizer.base.quantities import duration, grouped, plain, si
from sizer.guide.context import GuideContext
from sizer.guide.profile import Edition
from sizer.present import words
from sizer.present.tables import Table, fact_table
from sizer.present.text import result_text
from sizer.present.text.calibration import NOT_PREDICTED, compared_time_s
from sizer.present.text.money import price_range_text, price_text
from sizer.present.text.serving import people_text
from sizer.sizing.result import SizingResult
from sizer.workload.resolve import CUSTOM

LEGAL_NOTICE = (
    "Computed from published data. Performance is projected with an interval and is not guaranteed; "
    "prices are budgetary and non-binding; part numbers must be confirmed before ordering. "
    "Product names are trademarks of their owners."
)


def kind_name(result: SizingResult, edition: Edition) -> str:
    """What the document is called."""
    if edition.form == "engineer":
        return "Engineer's file"
    return "Reference architecture" if result.needs_cluster else "Sizing advice"


def control_table(context: GuideContext) -> Table:
    """Identification of the document; rows without a value are omitted."""
    result, profile, request = context.result, context.edition.profile, context.result.request
    quote, valid_until = request.quote, result.design.bill.valid_until
    is_engineers = context.edition.form == "engineer"
    rate = request.exchange_rate_usd
    authors = (quote.prepared_by or profile.company, profile.company, profile.contact)
    facts = (
        ("Document", kind_name(result, context.edition) if is_engineers else None),
        ("Prepared for", (is_engineers and request.customer) or None),
        ("Revision", _revision(quote.revision or "1", request.date)),
        ("Quote", quote.number or None),
        ("Prepared by", ", ".join(dict.fromkeys(author for author in authors if author)) or None),
        ("Valid until", words.date(valid_until) if valid_until else None),
        ("Exchange rate", f"1 {request.currency} = USD {plain(float(rate))}" if rate is not None else None),
        ("Confidentiality", profile.confidentiality or None),
        ("Catalogue", result.catalog_digest[:16] if is_engineers else None),
        ("Calibration", result.calibration_digest[:16] if is_engineers else None),
    )
    note = "The same request, catalogue and calibration always produce the same document." if is_engineers else ""
    return fact_table("control", "Document control", facts, widths=(24, 76), note=note, style="plain")


def _revision(number: str, day: datetime.date | None) -> str:
    return f"{number}, not dated" if day is None else f"{number} of {words.date(day)}"


def key_figures(result: SizingResult) -> list[tuple[str, str]]:
    """Four labelled numbers for the cover: what it does, GPUs, racks, maximum power."""
    design = result.design
    first = design.workloads[0]
    speed = ("throughput", si(float(first.throughput.value), words.sample_unit(first.dnn)))
    # Of stated tokens the days count, whatever the target.
    is_timed = first.workload.target.time_to_train_s is not None or first.kind.trains_language
    if first.time is not None and is_timed and first.workload.target.samples_per_s is None:
        speed = ("time to train", duration(float(first.time.total_s.value), compared_time_s(first)))
    if result.maximum is not None and result.maximum.workload == 0:
        reached = si(result.maximum.samples_per_s, words.sample_unit(first.dnn))
        speed = (f"throughput, {words.percent(result.maximum.confidence)} confidence", reached)
    if not first.rate_is_predicted:
        speed = (speed[0], NOT_PREDICTED)
    if first.serving is not None and first.served.work.counts_people and (users := first.served.users):
        speed = (f"{people_text(first.served.work)} at most", grouped(float(f"{users:.2g}")))
    if len(design.workloads) > 1:
        speed = (f"{speed[0]}, {words.shortened(first.workload.name)}", speed[1])
    racks = design.quantities.n_racks
    place = (words.plural_of(racks, "rack"), grouped(racks))
    stated = design.platform.server.power_max_w or design.platform.server.power_high_w
    is_assumed = stated is not None and stated.basis == "assumed" and stated.source != CUSTOM
    return [
        speed,
        (words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus)),
        ("place", "at a desk") if design.is_workstation else place,
        ("maximum power, the servers' assumed" if is_assumed else "maximum power", result_text.power(design)),
    ]


def budget_line(result: SizingResult, *, in_short: bool = False) -> str:
    """What the design costs, and the budget where the request states one; ``in_short``: without its basis."""
    text = f"Price: {price_range_text(result.design) if in_short else price_text(result.design)}"
    budget = result.request.limits.budget
    if budget is not None:
        text += f". Budget: {words.money(words.whole(budget), result.request.currency)}"
    return words.sentence(text)


# Characters.
_LONGEST_CUSTOMER, _LONGEST_NUMBER = 40, 20
# Letters that a line of the footer holds beside the page number, and that a title keeps at least.
_LONGEST_FOOTER, _LEAST_TITLE = 105, 20


def footer(context: GuideContext) -> str:
    """Footer of every page; digests identify the engineer's file."""
    result, quote = context.result, context.result.request.quote
    is_engineers = context.edition.form == "engineer"
    parts = [
        context.edition.profile.confidentiality,
        words.shortened(result.request.customer, _LONGEST_CUSTOMER),
        words.shortened(quote.number, _LONGEST_NUMBER),
        f"revision {words.shortened(quote.revision, _LONGEST_NUMBER)}" if quote.revision else "",
        f"catalogue {result.catalog_digest[:8]}" if is_engineers else "",
        f"calibration {result.calibration_digest[:8]}" if is_engineers else "",
    ]
    # What identifies the document stays whole; its title takes what that leaves of the line.
    left = max(_LONGEST_FOOTER - sum(len(part) + 3 for part in parts if part), _LEAST_TITLE)
    parts.insert(1, words.shortened(result.request.title, left))
    return words.capital(" · ".join(part for part in parts if part))
