"""A value found when it is first read: once, the same in another process, equal by what it is; interned objects."""

import pickle
from dataclasses import dataclass
from functools import partial

from sizer.base.stored_answers import Deferred, Interned, _interned


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
    calls: list[int] = []
    assert pickle.loads(pickle.dumps(Deferred(partial(_counted, calls)))).value == 42
    assert calls == []  # a function of a module is called there, with a copy of what it is given


def test_values_decide_whether_two_are_equal():
    assert Deferred(lambda: 3) == Deferred(lambda: 1 + 2)
    assert Deferred(lambda: 3) != Deferred(lambda: 4)
    assert hash(Deferred(lambda: 3)) == hash(3)


@dataclass(frozen=True, eq=False)
class _Parts(Interned):
    names: tuple[str, ...]


def test_a_process_has_one_object_of_what_is_sent_to_it_again():
    parts = _Parts(("a", "b"))
    sent = pickle.dumps(parts)
    assert pickle.loads(sent) is parts  # sent back to where it is from
    _interned.clear()  # as in another process
    first = pickle.loads(sent)
    assert first is not parts
    assert first.names == parts.names
    assert pickle.loads(pickle.dumps({"answer": first}))["answer"] is pickle.loads(sent) is first
