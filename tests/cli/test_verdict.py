"""``sizer verdict``: whether a customer needs what was asked for."""

import json
from pathlib import Path

import pytest

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

EXAMPLE = data_dir("examples") / "questions" / "do-we-need-a-cluster.toml"


@pytest.mark.laws
def test_the_verdict_is_told_with_claims_and_the_simplest_design() -> None:
    done = run("verdict", EXAMPLE)
    assert done.returncode == 0, done.stderr
    assert "You do not need a cluster" in done.stdout
    assert "the storage allowed" in done.stdout
    assert "Claims and what would reverse them" in done.stdout
    _, tables = done.stdout.split("The simplest design that is enough")  # sentences before them are not wrapped
    assert max(map(len, tables.splitlines())) <= 115


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


def test_a_size_tells_the_simplest_design_too() -> None:
    done = run("size", EXAMPLE)
    assert done.returncode == 0, done.stderr
    assert "Simplest that is enough:" in done.stdout
    assert "local SSD would be enough and simpler" in done.stdout


def test_a_missing_request_is_refused(tmp_path: Path) -> None:
    refused(run("verdict", tmp_path / "none.toml"), 2, "none.toml")
