"""Messages beside the answer never stop the answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sizer.base.streams import messages, prepare_streams

EXAMPLE = Path(__file__).parents[2] / "examples" / "small-team.toml"


def test_messages_whose_reader_has_gone_are_lost_and_later_ones_too():
    prepare_streams()
    reading, writing = os.pipe()
    os.close(reading)
    told = messages(writing, "utf-8")
    for _ in range(3):
        assert told.write("writing guide.pdf\n") > 0
        told.flush()
    os.close(writing)


@pytest.mark.workers
def test_a_command_whose_messages_nobody_reads_writes_its_documents(tmp_path):
    command = [sys.executable, "-m", "sizer.cli", "size", str(EXAMPLE), "--out", "out", "--formats", "pdf,xlsx"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        running.stderr.close()
        assert running.stdout is not None
        answer = running.stdout.read()
    assert running.returncode == 0
    assert b"designs evaluated" in answer
    assert {"guide.pdf", "bom.xlsx"} <= {path.name for path in (tmp_path / "out").iterdir()}
