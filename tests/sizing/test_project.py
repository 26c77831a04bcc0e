"""A given cluster obeys the request: its fabrics, and the number of GPUs to keep busy."""

from typing import Any

import pytest

from sizer import Catalog, DesignAnswer, InfeasibleError, SizingRequest, project
from sizer.guide.plain_text import projection_text
from sizer.sizing.checks import CheckResult


def request(target: dict[str, Any], **tables: Any) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset": "imagenet", "dataset_bytes": "150 GB", "target": target}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"generations": ["volta"]}, **tables})


def c4140(asked: SizingRequest, catalog: Catalog, servers: int) -> DesignAnswer:
    """C4140 with four GPUs each and drives of their own."""
    return project(asked, catalog, server="c4140", servers=servers, storage="c4140-nvme")


def test_four_gpus_do_not_keep_sixteen_busy(catalog):
    """One C4140 has four GPUs; four of them have the sixteen."""
    asked = request({"gpus_busy": 16})
    one = c4140(asked, catalog, servers=1)
    assert one.n_gpus == 4
    assert one.workloads[0].target_check is CheckResult.NOT_MET
    assert one.probability == 0.0
    four = c4140(asked, catalog, servers=4)
    assert four.n_gpus == 16
    assert four.probability > 0.0


def test_a_given_cluster_stands_on_a_fabric_that_the_request_allows(catalog):
    """EDR is the fastest that a DGX-1 has; a request that allows 100 GbE alone gets 100 GbE, and it is printed."""
    target = {"samples_per_s": 5_000}
    parts = {"server": "dgx-1", "servers": 2, "storage": "isilon-f800", "storage_nodes": 4}
    free = project(request(target), catalog, **parts)
    assert free.platform.fabric.id == "edr"
    bound = project(request(target, platforms={"fabrics": ["100gbe"]}), catalog, **parts)
    assert bound.platform.fabric.id == "100gbe"
    assert "\nFabric: 100 GbE, " in projection_text(bound)
    named = project(request(target, platforms={"fabrics": ["100gbe"]}), catalog, **parts, fabric="edr")
    assert named.platform.fabric.id == "edr"


def test_of_servers_that_no_switch_joins_no_fabric_is_printed(catalog):
    """Copies of a model in use share no work."""
    work = {"dnn": "llama-3-8b", "task": "serving", "use": "chat", "target": {"requests_per_s": 1}}
    apart = project(
        SizingRequest.from_dict({"workload": [work]}),
        catalog,
        server="as-8125gs-tnhr",
        servers=2,
        storage="as-8125gs-tnhr-nvme",
    )
    assert apart.n_servers == 2
    assert "\nFabric:" not in projection_text(apart)


def test_a_fabric_that_the_server_lacks_is_refused(catalog):
    """The four network ports of a DGX-1 run EDR and what is slower, not XDR."""
    asked = request({"samples_per_s": 5_000}, platforms={"fabrics": ["xdr"]})
    with pytest.raises(InfeasibleError, match="do not join"):
        project(asked, catalog, server="dgx-1", servers=2, storage="isilon-f800", storage_nodes=4)
