"""Folders of killed runs."""

import os
import time

import pytest

from sizer.export.files import _staging, write_whole


def test_a_run_that_goes_on_is_left_alone(tmp_path):
    with _staging(tmp_path) as staged:
        (staged / "a.txt").write_bytes(b"half")
        write_whole(tmp_path, {"b.txt": b"1"})
        assert (staged / "a.txt").read_bytes() == b"half"
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


@pytest.mark.parametrize(("suffix", "leaves"), [(".unfinished", ["b.txt"]), (".ready", ["a.txt", "b.txt"])])
def test_what_a_run_left_hours_ago_is_removed_or_completed(tmp_path, suffix, leaves):
    staged = tmp_path / f".sizer-x{suffix}"
    staged.mkdir()
    (staged / "a.txt").write_bytes(b"whole or half")
    hours_ago = time.time() - 2 * 3600
    os.utime(staged, (hours_ago, hours_ago))
    write_whole(tmp_path, {"b.txt": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == leaves
