"""What the answer says of feeds, full switches, the number of storage nodes, and the hours of a team."""

from dataclasses import replace

import numpy as np

from sizer.present.text.plan import feeds_sentence
from sizer.present.text.warnings import design_warnings, storage_need_sentences
from sizer.sizing.reasons import RateNeed, StorageDecision, StorageNeed
from tests.factories import examples
from tests.published.test_reference_architectures import plan_of, platform_of


def test_the_feeds_say_what_a_loss_stops_and_how_many_feeds_avoid_it() -> None:
    """DGX B200: five of six supplies carry its full draw; losing one of six feeds takes one, of five two."""
    rack = {"rack": "ar3357", "network_racks": True}
    _, plan = plan_of(platform_of("dgx-b200", "dgx-b200-nvme", rack, ["ndr"]), 2, 0, rack_power_w="41 kW")
    text = feeds_sentence(plan)
    assert "3 of 6" in text
    assert "six feeds" in text
    assert "9.90" in text


def test_a_full_switch_is_told() -> None:
    design = examples.sized("llama-70b-dgx-h100").design
    compute, *others = design.quantities.networks
    one = np.ones(1, dtype=np.int64)
    each = int(compute.end_points[0]) // design.n_servers
    for free, is_told in ((each - 1, True), (each, False)):
        net = replace(compute, leaves=one, spines=0 * one, cores=0 * one, rails=1, leaf_ports_free=free * one)
        quantities = replace(design.quantities, networks=(net, *others))
        found = [text for text in design_warnings(replace(design, quantities=quantities)) if "spare_servers" in text]
        assert bool(found) is is_told


def test_the_need_that_decides_the_storage_nodes_is_named() -> None:
    design = examples.sized("c4140-f800").design
    need = StorageNeed(
        decision=StorageDecision.RATE,
        nodes=11,
        smallest_nodes=1,
        nodes_for_capacity=2,
        nodes_for_rate=11,
        rate_need=RateNeed.LEVEL,
        load_fraction=0.1,
        fill_fraction=0.1,
        larger_drives=None,
        capacity_tier=None,
        minimum=None,
        has_working_set=False,
    )
    (text,) = storage_need_sentences(replace(design, storage_need=need))
    assert "11" in text
    assert "2\u00a0nodes" in text
    assert "another level can be stated" in text
    assert not storage_need_sentences(replace(design, storage_need=replace(need, nodes=1, nodes_for_rate=1)))
