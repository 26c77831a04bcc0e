"""More parts are not slower: the rate of a design over its servers and over its storage."""

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest
from sizer.base.arrays import Floats
from sizer.calibrate.calibration import stored_calibration
from sizer.physical.capacity import node_limits, nodes_per_unit
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.platform_columns import fabric_shares
from sizer.sizing.stages.workload_run import run_on
from tests.factories.examples import catalog
from tests.property.law_examples import law

# Sums of logarithms and powers; a loss of rate that anybody sees is a million times as large.
ROUNDING = 1 - 1e-9
numbers = st.integers(0, 2**32)
dnns = st.sampled_from(["resnet50", "vgg16", "alexnet", "inception-v4"])
ratios = st.sampled_from([1.0, 2.0, 3.0, 5.0])
SERVERS = np.arange(2, 161)


def asked(dnn: str, ratio: float) -> SizingRequest:
    work = {"dnn": dnn, "dataset": "imagenet", "target": {"gpus_busy": 8}}
    return SizingRequest.from_dict(
        {"workload": [work], "platforms": {"generations": ["volta"]}, "fabric": {"oversubscription": ratio}}
    )


@cache
def options() -> list[Platform]:
    return platforms(catalog(), asked("resnet50", 1.0))


def rate(request: SizingRequest, platform: Platform, servers: list[int], nodes: int) -> Floats:
    """Median rates of warm and cold epochs, shape (2, sizes). [samples/s]"""
    (work,) = resolved(request, catalog(), stored_calibration())
    run = run_on(request, work, platform, servers, nodes, np.inf, catalog(), stored_calibration())
    return np.array([np.min([stage.median for stage in stages.limiting()], axis=0) for stages in (run.warm, run.cold)])


@law()
@given(number=numbers, dnn=dnns, ratio=ratios, units=st.integers(0, 9))
def test_more_servers_are_slower_only_where_the_fabric_becomes_oversubscribed(number, dnn, ratio, units):
    """On one leaf all ports have their line rate; a second level of a fabric of 3:1 leaves each a third of it.

    That happens once: from then on the ports have the same share at every size, and more servers are faster.
    """
    request, platform = asked(dnn, ratio), options()[number % len(options())]
    nodes = node_limits(platform.storage)[0] + units * nodes_per_unit(platform.storage)
    share = fabric_shares([platform], np.zeros_like(SERVERS), SERVERS, np.full(SERVERS.shape, nodes), request.fabric)
    assert share.min() >= ROUNDING / ratio
    assert (np.diff(share) <= 0).all()
    found = rate(request, platform, SERVERS.tolist(), nodes)
    is_slower = (found[:, 1:] < ROUNDING * found[:, :-1]).any(axis=0)
    assert not (is_slower & (np.diff(share) == 0)).any()


@law()
@given(
    number=numbers, dnn=dnns, ratio=ratios, servers=st.integers(1, 160), units=st.integers(0, 9), more=st.integers(1, 9)
)
def test_more_storage_is_never_slower_on_the_same_fabric(number, dnn, ratio, servers, units, more):
    """Storage on the fabric takes ports, so that it may be what makes a second level necessary."""
    request, platform = asked(dnn, ratio), options()[number % len(options())]
    step, least = nodes_per_unit(platform.storage), node_limits(platform.storage)[0]
    nodes = [least + units * step, least + (units + more) * step]
    few, many = (rate(request, platform, [servers], one) for one in nodes)
    pair = np.array([servers, servers])
    before, after = fabric_shares([platform], np.zeros_like(pair), pair, np.array(nodes), request.fabric)
    assert after < before or (many >= ROUNDING * few).all()
    assert ratio > 1 or before == after == 1
