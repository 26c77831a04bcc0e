"""``sizer grow``: tables on a terminal, JSON for machines, and a sentence where the request does not grow."""

import json
from pathlib import Path

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

QUESTIONS = data_dir("examples") / "questions"


def test_the_plan_is_data_for_machines():
    done = run("grow", QUESTIONS / "images-grow-tenfold.toml", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    (platform,) = plan["platforms"]
    assert plan["years_covered"] == 2
    assert plan["stops"] is None
    assert [year["owned"] for year in platform["best"]["years"]] == [
        {"servers": 9, "storage_nodes": 4},
        {"servers": 9, "storage_nodes": 8},
    ]
    assert platform["best"]["years"][1]["bought"]["isilon-f800"] == 1  # a chassis of four nodes
    assert platform["best"]["cost"]["amount"] == "1341000.00"  # nine DGX-1 at USD 149,000 (tweaktown-gtc17)
    assert plan["asked"][1]["workloads"][0]["sample_bytes"] > 1.29e6


def test_a_request_that_does_not_grow_is_refused(tmp_path: Path):
    path = tmp_path / "request.toml"
    path.write_text('[[workload]]\ndnn = "resnet50"\ntarget = { gpus_busy = 8 }\n', encoding="utf-8")
    refused(run("grow", path), 2, "growth is missing", "[growth]")


def test_growth_beyond_every_catalogue_names_the_year(tmp_path: Path):
    path = tmp_path / "request.toml"
    text = (QUESTIONS / "images-grow-tenfold.toml").read_text(encoding="utf-8")
    path.write_text(text.replace("years = 2", "years = 10\ndata = 10"), encoding="utf-8")
    refused(run("grow", path), 2, "of growth", "dataset_bytes")
