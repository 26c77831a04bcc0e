"""``sizer ingest``: the answer in words and for machines."""

import json
from pathlib import Path

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

QUESTIONS = data_dir("examples") / "questions"


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


def test_a_wrong_key_is_named(tmp_path: Path) -> None:
    asked = tmp_path / "wrong.toml"
    asked.write_text('[[workload]]\ndnn = "resnet50"\ntarget = { gpus_busy = 8 }\n[data]\ningest = "usb"\n')
    refused(run("ingest", asked), 2, "data.ingest")
