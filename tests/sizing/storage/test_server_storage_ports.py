"""Ports of servers on a storage network of their own run at their own speed, as their cables do."""

import pytest

from sizer.physical.roles import Role
from sizer.sizing.stages.platform_columns import storage_nic_bytes_per_s
from tests.factories import examples


@pytest.mark.parametrize(
    ("name", "n_ports", "port_bytes_per_s"),
    [
        # 8 NVL72 of 18 trays with two ports of 400 Gbit/s, on QM9700; the storage has ports of 200 Gbit/s.
        ("llama-405b-gb200-nvl72", 288, 50e9),
        # 105 DGX H100 with two.
        ("llama-70b-dgx-h100", 210, 50e9),
        # 4 servers with two ports of 400 Gbit/s, beside storage with ports of 100 Gbit/s.
        ("llama-8b-continued-mi300x", 8, 50e9),
    ],
)
def test_the_line_rate_is_that_of_the_cables(name: str, n_ports: int, port_bytes_per_s: float) -> None:
    design = examples.sized(name).design
    cables = [one for one in design.plan.cables if one.run.role is Role.SERVER_STORAGE_CABLE]
    assert sum(one.run.a_device.size for one in cables) == n_ports
    assert {one.run.kind.bytes_per_s for one in cables} == {port_bytes_per_s}
    ports_bytes_per_s = design.n_servers * storage_nic_bytes_per_s(design.platform)
    assert ports_bytes_per_s == pytest.approx(n_ports * port_bytes_per_s)
