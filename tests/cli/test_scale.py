"""``sizer scale``: tables for people, plain data for machines, one sentence for a slip."""

import json

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

QUESTION = data_dir("examples") / "questions" / "scale-up-or-out.toml"


def test_scale_json_has_every_arrangement() -> None:
    done = run("scale", QUESTION, "--json")
    document = json.loads(done.stdout)
    (same,) = document["comparisons"]
    assert document["kind"] == "up-or-out"
    assert {one["n_servers"] * one["gpus_used_per_server"] for one in same["arrangements"]} == {32}


def test_a_slip_is_named() -> None:
    refused(run("scale", QUESTION, "--gpus", "8;16"), 2, "'8;16' is not a number of GPUs")
    refused(run("scale", QUESTION, "--gpus", "0"), 2, "the number of GPUs is 0; allowed are 1 to 10000")
    refused(run("scale", QUESTION, "--order-by", "vendor"), 2, "rack-units")
