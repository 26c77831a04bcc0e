"""A recommender with embedding tables divided over the GPUs: exchange, time to train and growth, by hand."""

import math

import pytest

from sizer import size
from sizer.catalog.loader import shipped_catalog
from sizer.physical.notes import ViolationKind
from sizer.sizing.design.storage_need import next_sizes
from sizer.sizing.reasons import ExchangeReason
from tests.factories.requests import recommender_request

CATALOG = shipped_catalog()


@pytest.fixture(scope="module")
def design():
    return size(recommender_request("c4140"), CATALOG).design


def test_divided_tables_exchange_what_is_looked_up(design):
    """Dense part: 5e6 / 2 FLOP = 2.5 M parameters of 2 B, 5 MB of gradients.

    A sample looks up 160 B / 4 B = 40 vectors of 128 elements of 2 B, 10,240 B; 2,048 samples look up 20.97 MB. The
    10 G parameters as a whole would be 20 GB.
    """
    reason = next(stage.reason for stage in design.workloads[0].stages if stage.key == "exchange")
    assert isinstance(reason, ExchangeReason)
    assert reason.has_tables
    assert reason.gradient_bytes == pytest.approx(2.5e6 * 2 + 2048 * 40 * 128 * 2)


def test_the_whole_time_has_the_interval_of_its_parts(design):
    """One epoch of a stated number: nothing but start-up and the first epoch, whose ends the total has, too."""
    time = design.workloads[0].time
    parts = [time.start_up_s + float(part) for part in time.first_epoch_s]
    assert time.epochs.low == time.epochs.high
    assert not math.isclose(parts[0] / parts[1], parts[1] / parts[2], rel_tol=0.05)  # the ends are not symmetric
    # Nothing is evaluated: the total is the sum.
    assert list(time.total_s) == pytest.approx(parts, rel=1e-6)


def test_growth_that_slows_the_training_is_not_proposed(design):
    """The rates of the scaling curve: where 2 and 3 servers train fewer samples/s than one, none is a next size."""
    curve = design.workloads[0].scaling
    rate = dict(zip(curve.n_servers.tolist(), curve.throughput.value.tolist(), strict=True))
    steps = next_sizes(design)
    assert [step.n_servers for step in steps] == [design.n_servers + 1, design.n_servers + 2]
    for step in steps:
        is_slower = rate[step.n_servers] < rate[design.n_servers]
        assert (step.limit is not None) == is_slower
        if is_slower:
            assert step.limit.kind is ViolationKind.SLOWER_TRAINING
            assert step.added == ()
