"""A storage network of which a switch may be lost: servers and switches keep the rate of their own ports."""

from sizer.physical.roles import Role
from sizer.sizing.project import project
from sizer.workload.request import SizingRequest
from tests.factories import examples


def test_only_the_storage_runs_at_the_rate_of_its_ports():
    """AI400X2 has ports of HDR, DGX H100 and QM9700 of NDR in OSFP cages, into which no HDR cable of two QSFP56 fits.

    A splitter joins the storage; servers and switches are joined at 400 Gbit/s.
    """
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": ["ndr"]},
            "resilience": {"keeps_targets_without": ["switch"]},
        }
    )
    design = project(asked, examples.catalog(), server="dgx-h100", servers=20, storage="ai400x2", storage_nodes=1)
    kinds = {run.role: run.kind.id for run in (cable.run for cable in design.plan.cables)}
    assert kinds[Role.STORAGE_CABLE] == "hdr"
    assert kinds[Role.SERVER_STORAGE_CABLE] == kinds[Role.STORAGE_UPLINK] == "ndr"
    assert not [line.item for line in design.bill.lines if line.item.startswith("hdr-")]
