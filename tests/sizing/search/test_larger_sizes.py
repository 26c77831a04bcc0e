"""Targets that take more servers than a search looks at first, and limits of servers that exclude what meets them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sizer import InfeasibleError, SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.best_design import best_design, best_row
from sizer.sizing.recommend import MAX_SERVERS, search
from sizer.sizing.search import larger_sizes as larger_sizes_module
from sizer.sizing.search.larger_sizes import servers_by_scaling

CATALOG = shipped_catalog()


def _asked(rate: float, **limits: Any) -> SizingRequest:
    work = {"dnn": "resnet50", "precision": "mixed", "target": {"samples_per_s": rate}}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"servers": ["dgx-1"]}, "limits": limits})


def _servers(request: SizingRequest) -> int:
    found = best_row(request, CATALOG, stored_calibration())
    return int(found.counts.evaluated.space.n_servers[found.row])


def test_servers_at_which_a_share_becomes_the_whole():
    """Linear: 160 that deliver 0.4 become 400. By n/(1 + n/320): 160 deliver 106.7, k = 2/3, and 320 deliver 160."""
    share, exponent = np.array([0.4, 2 / 3, 0.4]), np.array([1.0, 2 / 3, 0.5])
    # With k = 1/2 twice the rate is out of reach of any number: 2.5 times all the more.
    assert servers_by_scaling(160, share, exponent) == pytest.approx([400, 320, np.inf])


def test_no_size_is_skipped_below_what_is_expected(monkeypatch):
    """187 were expected to be needed, and 172 met the target: a limit of 180 gave a cheaper answer than none."""
    monkeypatch.setattr(larger_sizes_module, "servers_expected", lambda _: 200.0)
    space = SimpleNamespace(runs=np.zeros((1, 160), dtype=bool), space=SimpleNamespace(sizes=np.arange(1, 161)))
    sizes = larger_sizes_module.larger_sizes(space)
    assert sizes[:90].tolist() == list(range(161, 251))


def test_a_rate_beyond_the_first_search_is_met_by_a_larger_cluster():
    """A DGX-1 trains ResNet-50 at some 10,000 images/s: two million take 200 and more, as where they are allowed."""
    asked = _asked(2e6)
    servers = _servers(asked)
    assert 200 <= servers <= 300
    assert servers == _servers(_asked(2e6, servers=400))
    assert search(_asked(1e5), CATALOG, stored_calibration()).evaluated.space.sizes[-1] == MAX_SERVERS


def test_an_error_names_the_limit_of_servers_that_excludes_larger_designs():
    said = r"Excluded by: rate of the GPUs within limits\.servers = 3\..*Without this limit .* × DGX-1 with"
    with pytest.raises(InfeasibleError, match=said):
        best_design(_asked(40_000, servers=3), CATALOG)


def test_a_room_too_small_is_no_reason_for_more_servers():
    """A DGX-1 draws more than 1 kW: no cluster of 160 is within 100 kW, and no larger one."""
    request = _asked(2e6, power_w=100_000)
    assert search(request, CATALOG, stored_calibration()).evaluated.space.sizes[-1] == MAX_SERVERS
    with pytest.raises(InfeasibleError, match=r"Excluded by: rate of the GPUs and the limit of 100 kW"):
        best_design(request, CATALOG)


def test_an_error_names_the_most_servers_that_are_compared():
    """160 DGX-1 deliver some 1.6 million images/s: ninety million take more than 9,000."""
    with pytest.raises(InfeasibleError, match=r"Clusters of up to 160 servers were compared; limits\.servers"):
        best_design(_asked(9e7), CATALOG)
