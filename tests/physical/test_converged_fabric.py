"""Compute and storage on one Ethernet fabric."""

import numpy as np
import pytest

from sizer.base.errors import InfeasibleError
from sizer.physical.platforms import platforms
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.project import project
from sizer.workload.request import SizingRequest
from tests.factories import examples


def design(servers=8, nodes=4, **fabric):
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": ["400gbe"]},
            "fabric": fabric,
            "data": {"storage_level": "none"},
        }
    )
    return project(
        asked,
        examples.catalog(),
        server="sys-a21ge-nbrt",
        servers=servers,
        storage="powerscale-f710",
        storage_nodes=nodes,
    )


def network(found, role):
    return next((net for net in found.quantities.networks if net.role is role), None)


def test_storage_joins_the_compute_fabric():
    """Eight servers with eight ports of 400 GbE and four nodes with two of 100 GbE: 64 + 8 links."""
    apart, converged = design(), design(converged=True)
    assert int(network(apart, NetworkRole.COMPUTE).end_points[0]) == 64
    assert network(apart, NetworkRole.STORAGE) is not None
    assert network(converged, NetworkRole.STORAGE) is None
    roles = {}
    for cable in converged.plan.cables:
        if cable.run.network.network is NetworkRole.COMPUTE:
            roles[cable.run.role] = roles.get(cable.run.role, 0) + cable.run.a_device.size
    assert roles[Role.COMPUTE_CABLE] == 64
    assert roles[Role.STORAGE_CABLE] == 8
    # The ports that served the storage fabric stay free, and its switches are not bought.
    assert sum(int(net.leaves[0]) for net in converged.quantities.networks) < sum(
        int(net.leaves[0]) for net in apart.quantities.networks
    )


def test_storage_spreads_over_the_leaves_of_a_larger_one():
    converged = design(64, 16, converged=True)
    runs = [cable.run for cable in converged.plan.cables if cable.run.role is Role.STORAGE_CABLE]
    per_leaf = np.unique(np.concatenate([run.b_device for run in runs]), return_counts=True)[1]
    assert per_leaf.max() - per_leaf.min() <= 1


def test_infiniband_is_refused_in_one_sentence():
    asked = {
        "workload": [{"dnn": "llama-3-70b", "tokens": 1e10, "target": {"gpus_busy": 64}}],
        "platforms": {"servers": ["dgx-h100"], "fabrics": ["ndr"]},
        "fabric": {"converged": True},
    }
    with pytest.raises(InfeasibleError, match="needs an Ethernet fabric"):
        platforms(examples.catalog(), SizingRequest.from_dict(asked))
