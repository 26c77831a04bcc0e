"""Which platforms share the arithmetic: those of equal rates and equal storage, and no others."""

import numpy as np

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.physical.platforms import platforms
from sizer.sizing.search.feasibility import Alike
from sizer.sizing.search.space import design_space
from sizer.sizing.stages.gpu_memory import resolved
from tests.bench.requests import open_request

_OF_STORAGE = ("is_per_node", "per_unit", "least", "most", "holds_data", "rate_is_known", "write_is_known")


def test_a_class_holds_the_platforms_of_equal_rates_and_equal_storage():
    request, catalog = open_request(3000.0, 4), shipped_catalog()
    options, works = platforms(catalog, request), resolved(request, catalog, stored_calibration())
    found = Alike.of(request, works, options, design_space(len(options), 1, 4), catalog)
    of_storage = [getattr(found.units, name) for name in (*_OF_STORAGE, "capacity_is_known")]
    facts = np.stack([*found.facts.as_rows(), *of_storage]).astype(float).T.tolist()
    classes: dict[tuple[float, ...], set[int]] = {}
    for number, row in zip(found.class_of.tolist(), facts, strict=True):
        classes.setdefault(tuple(row), set()).add(number)
    assert all(len(numbers) == 1 for numbers in classes.values())
    assert len(classes) == len(found.first) > 100
    # The first platform of a class stands for it, and its kind of servers is the one that it has.
    assert found.class_of[found.first].tolist() == list(range(len(found.first)))
    kinds = np.stack([found.facts.gpus_per_server, found.facts.cores, found.facts.cache_bytes, found.facts.compute])
    assert np.array_equal(kinds[:, found.first], kinds[:, found.kinds[found.kind_of]])
