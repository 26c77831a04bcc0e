"""Checkpoints pass the mounts of the servers, as reads of training do."""

import pytest

from sizer import SizingRequest, load_catalog
from sizer.sizing.design.checkpoint_storage import checkpoint_storage
from sizer.sizing.project import project
from sizer.sizing.stages.storage_rates import mount_rates

CATALOG = load_catalog()


def test_few_clients_bound_what_the_storage_writes():
    """One DGX H100 and an AI400X2: the mounts of the server pass less than the appliance's vendor figure of 65 GB/s.

    Rate of the mounts: their number times the low rate of one; 988 GB at that rate.
    """
    work = {"dnn": "llama-3-8b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict({"workload": [work], "platforms": {"fabrics": ["ndr"]}})
    design = project(request, CATALOG, server="dgx-h100", servers=1, storage="ai400x2", storage_nodes=1)
    job = design.workloads[0].job
    fixed, per_node, low, high = mount_rates(CATALOG.storage["ai400x2"], CATALOG)
    clients = (fixed + per_node * 1) * low, (fixed + per_node * 1) * high
    assert clients[0] < 65e9
    kept = checkpoint_storage(design, job)
    assert kept.write_bytes_per_s == pytest.approx(clients)
    assert kept.write_s == pytest.approx(kept.written_bytes / clients[0])
    assert kept.read_bytes_per_s[0] <= clients[0]
