"""Laws that every counted design keeps."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.bom.lines import bill, row_cost
from sizer.bom.prices import PriceBook
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.price_books import Price
from sizer.physical.capacity import counts_nodes, smallest_nodes, usable_bytes
from sizer.physical.networks.fat_tree import fat_tree, gateway_uplinks, gateways, uplinked_leaves
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.racks.placement import RackClass, RackLimits, count_racks, place
from sizer.workload.request import SizingRequest
from tests.factories.requests import CATALOG

PLATFORMS = platforms(
    CATALOG,
    SizingRequest.from_dict(
        {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}], "platforms": {"generations": ["volta"]}}
    ),
)
some_platforms = st.integers(0, len(PLATFORMS) - 1)  # by number: a platform prints as pages
servers = st.integers(1, 60)
nodes = st.integers(1, 36).map(lambda units: 4 * units)


@given(n=st.integers(1, 12_000), ports=st.sampled_from([4, 24, 32, 36, 48]), ratio=st.floats(1, 8))
def test_tree_holds_its_end_points(n, ports, ratio):
    tree = fat_tree(n, ports, ratio)
    if not tree.fits:
        return
    assert tree.ports_free >= 0
    assert tree.ports_used + tree.ports_free == (tree.leaves + tree.spines + tree.cores) * ports
    assert tree.ports_used == n + 2 * (tree.leaf_spine_cables + tree.spine_core_cables)
    assert tree.oversubscription <= ratio + 1e-9
    if tree.levels == 2:
        assert tree.leaf_spine_cables / tree.leaves % tree.spines == 0  # even spread
    if tree.spines:
        assert tree.leaf_spine_cables + tree.spine_core_cables <= tree.spines * ports
        assert tree.spine_core_cables <= tree.cores * ports


@given(ports=st.sampled_from([4, 24, 32, 36, 48]), ratio=st.floats(1, 8), director=st.sampled_from([None, 216, 648]))
def test_more_end_points_never_take_fewer_switches(ports, ratio, director):
    tree = fat_tree(np.arange(0, 3000), ports, ratio, director_ports=director)
    fits = tree.fits
    for count in (tree.spines, tree.cores, tree.leaves + tree.spines, tree.leaf_spine_cables, tree.spine_core_cables):
        assert (np.diff(count[fits]) >= 0).all()
    assert (np.diff(fits.astype(int)) <= 0).all()


@given(storage=st.integers(0, 60), ratio=st.floats(1, 4))
def test_uplinked_leaves_grow(storage, ratio):
    tree = uplinked_leaves(np.arange(0, 200), 48, 6, 4.0, 32, storage, ratio)
    fits = tree.fits
    assert (np.diff(tree.leaves) >= 0).all()
    assert (np.diff(tree.spines[fits]) >= 0).all()
    assert (np.diff(fits.astype(int)) <= 0).all()


def test_gateways_hold_their_ports_and_grow():
    ports = np.arange(0, 300)
    held = gateways(ports, gateway_uplinks(ports))
    count = np.maximum(held.gateways, 1)
    assert (-(-ports // count) - (-held.uplinks // count) <= 36).all()
    assert (np.diff(held.gateways) >= 0).all()
    fewer = held.gateways > 1
    less = held.gateways[fewer] - 1
    assert (-(-ports[fewer] // less) - (-held.uplinks[fewer] // less) > 36).all()  # as few as possible


@given(number=some_platforms, need=st.floats(1, 1e16))
def test_smallest_system_holds_the_data(number, need):
    platform = PLATFORMS[number]
    storage, option = platform.storage, platform.capacity_option
    found = smallest_nodes(storage, option, need)
    usable = usable_bytes(storage, option, found.nodes)
    if np.isnan(usable):
        return
    assert found.fits == (usable >= need)
    unit = storage.nodes_per_unit.value if storage.nodes_per_unit else 1
    low = storage.min_nodes.value if storage.min_nodes else 1
    if counts_nodes(storage) and found.fits and found.nodes - unit >= low:
        assert usable_bytes(storage, option, found.nodes - unit) < need


@given(number=some_platforms, n=st.integers(2, 30), m=nodes)
def test_servers_use_all_their_fabric_ports(number, n, m):
    platform = PLATFORMS[number]
    rows = slice_row(quantities(platform, [n], [m], catalog=CATALOG), 0)
    cables = sum(
        int(p.quantity[0]) for p in rows.components if p.role == "compute cable" and p.category == "cable and optic"
    )
    media = {CATALOG.cables[p.item].media for p in rows.components if p.role == "compute cable"}
    assert media <= {"dac", "copper", "aoc"}
    assert cables == n * fabric_ports(platform.server.ports, platform.fabric)


rack_needs = st.tuples(
    st.integers(1, 12), st.integers(0, 900), st.integers(0, 9000), st.integers(0, 4), st.integers(0, 4)
)


@given(
    needs=st.lists(rack_needs, min_size=1, max_size=5),
    counts=st.lists(st.tuples(*[st.integers(0, 15)] * 5), min_size=1, max_size=4),
    grown=st.integers(0, 4),
    there=st.lists(rack_needs, max_size=3),
)
def test_next_fit_places_all_and_grows(needs, counts, grown, there):
    existing = tuple(np.array(left, float) for left in there)
    limits = RackLimits(np.array([42.0, 1000.0, 10_000.0, 30.0, 12.0]), 10_000.0, (30, 12), existing=existing)
    rows = np.array(counts)
    more = rows.copy()
    more[:, grown] += 1

    def classes(quantities):
        return [RackClass(f"c{i}", f"c{i}", quantities[:, i], np.array(need, float)) for i, need in enumerate(needs)]

    counted = count_racks(classes(rows), limits, len(rows))
    assert (count_racks(classes(more), limits, len(rows)).racks >= counted.racks).all()
    for row in range(len(rows)):
        racks = place(classes(rows[row : row + 1]), limits)
        new = [rack for rack in racks if rack.existing is None]
        assert len(new) == counted.racks[row]
        assert len(racks) - len(new) == counted.existing[row]
        placed = sum(count for rack in racks for _, _, count in rack.devices)
        assert placed == rows[row, : len(needs)].sum()
        for rack in racks:
            load = sum(np.array(needs[int(item[1:])], float) * count for _, item, count in rack.devices)
            if rack.existing is not None:
                assert (load <= existing[rack.existing] + 1e-6).all()
            elif counted.holds_all[row]:
                assert (load <= limits.holds + 1e-6).all()


prices = st.dictionaries(
    st.sampled_from(
        ["dgx-1", "c4140", "isilon-f800", "sb7800", "s5232f-on", "cat6", "ar3300", "weka-matrix", "dgx-support"]
    ),
    st.decimals(Decimal("0.01"), Decimal(10**7), places=2),
)


@settings(deadline=None)
@given(number=some_platforms, n=servers, m=nodes, amounts=prices)
def test_total_is_the_sum_of_the_lines_and_the_cost_of_the_search(number, n, m, amounts):
    platform = PLATFORMS[number]
    book = PriceBook(
        Price(item=item, amount=str(amount), currency="USD", date="2026", source="quote", where="1")
        for item, amount in amounts.items()
    )
    counted = quantities(platform, [1, n], [4, m], catalog=CATALOG)
    made = bill(slice_row(counted, 1).components, CATALOG, book, "USD", None)
    bought = [line for line in made.lines if line.status == "computed"]
    assert made.total == sum(
        (line.unit_price * line.quantity for line in bought if line.unit_price is not None), Decimal(0)
    )
    cost, unpriced = row_cost(counted.components, CATALOG, book, "USD")
    assert cost[1] == pytest.approx(float(made.total), rel=1e-14)
    assert set(made.unpriced) <= set(unpriced)
    for line in made.lines:
        item = CATALOG.item(line.item)
        is_free = CATALOG.category_of(line.item) == "software" and item.metric.value in ("free", "included")
        assert (line.unit_price == 0) == is_free
        if not is_free and line.item not in amounts:
            assert line.unit_price is None
