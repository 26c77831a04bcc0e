"""The table of availability: work lost, spare servers, and what each number rests on."""

import pytest

from sizer.base.quantities import NARROW_SPACE
from sizer.present.availability import availability_table
from tests.factories import examples


@pytest.fixture(scope="module")
def adapters():
    """One server with a run of 79.2 min, shorter than the 4.08 h between two checkpoints."""
    design = examples.sized("llama-70b-adapters-b200").design
    return design, design.workloads[0]


@pytest.fixture
def cells(adapters):
    return {row.cells[0].text: row.cells[1] for row in availability_table(*adapters, 1).rows}


def test_an_interruption_loses_no_more_than_half_of_a_run_on_average(cells):
    """79.2 min of steps x 1.66 / 2 = 65.7 min; half of the interval, 2.04 h, is longer than the run."""
    assert cells["Work lost at an interruption, on average"].text == f"65.7{NARROW_SPACE}min"


def test_one_server_needs_no_spare_one(cells):
    """4 interruptions in 1,000 days and a day each: in repair for 0.4 % of the time, under 1 %."""
    assert cells["Spare servers, if a repair takes a day"].text.replace(NARROW_SPACE, " ") == (
        "none needed: repairs take under 1 % of the time"
    )
    assert not any("spare servers" in what for what in cells)


def test_every_input_of_goodput_has_a_source_or_is_marked_as_assumed(cells):
    assert cells["Interruptions"].cites == ("klockwood-reliability",)
    assert cells["Loading the checkpoint, then warm-up"].cites == ("mlperf-training-v5.0",)
    assert cells["Training stops for a checkpoint"].text == f"5.00{NARROW_SPACE}s, assumed"
    # Middles by ratio of 1 to 30 min and of 1 to 10 min: 5.5 min and 190 s.
    assert cells["Detection of a failure and restart"].text == f"8.67{NARROW_SPACE}min, assumed"
