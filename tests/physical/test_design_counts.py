"""Stored counts of designs are those of counting the same designs anew, in whatever order they were asked about."""

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.components import Quantities
from sizer.physical.design_counts import DesignCounts
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities
from tests.factories.examples import catalog
from tests.property.law_examples import examples

ASKED = SizingRequest.from_dict(
    {
        "workload": [{"dnn": "resnet50", "dataset_bytes": "2 TB", "target": {"gpus_busy": 16}}],
        "platforms": {
            "servers": ["dgx-1", "v225g", "dgx-h100"],
            "storage": ["isilon-f800", "head-node-nfs", "ai400x2"],
        },
    }
)
PLATFORMS = platforms(catalog(), ASKED)
DESIGNS = st.lists(st.tuples(st.integers(1, 40), st.sampled_from([4, 8, 12, 28])), min_size=1, max_size=6)


def pieces(found: Quantities, row: int) -> dict[tuple[object, ...], int]:
    """Parts of one row, those of the same kind together."""
    counted: dict[tuple[object, ...], int] = {}
    for part in found.components:
        key = (part.role, part.category, part.item, part.notes, part.status, part.contents)
        counted[key] = counted.get(key, 0) + int(part.quantity[row])
    return {key: count for key, count in counted.items() if count}


@examples(quick=15, thorough=80)
@given(platform=st.sampled_from(PLATFORMS), asked=st.lists(DESIGNS, min_size=1, max_size=4))
def test_stored_counts_are_those_of_counting_anew(platform, asked):
    """One design at a time is counted alone and compared with its column of what is stored, field by field."""

    def count(servers, nodes):
        return quantities(platform, servers, nodes, catalog=catalog())

    stored = DesignCounts(count, nodes_per_unit(platform.storage))
    for designs in asked:
        servers, nodes = (np.array(each, dtype=np.int64) for each in zip(*designs, strict=True))
        places = stored.places(servers, nodes)
        found, is_open = stored.parts(places), stored.draw_is_open(places)
        assert stored.knows(servers, nodes).all()
        for row, design in enumerate(designs):
            alone = count(*design)
            assert pieces(found, row) == pieces(alone, 0)
            for one in fields(Quantities):
                value = getattr(alone, one.name)
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(getattr(found, one.name)[row], value[0])
            assert {rule for rule, rows in found.violations.items() if rows[row]} == set(alone.violations)
            assert bool(is_open[row]) == bool(alone.unknown_power)


def test_an_amount_is_worked_out_once_for_each_design_and_name():
    """No design is worked on twice under one name, whatever is asked again; amounts are those of their designs."""
    worked: list[tuple[str, float, float]] = []
    platform = PLATFORMS[0]
    stored = DesignCounts(lambda servers, nodes: quantities(platform, servers, nodes, catalog=catalog()), 4)
    for name, sizes in (("one", [1, 2, 3]), ("one", [2, 3, 30]), ("other", [1, 2, 3, 30]), ("one", [30, 1])):
        places = stored.places(np.array(sizes), np.full(len(sizes), 4))
        alone = quantities(platform, np.array(sizes), np.full(len(sizes), 4), catalog=catalog())

        def work_out(found: Quantities, name: str = name):
            # Units and watts together name a design of this platform.
            worked.extend(
                (name, pair) for pair in zip(found.rack_units.tolist(), found.power_max_w.tolist(), strict=True)
            )
            return np.stack([found.rack_units, 2 * found.rack_units, 3 * found.rack_units])

        amounts = stored.amounts(name, places, work_out)
        np.testing.assert_array_equal(amounts, [k * alone.rack_units for k in (1, 2, 3)])
    assert len(worked) == len(set(worked)) > 8
