"""A value found when it is first read: once, the same in another process, equal by what it is."""

import pickle
from functools import partial

from sizer.base.stored_answers import Deferred


def _counted(calls: list[int]) -> int:
    calls.append(1)
    return 42


def test_a_value_is_found_once_and_only_when_it_is_read():
    calls: list[int] = []
    value = Deferred(partial(_counted, calls))
    assert calls == []
    assert (value.value, value.value) == (42, 42)
    assert calls == [1]


def test_another_process_gets_the_value():
    value = Deferred(lambda: {"servers": 3})  # a function that no pickle holds
    assert pickle.loads(pickle.dumps(value)).value == {"servers": 3}


def test_values_decide_whether_two_are_equal():
    assert Deferred(lambda: 3) == Deferred(lambda: 1 + 2)
    assert Deferred(lambda: 3) != Deferred(lambda: 4)
    assert hash(Deferred(lambda: 3)) == hash(3)
