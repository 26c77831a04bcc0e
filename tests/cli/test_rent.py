"""``sizer rent``: both costs of a design, with a rate from the request or the command line."""

import json
from pathlib import Path

from sizer.base.resources import data_dir
from tests.cli.running import refused, run

EXAMPLE = data_dir("examples") / "questions" / "rent-or-buy.toml"
PLAIN = data_dir("examples") / "dgx1-f800-resnet50.toml"


def test_the_example_to_the_cent() -> None:
    """One DGX-1 at 149,000 (price book), 10 % a year; 210,240 GPU-hours x 60 % x 2.48 = 312,837.12."""
    done = run("rent", EXAMPLE, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["buying"]["purchase"] == "149000.00"
    assert found["buying"]["care"] == "44700.00"
    assert found["buying"]["missing"] == ["prices"]  # every draw is known or assumed
    assert found["renting"]["total"] == "312959.62"  # 0.1448 TB x 36 x 23.5 = 122.50
    energy = found["buying"]["energy_kwh"] * 0.145
    assert float(found["buying"]["energy"]) - energy < 0.006
    known = sum(float(found["buying"][key]) for key in ("purchase", "renewals", "care", "energy"))
    # Lines await a quote: a budget for them in place of a total.
    assert found["buying"]["total"] is found["break_even_fraction"] is None
    assert 0 < float(found["open_prices_at_most"]) < 312_959.62 - known
    text = run("rent", EXAMPLE).stdout
    assert "to be quoted" in text.splitlines()[0]
    assert max(map(len, text.splitlines())) <= 110


def test_a_rate_of_the_command_line_goes_before_the_requests() -> None:
    found = json.loads(run("rent", EXAMPLE, "--rate", "4.96", "--use", "0.3", "--json").stdout)
    assert found["renting"]["total"] == "312959.62"  # twice the rate, half the hours
    assert run("rent", PLAIN, "--rate", 3).returncode == 0


def test_what_is_no_offer(tmp_path: Path) -> None:
    refused(run("rent", PLAIN), 2, "no [rental] table", "--rate")
    refused(run("rent", EXAMPLE, "--rate", "0"), 2, "per_gpu_hour", "greater than 0")
    refused(run("rent", EXAMPLE, "--rate", "1e5"), 2, "per_gpu_hour", "is not a price")
    refused(run("rent", EXAMPLE, "--use", "1.5"), 2, "utilization_fraction")
    refused(run("rent", tmp_path / "none.toml"), 2, "none.toml")
