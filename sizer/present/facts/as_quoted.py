"""Probability of the targets with what the bill has, in words."""

from sizer.base.quantities import by_count
from sizer.present import words
from sizer.sizing.design.spares import QuotedOdds, SpareServers


def spares_text(spares: SpareServers) -> str:
    """Spares that a design lacks: 'two spare servers'."""
    if spares.gpus_each is not None:
        return f"{spares.missing * spares.gpus_each} spare GPUs"
    return f"{words.spelled(spares.missing)} spare {by_count(spares.missing, 'server', 'servers')}"


def chance_as_quoted(odds: QuotedOdds) -> str:
    """Probability of meeting a target: '49 % (91 % with two spare servers, which are not in the bill)'."""
    text = words.chance(odds.probability)
    if odds.missing is None:
        return text
    verb = by_count(odds.missing.missing, "is", "are")
    return f"{text} ({words.chance(odds.with_spares)} with {spares_text(odds.missing)}, which {verb} not in the bill)"
