"""Answers are kept for objects, not for what they hold."""

from dataclasses import dataclass

from sizer.base.identity_cache import cached_by_catalog, cached_by_list, same_list


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


def test_a_list_is_the_same_for_the_very_same_items_only():
    """An equal item is another one: what is known of a list is asked again for it."""
    asked: list[tuple[Parts, ...]] = []

    @cached_by_list
    def total(parts: tuple[Parts, ...]) -> int:
        asked.append(parts)
        return sum(one.number for one in parts)

    first, second, twin = Parts(1), Parts(2), Parts(2)
    lists = [same_list(items) for items in ([first, second], (first, second), [first, twin], [second, first])]
    assert lists[0] is lists[1]
    assert [total(one) for one in lists] == [3, 3, 3, 3]
    assert [[id(part) for part in one] for one in asked] == [
        [id(first), id(second)], [id(first), id(twin)], [id(second), id(first)]
    ]  # fmt: skip
