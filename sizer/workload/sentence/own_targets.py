"""Targets of several networks in one sentence, each stated with its network: "A at 9,000 images/s and B in 2 hours"."""

from itertools import pairwise
from typing import Any

from sizer.workload.sentence.names import DNN
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.targets import read_rate, read_time
from sizer.workload.sentence.text import READ


def read_own_targets(notes: Notes) -> None:
    """Note the target of each network where at least two state one; else the sentence has one target for all."""
    if "target" in notes.work or "task" in notes.work:
        return
    if notes.trainings:
        cut, end = notes.second_training_at, len(notes.text.sentence)
        parts: list[tuple[Any, int, int]] = [(0, 0, cut), (1, cut, end)]
    else:
        parts = _parts_by_network(notes)
    if len(parts) < 2:
        return
    left, phrases, unusable = notes.text.left, list(notes.text.phrases), list(notes.unusable)
    targets = {key: target for key, start, end in parts if (target := _target_between(notes, key, start, end))}
    if len(targets) < 2:
        notes.text.left, notes.text.phrases, notes.unusable = left, phrases, unusable
        return
    notes.own_targets = targets


def _parts_by_network(notes: Notes) -> list[tuple[Any, int, int]]:
    """Where each network is told of: from its first name to the first name of the next one."""
    starts: dict[str, int] = {}
    for one in sorted(notes.mentions, key=lambda mention: mention.start):
        if one.kind == DNN and one.ids[0] in notes.dnns:
            starts.setdefault(one.ids[0], one.start)
    places = [*starts.values(), len(notes.text.sentence)]
    return [(dnn, start, end) for dnn, (start, end) in zip(starts, pairwise(places), strict=True)]


def _target_between(notes: Notes, key: Any, start: int, end: int) -> dict[str, Any] | None:
    """The target that some part of the sentence states; the part is read as if it stood alone."""
    text, work, dnns = notes.text, notes.work, notes.dnns
    left = text.left
    text.left = READ * start + left[start:end] + READ * (len(left) - end)
    notes.work, notes.dnns = {}, [key] if isinstance(key, str) else dnns
    read_rate(notes)
    read_time(notes)
    target: dict[str, Any] | None = notes.work.get("target")
    text.left = left[:start] + text.left[start:end] + left[end:]
    notes.work, notes.dnns = work, dnns
    return target
