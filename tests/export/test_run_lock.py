"""Folders of killed runs on systems with and without locks on folders."""

import importlib.util
import os
import sys
import time

import pytest

from sizer.base import folders
from sizer.export.files import _staging, write_whole


@pytest.fixture(params=[True, False], ids=["locks", "no locks"])
def _system(request, monkeypatch):
    monkeypatch.setattr(folders, "_HAS_LOCKS", request.param)


@pytest.mark.usefixtures("_system")
def test_a_run_that_goes_on_is_left_alone(tmp_path):
    with _staging(tmp_path) as staged:
        (staged / "a.txt").write_bytes(b"half")
        write_whole(tmp_path, {"b.txt": b"1"})
        assert (staged / "a.txt").read_bytes() == b"half"
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


@pytest.mark.parametrize(("suffix", "leaves"), [(".unfinished", ["b.txt"]), (".ready", ["a.txt", "b.txt"])])
@pytest.mark.usefixtures("_system")
def test_what_a_run_left_hours_ago_is_removed_or_completed(tmp_path, suffix, leaves):
    staged = tmp_path / f".sizer-x{suffix}"
    staged.mkdir()
    (staged / "a.txt").write_bytes(b"whole or half")
    hours_ago = time.time() - 2 * 3600
    os.utime(staged, (hours_ago, hours_ago))
    write_whole(tmp_path, {"b.txt": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == leaves


def test_without_locks_what_is_minutes_old_may_still_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_HAS_LOCKS", False)
    staged = tmp_path / ".sizer-x.unfinished"
    staged.mkdir()
    write_whole(tmp_path, {"b.txt": b"1"})
    assert staged.is_dir()


def test_a_system_without_locks_is_recognised(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as if it were not there
    spec = importlib.util.spec_from_file_location("elsewhere", folders.__file__)
    elsewhere = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(elsewhere)
    assert not elsewhere._HAS_LOCKS
