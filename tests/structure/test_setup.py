"""What the set-up runs in a process of its own is there, and what it and the image start from is fixed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import setup

ROOT = Path(__file__).parents[2]


def test_the_set_up_can_ask_the_pdf_engine(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setup, "PYTHON", sys.executable)
    assert "could not be asked" not in (setup.pdf_state() or "")


def test_pip_and_setuptools_of_the_environment_are_the_locked_ones(monkeypatch):
    monkeypatch.setattr(setup, "PYTHON", sys.executable)
    names = re.findall(r"^([\w-]+)==", (ROOT / setup.BOOTSTRAP).read_text(encoding="utf-8"), re.MULTILINE)
    assert names == ["pip", "setuptools", "uv"]
    assert setup.has_locked(setup.BOOTSTRAP)


def test_the_image_starts_from_a_digest_only():
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (default,) = re.findall(r"^ARG PYTHON_IMAGE=(.*)$", text, re.MULTILINE)
    assert re.fullmatch(r"[\w./:-]+@sha256:[0-9a-f]{64}", default)
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"${PYTHON_IMAGE}"}


@pytest.mark.parametrize(
    ("image", "status"),
    [
        (f"python:3.11@sha256:{'0' * 64}", 0),
        ("python:3.11-slim-bookworm", 1),
        ("", 1),
        ("python:3.11@sha256:", 1),
        (f"python:3.11@sha256:{'0' * 63}", 1),
    ],
)
def test_another_image_without_a_digest_is_refused(image, status):
    """The first command of the build, run by the same kind of shell with the same variable."""
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
    (command,) = re.findall(r"^RUN (case .* esac)$", lines, re.MULTILINE)
    ended = subprocess.run(["sh", "-c", command], env={"PYTHON_IMAGE": image}, capture_output=True, text=True)
    assert ended.returncode == status
    assert ("give NAME@sha256:DIGEST" in ended.stderr) == bool(status)
