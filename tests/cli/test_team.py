"""``sizer team``: the answer in words and for machines, and one clear sentence for a request without a team."""

import json
from pathlib import Path

import pytest

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

QUESTIONS = data_dir("examples") / "questions"


def test_the_answer_for_machines_holds_the_same() -> None:
    done = run("team", QUESTIONS / "forty-data-scientists.toml", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kind"] == "team"
    assert found["run"]["meets"]
    sizes = {one["n_servers"]: one["meets"] for one in found["runs"]}
    assert sizes[found["n_servers_for_waits"]]
    assert not sizes[found["n_servers_for_waits"] - 1]
    demand = found["run"]["demand"]
    assert 0 < demand["average_bytes_per_s"] < demand["asked_bytes_per_s"] < demand["worst_bytes_per_s"]
    assert found["carries"]["asked_bytes_per_s"] == demand["asked_bytes_per_s"]


@pytest.mark.laws
def test_one_kind_of_job_is_set_beside_erlang(tmp_path: Path) -> None:
    asked = tmp_path / "one.toml"
    asked.write_text(
        """
        [[workload]]
        dnn = "resnet50"
        target = { samples_per_s = 1000 }
        [platforms]
        servers = ["c4140"]
        storage = ["isilon-f800"]
        [team]
        wait_s = "15 min"
        job = [{ name = "Notebook", gpus = 1, jobs_a_day = 12, duration_s = "3 h" }]
        """
    )
    done = run("team", asked)
    assert done.returncode == 0, done.stderr
    assert "Erlang" in done.stdout
    assert json.loads(run("team", asked, "--json").stdout)["erlang"]["load"] == 3.6  # 12 x 3 h in 10 h


def test_a_request_without_a_team_is_told_what_to_state() -> None:
    refused(run("team", data_dir("examples") / "small-team.toml"), 2, "has no [team]", "wait_s")
