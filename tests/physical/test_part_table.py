"""The table of a platform holds what counting each design alone gives, in whatever order designs were asked about."""

from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest
from sizer.physical import quantities as module
from sizer.physical.capacity import node_limits, nodes_per_unit
from sizer.physical.components import Component, DesignParts
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.physical.quantities import PartTable, quantities
from tests.factories.examples import catalog
from tests.property.law_examples import law

# Every platform of the catalogue, of V100 and of today.
PLATFORMS = [
    platform
    for era in (["volta"], ["hopper", "blackwell"])
    for platform in platforms(
        catalog(),
        SizingRequest.from_dict(
            {
                "workload": [{"dnn": "resnet50", "dataset_bytes": "2 TB", "target": {"gpus_busy": 16}}],
                "platforms": {"generations": era},
            }
        ),
    )
]
DESIGNS = st.lists(st.tuples(st.integers(1, 160), st.integers(0, 3)), min_size=1, max_size=6)
VALUES = ("rack_units", "racks", "power_typical_w", "power_max_w", "raw_bytes")


def pieces(components: tuple[Component, ...], design: int = 0) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for part in components:
        key = part.role, part.item, part.status
        found[key] = found.get(key, 0) + int(part.quantity[design])
    return {key: count for key, count in found.items() if count}


def nodes_of(platform: Platform, more_units: int) -> int:
    return node_limits(platform.storage)[0] + more_units * nodes_per_unit(platform.storage)


@law(60)
@given(number=st.integers(0, 10_000), asked=st.lists(DESIGNS, min_size=1, max_size=3))
def test_a_design_of_the_table_is_the_design_counted_alone(number: int, asked: list[list[tuple[int, int]]]) -> None:
    platform = PLATFORMS[number % len(PLATFORMS)]
    count = partial(quantities, platform, catalog=catalog())
    table = PartTable(count)
    for designs in asked:
        servers, nodes = np.array([(n, nodes_of(platform, more)) for n, more in designs], dtype=np.int64).T
        found = table.designs(servers, nodes)
        for place, design in enumerate(zip(servers.tolist(), nodes.tolist(), strict=True)):
            alone = count(*design)
            for name in VALUES:
                np.testing.assert_array_equal(getattr(found, name)[place], getattr(alone, name)[0])
            assert {rule for rule, rows in found.violations.items() if rows[place]} == set(alone.violations)
            assert bool(found.draw_is_open[place]) == bool(alone.unknown_power)
            assert pieces(found.components, place) == pieces(alone.components)


def test_a_design_is_counted_once() -> None:
    counted: list[tuple[int, int]] = []

    def count(servers, nodes):
        counted.extend(zip(servers.tolist(), nodes.tolist(), strict=True))
        return quantities(PLATFORMS[0], servers, nodes, catalog=catalog())

    table = PartTable(count)
    for sizes in ([1, 2, 3], [2, 3, 30], [1, 2, 3, 30], [30, 1]):
        table.designs(np.array(sizes), np.full(len(sizes), 4))
    assert len(counted) == len(set(counted)) > 4


def test_a_full_table_starts_anew(monkeypatch) -> None:
    """Three blocks of 16 sizes do not fit 32 designs; what is asked for again is counted again, and right."""
    monkeypatch.setattr(module, "_MOST_DESIGNS", 32)
    count = partial(quantities, PLATFORMS[0], catalog=catalog())
    table = PartTable(count)
    for servers in (1, 17, 33, 1):
        found: DesignParts = table.designs(np.array([servers]), np.array([4]))
        assert pieces(found.components) == pieces(count([servers], [4]).components)
