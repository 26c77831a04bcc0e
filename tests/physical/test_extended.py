"""Servers that are there and no longer sold are extended by those of another make with the same GPUs and ports."""

import pytest

from sizer.catalog.loader import shipped_catalog
from sizer.physical.existing_use import existing_use
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities
from sizer.workload.request import SizingRequest


def asked(servers: list[str], fabric: str = "ndr") -> SizingRequest:
    work = {"dnn": "llama-3-8b", "method": "continued", "tokens": 1e9, "target": {"tokens_per_s": 1e5}}
    return SizingRequest.from_dict(
        {
            "workload": [work],
            "date": "2026-11-29",
            "existing": {"servers": {"dgx-h100": 16}},
            "platforms": {"servers": servers, "fabrics": [fabric], "storage": ["ai400x2-turbo"]},
        }
    )


@pytest.mark.parametrize(
    ("server", "gpu", "there"),
    [("as-8125gs-tnhr", "h100-sxm-80gb", 16), ("as-8125gs-tnhr", "h200-sxm-141gb", 0), ("as-a126gs-tnbr", "b200", 0)],
)
def test_only_the_same_gpus_are_extended(server: str, gpu: str, there: int) -> None:
    request = asked([server])
    found = [one for one in platforms(shipped_catalog(), request) if one.server.id == server and gpu in one.gpu.id]
    assert {one.servers_there(request.existing.servers) for one in found} == {there}


def test_what_is_bought_is_the_rest() -> None:
    """40 servers of which 16 are there: 24 are bought, and the 16 keep their own name."""
    catalog, request = shipped_catalog(), asked(["as-8125gs-tnhr"])
    platform = next(one for one in platforms(catalog, request) if one.extends)
    parts = quantities(platform, 40, 2, catalog=catalog, existing=request.existing)
    use = existing_use(platform, parts.components, request.existing, catalog)
    assert use is not None
    assert [(one.item, one.count) for one in use.used if one.item == "dgx-h100"] == [("dgx-h100", 16)]
    assert [(one.item, one.count) for one in use.added if one.item == "as-8125gs-tnhr"] == [("as-8125gs-tnhr", 24)]
    assert not [one for one in use.idle if one.item == "dgx-h100"]
