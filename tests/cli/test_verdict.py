"""``sizer verdict``: whether a customer needs what was asked for."""

import json
from pathlib import Path

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

EXAMPLE = data_dir("examples") / "questions" / "do-we-need-a-cluster.toml"


def test_machines_get_every_claim() -> None:
    done = run("verdict", EXAMPLE, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kind"] == "verdict"
    assert told["simplest"]["in_the_way"] == ["platforms.storage"]
    assert told["simplest"]["without_choices"]["n_servers"] == 1
    claims = {claim["key"]: claim for claim in told["claims"]}
    assert claims["one-server"]["holds"] is True
    turned = claims["fits-memory"]["overturned_by"]
    assert turned["key"] == "workload.0.dataset_bytes"
    assert turned["from"] < turned["still"] < turned["to"]


def test_a_missing_request_is_refused(tmp_path: Path) -> None:
    refused(run("verdict", tmp_path / "none.toml"), 2, "none.toml")
