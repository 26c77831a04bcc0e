"""Cost of ownership in sentences, and as plain text for a terminal."""

import textwrap

from sizer.base.quantities import significant
from sizer.present import words
from sizer.present.plain_table import WIDTH, table_text
from sizer.questions.ownership.analysis import OwnershipAnswer, RunCost
from sizer.questions.ownership.tables import (
    KIND_NAMES,
    kinds_of,
    ownership_table,
    run_cost_text,
    runs_table,
    total_text,
    years_text,
)

_MET = {True: "met", False: "not met", None: "open until all prices are known"}


def ownership_text(answer: OwnershipAnswer) -> str:
    """Cost of ownership as plain text for a terminal."""
    lines = "\n".join(textwrap.wrap(finding(answer), WIDTH))
    return "\n\n".join([lines, table_text(ownership_table(answer)), table_text(runs_table(answer))])


def finding(answer: OwnershipAnswer) -> str:
    """The answer in a sentence or two."""
    cost = answer.cost
    if cost.is_unpriced:
        lines = f"{words.plural(cost.n_open, 'line')} of the bill"
        text = f"Prices of {lines} are missing, so the cost of ownership is not known."
        if answer.interval is not None:
            owning = f"Owning the cluster for {years_text(cost.rates.years)} is estimated at {total_text(answer)}"
            text = f"{owning}: {lines} to be quoted."
        asked = (_asked_text(run, answer) for run in answer.runs)
        return " ".join([text, *(words.sentence(one) for one in asked if one)])
    text = f"Owning the cluster for {years_text(cost.rates.years)} costs {total_text(answer)}."
    kinds = kinds_of(cost)
    if len(kinds) > 1:
        shares = [words.percent(float((cost.of(kind) or 0) / cost.total)) for kind in kinds]
        names = [words.inside_sentence(KIND_NAMES[kind]) for kind in kinds]
        first, *others = (f"{name} {share}" for name, share in zip(names, shares, strict=True))
        text = f"{text} Of this: {words.listed([first, *others])}."
    return " ".join([text, *(_run_text(run, answer) for run in answer.runs)])


def _run_text(run: RunCost, answer: OwnershipAnswer) -> str:
    amount = f"{answer.cost.currency} {run_cost_text(run, answer.cost)}"
    name = words.shortened(run.workload)
    if run.is_training_run:
        return f"One run of {name} costs {amount}."
    text = f"One million {words.plural_of(2, run.sample_unit)} of {name} cost {amount}"
    return f"{'; '.join(filter(None, (text, _asked_text(run, answer))))}."


def _asked_text(run: RunCost, answer: OwnershipAnswer) -> str:
    """Whether a million tokens cost no more than was asked; "" where nothing was."""
    if answer.asked_per_million_tokens is None or not run.is_million_tokens:
        return ""
    asked = f"at most {answer.cost.currency} {significant(float(answer.asked_per_million_tokens))} asked"
    return f"{asked}, which is {_MET[answer.meets_cost_per_token(run)]}"


def short_finding(answer: OwnershipAnswer) -> str:
    """The answer as the title of a chart."""
    cost = answer.cost
    running = cost.total - cost.purchase
    over = f"over {years_text(cost.rates.years)}"
    if not cost.purchase:
        return f"Running costs {over}"
    if not running:
        return f"The purchase is the only known cost {over}"
    return f"Running costs add {words.percent(float(running / cost.purchase))} to the purchase {over}"
