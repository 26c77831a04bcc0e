"""``sizer failures``: every single loss in words and for machines, and the design that tolerates some of them."""

import json

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

EXAMPLES = data_dir("examples")
ASKED = EXAMPLES / "questions" / "one-server-may-fail.toml"


def test_the_answer_for_machines_holds_the_same() -> None:
    done = run("failures", ASKED, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kind"] == "failures"
    assert found["keeps_targets_without"] == ["server", "storage-node", "feed"]
    cases = {one["key"]: one for one in found["cases"]}
    assert cases["server"]["keeps_targets"]
    assert cases["server"]["window_s"] == [None]  # never missed
    # Each server has one port on each of four leaves: the loss of one leaves three quarters of a fabric used to 16 %.
    assert cases["leaf"]["keeps_targets"]
    assert cases["leaf"]["window_s"] == [None]
    assert found["cost"]["n_servers"] == 1


def test_losses_are_asked_for_and_left_out_on_the_command_line() -> None:
    none = json.loads(run("failures", ASKED, "--without", "", "--json").stdout)
    assert (none["keeps_targets_without"], none["cost"]) == ([], None)
    assert not {one["key"]: one for one in none["cases"]}["server"]["keeps_targets"]
    all_ = run("failures", EXAMPLES / "c4140-f800.toml", "--without", "server, switch,gateway")
    assert all_.returncode == 0, all_.stderr
    assert "One gateway" in all_.stdout


def test_faults_are_one_sentence() -> None:
    refused(run("failures", ASKED, "--without", "serv"), 2, "--without", "serv", "did you mean 'server'")
    refused(run("failures", EXAMPLES / "small-team.toml", "--without", "storage-node"), 4, "HNAS", "survives the loss")
    refused(run("failures", "nowhere.toml"), 2, "nowhere.toml")
