"""Stored counts of designs are those of counting the same designs anew, in whatever order they were asked about."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.design_counts import DesignCounts, DesignTotals
from sizer.physical.platforms import platforms
from sizer.physical.quantities import design_totals, quantities
from sizer.workload.request import Limits
from tests.factories.examples import catalog
from tests.property.law_examples import law

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


@law(80)
@given(platform=st.sampled_from(PLATFORMS), asked=st.lists(DESIGNS, min_size=1, max_size=4))
def test_stored_counts_are_those_of_counting_anew(platform, asked):
    """One design at a time is counted alone and compared with its column of what is stored, field by field."""

    def count(servers, nodes):
        return quantities(platform, servers, nodes, catalog=catalog())

    stored = DesignCounts(count, nodes_per_unit(platform.storage))
    for designs in asked:
        servers, nodes = (np.array(each, dtype=np.int64) for each in zip(*designs, strict=True))
        places = stored.places(servers, nodes)
        found = stored.totals(places)
        pieces = stored.amounts("pieces", places, _pieces)
        assert stored.knows(servers, nodes).all()
        for row, design in enumerate(designs):
            alone = count(*design)
            for name in ("rack_units", "racks", "power_max_w", "raw_bytes"):
                np.testing.assert_array_equal(getattr(found, name)[row], getattr(alone, name)[0])
            assert {rule for rule, rows in found.violations.items() if rows[row]} == set(alone.violations)
            assert bool(found.draw_is_open[row]) == bool(alone.unknown_power)
            np.testing.assert_array_equal(pieces[:, row], _pieces(alone.components)[:, 0])


@law(80)
@given(platform=st.sampled_from(PLATFORMS), designs=DESIGNS, rack_power_w=st.sampled_from([None, 9_000.0, 45_000.0]))
def test_totals_without_what_is_ordered_besides_are_those_of_all_parts(platform, designs, rack_power_w):
    """The limits of a room are judged alike with and without cables, software, PDUs and cords in the bill."""
    servers, nodes = (np.array(each, dtype=np.int64) for each in zip(*designs, strict=True))
    limits = Limits(rack_power_w=rack_power_w)
    found = design_totals(platform, servers, nodes, catalog=catalog(), limits=limits)
    whole = DesignTotals.of(quantities(platform, servers, nodes, catalog=catalog(), limits=limits))
    for name in ("rack_units", "racks", "power_max_w", "raw_bytes", "draw_is_open"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    assert found.violations.keys() == whole.violations.keys()
    for rule, rows in found.violations.items():
        np.testing.assert_array_equal(rows, whole.violations[rule])


def _pieces(parts):
    """All pieces, pieces by the place of their item in the alphabet, and lines that are bought."""
    size = parts[0].quantity.size
    found = np.zeros((3, size))
    for part in parts:
        weight = sum(map(ord, part.item))
        found += np.stack([part.quantity, part.quantity * weight, part.quantity * (part.status == "computed")])
    return found


def test_an_amount_is_worked_out_once_for_each_design_and_name():
    """No design is worked on twice under one name, whatever is asked again; amounts are those of their designs."""
    worked: list[tuple[str, ...]] = []
    platform = PLATFORMS[0]
    stored = DesignCounts(lambda servers, nodes: quantities(platform, servers, nodes, catalog=catalog()), 4)
    for name, sizes in (("one", [1, 2, 3]), ("one", [2, 3, 30]), ("other", [1, 2, 3, 30]), ("one", [30, 1])):
        places = stored.places(np.array(sizes), np.full(len(sizes), 4))
        alone = quantities(platform, np.array(sizes), np.full(len(sizes), 4), catalog=catalog())

        def work_out(parts, name: str = name):
            found = _pieces(parts)
            worked.extend((name, *column) for column in found.T.tolist())
            return found

        np.testing.assert_array_equal(stored.amounts(name, places, work_out), _pieces(alone.components))
    assert len(worked) == len(set(worked)) > 8
