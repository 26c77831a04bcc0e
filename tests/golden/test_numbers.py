"""No number of an answer moves unseen: ``make golden`` writes the table again, and its difference is committed."""

import pytest

from tests.golden.numbers import ANSWERS, answer_numbers, moved, stored

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them


@pytest.mark.parametrize("name", ANSWERS)
def test_no_number_has_moved(name):
    lines = moved(stored().get(name, {}), answer_numbers(name))
    assert not lines, "\n".join([f"{len(lines)} numbers moved; `make golden` if they should:", *lines])


def test_the_table_holds_these_answers_alone():
    assert list(stored()) == list(ANSWERS)


def test_a_moved_a_new_and_a_missing_number_are_named():
    before = {"rate": "52194.48785", "racks": "2", "server": "dgx-1", "gone": "1"}
    now = {"rate": "52194.48786", "racks": "3", "server": "dgx-2", "added": "5"}
    assert moved(before, now) == ["racks: 2 -> 3", "server: dgx-1 -> dgx-2", "gone: 1 -> none", "added: none -> 5"]
