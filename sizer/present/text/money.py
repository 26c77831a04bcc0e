"""Money in words: why a design is expected to cost less, and which quotes would settle that.

Price bands never show as prices. Differences that rest on them appear in internal documents only.
"""

from sizer.base.quantities import by_count, significant
from sizer.present import words
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.sizing.reasons import QuoteToSettle, RunnerUpKind
from sizer.sizing.result import DesignAnswer, SizingResult


def cost_reason_text(result: SizingResult, *, with_amounts: bool) -> str:
    """Which design costs less than which, in one sentence; "" where cost does not decide.

    Parameters
    ----------
    result : SizingResult
    with_amounts : bool
        Whether to say by how much; a customer's copy never does.
    """
    reason = result.runner_up_reason
    if reason.kind is not RunnerUpKind.DEARER or len(result.platforms) < 2:
        return ""
    chosen, other = _told_apart(result.platforms[0], result.platforms[1])
    one = result.platforms[0].n_servers == 1
    verb = ("costs" if one else "cost") if reason.is_exact else f"{'is' if one else 'are'} expected to cost"
    less = "less"
    if with_amounts and reason.chosen is not None and reason.other is not None:
        less = f"about {significant(reason.other - reason.chosen, 2)} {result.request.currency} less"
    over = "" if reason.years is None else f" over {by_count(reason.years, 'one year', f'{reason.years} years')}"
    return f"{chosen} {verb} {less} than {other}{over}; both meet the request."


def _told_apart(first: DesignAnswer, other: DesignAnswer) -> tuple[str, str]:
    """Short names of two designs: what they differ in."""
    servers = [f"{design.n_servers} × {design.platform.server.name}" for design in (first, other)]
    is_external = any(design.storage_nodes for design in (first, other))
    if not is_external and servers[0] != servers[1]:
        return servers[0], servers[1]
    if first.platform.storage.id == other.platform.storage.id and first.storage_nodes == other.storage_nodes:
        return servers[0], servers[1]
    return first.name, other.name


def quotes_text(result: SizingResult, *, with_amounts: bool) -> str:
    """The quotes that would settle the order; "" where none would."""
    quotes = result.quotes_to_settle
    if not quotes:
        return ""
    told = [_quote(quote, result.request.currency) if with_amounts else quote.name for quote in quotes]
    noun = by_count(len(quotes), "A quote", "Quotes")
    return f"{noun} for {words.listed(told)} would settle the order of the designs."


def _quote(quote: QuoteToSettle, currency: str) -> str:
    if quote.swing is None:
        return quote.name
    text = f"moves the difference by up to {significant(quote.swing, 2)} {currency}"
    if quote.turns_at is not None:
        text = f"{text}, and the order turns at {significant(quote.turns_at)} {currency} each"
    return f"{quote.name} ({text})"


def budget_text(check: DesignCheck) -> str:
    """How likely a design keeps its budget, where prices are missing; "" for other checks and where all is known."""
    if check.kind is not CheckKind.BUDGET or not check.unpriced or check.result is CheckResult.NOT_MET:
        return ""
    items = f"{words.plural(len(check.unpriced), 'item')} to be quoted"
    if check.probability is None:
        return f"cannot be judged: {items}"
    if check.probability == 1:
        return f"within the budget at any likely price of the {items}"
    return f"{words.percent(check.probability)} likely, by the usual prices of the {items}"
