"""Sized designs whose building plans tests write into files and read back."""

import csv
import io
from functools import cache

import pytest

from sizer.export.tables.plan_tables import cables_csv, plan_sheets
from sizer.physical.layout import building_plan
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.sizing.size import size
from sizer.workload.request import Fabric, SizingRequest
from tests.factories.requests import CATALOG


def asked(gpus, server, storage, **more):
    platforms = {"servers": [server], "storage": [storage], **more.pop("platforms", {})}
    return {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": gpus}}], "platforms": platforms, **more}


BAD_RACKS = [
    {"name": '=HYPERLINK("http://x")', "free_u": 12, "first_free_u": 5, "power_w": "9 kW"},
    {"name": "A ", "free_u": 6, "power_w": "5 kW"},
    {"name": "A", "free_u": 6, "power_w": "5 kW"},
    {"name": "R01", "free_u": 6, "power_w": "5 kW"},
]
DESIGNS = {
    # The Dell guide: 4 C4140 on EDR, four F800 nodes behind an FDR gateway (dell-ready-ai-nvidia-2018).
    "dell": asked(16, "c4140", "isilon-f800", platforms={"fabrics": ["edr"]}, site={"pue_ratio": 1.5}),
    "weka": asked(32, "apollo-6500", "wekaio"),
    "rails": asked(80, "dgx-2h", "netapp-a800", confidence=0.5, fabric={"rails_apart": True, "spare_servers": 2}),
    "two levels": asked(96, "dgx-1", "isilon-f800"),
    # One server a rack: the storage stands too far from its switch for copper.
    "spread": asked(32, "dgx-1", "isilon-f800", limits={"rack_power_w": "4 kW"}),
    "unweighed": asked(4, "v225g", "hnas"),
    "lan": asked(16, "dgx-1", "nfs-generic", platforms={"fabrics": ["100gbe"]}),
    "alone": asked(8, "dgx-1", "dgx1-ssd"),
    "hostile": asked(
        48,
        "dgx-1",
        "isilon-f800",
        title="=cmd|' /C calc'!A0",
        customer="@SUM(1) [31m <b>" + 100 * "x",
        fabric={"spare_servers": 2},
        existing={"racks": BAD_RACKS, "servers": {"dgx-1": 2}},
    ),
}
every_design = pytest.mark.parametrize("name", DESIGNS)


@cache
def answer(name):
    return size(SizingRequest.from_dict(DESIGNS[name]), CATALOG)


@cache
def sheets(name):
    """Rows of every sheet as mappings of head to cell."""
    found = plan_sheets(answer(name), CATALOG)
    return {sheet.title: [dict(zip(sheet.heads, row, strict=True)) for row in sheet.rows] for sheet in found}


def cables(name):
    return list(csv.DictReader(io.StringIO(cables_csv(answer(name), CATALOG).decode("utf-8-sig"), newline="")))


def laid_out(server, storage, fabric_kind, n, m, gpus_per_server=None, **fabric):
    """Plan of so many servers and storage nodes, by the words of a request's [fabric]."""
    wanted = Fabric(**fabric)
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
            "platforms": {
                "servers": [server],
                "storage": [storage],
                "fabrics": [fabric_kind],
                "gpus_per_server": gpus_per_server,
            },
        }
    )
    platform = platforms(CATALOG, request)[0]
    counted = slice_row(quantities(platform, [n], [m], catalog=CATALOG, fabric=wanted), 0)
    return building_plan(platform, counted, n, m, catalog=CATALOG, fabric=wanted)
