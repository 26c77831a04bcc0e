"""Answers are kept for objects, not for what they hold."""

from dataclasses import dataclass

from sizer.base.identity_cache import cached_by_catalog


@dataclass(frozen=True)
class Parts:
    """Equal to all parts of the same number."""

    number: int


def test_an_answer_belongs_to_the_object_and_the_oldest_goes():
    asked: list[Parts] = []

    @cached_by_catalog
    def number(parts: Parts, factor: int = 1) -> int:
        asked.append(parts)
        return parts.number * factor

    first, twin = Parts(3), Parts(3)
    assert [number(first), number(first), number(first, 2), number(twin)] == [3, 3, 6, 3]
    assert [id(parts) for parts in asked] == [id(first), id(first), id(twin)]
    many = [Parts(n) for n in range(50)]
    assert [number(parts) for parts in many] == list(range(50))
    del asked[:]
    assert [number(many[-1]), number(first)] == [49, 3]
    assert [id(parts) for parts in asked] == [id(first)]
