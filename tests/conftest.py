"""Set-up of all tests."""

import os

import pytest
from hypothesis import settings

from tests import drawn_examples

# One thread of linear algebra a process: of two workers on two cores each would wait for the other's, and the
# benchmarks are of one core. Before numpy is imported, which starts them.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

settings.load_profile("steady")


@pytest.fixture(scope="session")
def catalog() -> object:
    """The shipped catalogue."""
    from sizer.catalog.loader import shipped_catalog

    return shipped_catalog()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep tests of one file on one worker, as their fixtures; leave out what this run does not draw."""
    out = drawn_examples.left_out(items)
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]
    for item in items:
        item.add_marker(pytest.mark.xdist_group(drawn_examples.group(item)))
