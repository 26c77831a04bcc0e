"""``sizer ingest``: the answer in words and for machines."""

import json
from pathlib import Path

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

QUESTIONS = data_dir("examples") / "questions"


def test_the_answer_tells_capacity_ways_and_checkpoints() -> None:
    done = run("ingest", QUESTIONS / "how-long-to-fill.toml")
    assert done.returncode == 0, done.stderr
    for words in (
        "Required capacity",
        "Through the gateway (this plan)",
        "Checkpoints",
        "does not fit",
        "Checkpoint size",
        "To ask the vendor - Dell EMC Isilon F800",
    ):
        assert words in " ".join(done.stdout.split())


def test_the_answer_for_machines_holds_the_same() -> None:
    """22.2 TB x 1.7 and ten checkpoints of 204.8 MB; 40 Gbit/s of source; 1 GB/s is the only published write rate."""
    done = run("ingest", QUESTIONS / "how-long-to-fill.toml", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["capacity"]["must_fit_bytes"] == 22.2e12 * 1.7 + 10 * 8 * 25.6e6
    ways = {way["key"]: way for way in found["ingest"]["ways"]}
    assert found["ingest"]["chosen"] == "gateway"
    assert ways["gateway"]["least_s"] == 4440
    assert ways["gateway"]["published_s"] == 22_200
    assert ways["head-node"]["least_s"] == 17_760
    assert found["local_copies"][0]["break_even_epoch"] is None
    assert found["local_copies"][0]["fits"] is False


def test_a_copy_that_pays_is_told_with_its_break_even() -> None:
    """6 TB to five DGX-1 at 5 GB/s: 100 min, 3.4 min of 19.4 earned back in each epoch. 100 / 3.4 = 29.4."""
    done = run("ingest", QUESTIONS / "copy-to-local-drives.toml")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "pays off after 30 epochs: 16.0 min per epoch instead of 19.4 min" in text.replace("\u202f", " ")
    assert "so it pays off" in text
    assert "Preprocessing" in text


def test_a_request_without_the_table_is_answered_too() -> None:
    done = run("ingest", data_dir("examples") / "apollo-googlenet-inference.toml")
    assert done.returncode == 0, done.stderr
    assert "Through the GPU server" in done.stdout


def test_a_wrong_key_is_named(tmp_path: Path) -> None:
    asked = tmp_path / "wrong.toml"
    asked.write_text('[[workload]]\ndnn = "resnet50"\ntarget = { gpus_busy = 8 }\n[data]\ningest = "usb"\n')
    refused(run("ingest", asked), 2, "data.ingest")
