"""Whether the finished documents of an answer agree: each figure that several state, and what follows from them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tests.guides.agreement.figures import Statement, stated
from tests.guides.agreement.finished import Finished
from tests.guides.agreement.printed import Span
from tests.guides.agreement.rules import RULES
from tests.guides.agreement.tables import listed


def statements(found: Finished) -> list[Statement]:
    """Every figure of every document."""
    return [*listed(found), *stated(found)]


def contradictions(found: Finished) -> list[str]:
    """One sentence for each two places that contradict each other; it names both."""
    broken = (sentence for rule in RULES.values() for holds, sentence in rule(found) if not holds)
    return list(dict.fromkeys([*_disagreements(statements(found)), *broken]))


def _disagreements(made: Iterable[Statement]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for one in made:
        groups[one.figure, one.of].append(one)
    for (figure, of), same in groups.items():
        first = same[0]
        for other in same[1:]:
            a, b = first.value, other.value
            if not (a.agrees(b) if isinstance(a, Span) and isinstance(b, Span) else a == b):
                yield f"{figure}{f' of {of}' if of else ''}: {first} – {other}"
