"""Checkpoints pass the clients and ports of the servers, as reads of training do."""

import pytest

from sizer import SizingRequest
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.project import project

CATALOG = shipped_catalog()


def test_few_clients_bound_what_the_storage_writes():
    """One DGX H100 and an AI400X2, 65 GB/s by its vendor: one client passes less.

    NVIDIA's reference architecture (RA-11333-001 V11): at least 40 GB/s for one node. DDN with DGX B200: 96 % of two
    ports of 400 Gbit/s, 96 GB/s, more than this storage has.
    """
    work = {"dnn": "llama-3-8b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict({"workload": [work], "platforms": {"fabrics": ["ndr"]}})
    design = project(request, CATALOG, server="dgx-h100", servers=1, storage="ai400x2", storage_nodes=1)
    kept = checkpoint_storage(design, design.workloads[0].job)
    assert kept.write_bytes_per_s == pytest.approx((40e9, 65e9))
    assert kept.write_s == pytest.approx(kept.written_bytes / 40e9)
    assert kept.read_bytes_per_s[0] == pytest.approx(40e9)
