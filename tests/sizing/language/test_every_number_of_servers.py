"""Every number of servers up to 128 is judged by its own layouts, not by those of a smaller number."""

import pytest

from sizer import SizingRequest
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.project import project

CATALOG = shipped_catalog()


@pytest.mark.parametrize("servers", [45, 50, 55])
def test_numbers_of_servers_that_divide_well_use_all_gpus(servers: int) -> None:
    """Llama 3 70B has 80 layers and 64 heads, so tensor parts of 2 or 4 and 5, 8 or 10 stages divide it.

    360 = 2 x 5 x 36, 400 = 2 x 10 x 20 and 440 = 2 x 10 x 22 GPUs are divided without a rest, as is a batch of as
    many sequences. The degrees of a layout multiply to its GPUs.
    """
    request = SizingRequest.from_file("examples/llama-70b-dgx-h100.toml")
    design = project(request, CATALOG, server="dgx-h100", servers=servers, storage="ai400x2", storage_nodes=1)
    (answer,) = design.workloads
    layout = answer.language.layout
    assert answer.language.gpus_used == servers * 8
    assert layout.tensor * layout.pipeline * layout.context * layout.data == servers * 8
