"""Speed of sizing. Run apart (`make bench`): a time is no test."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from sizer import SizingRequest, load_catalog, size
from sizer.base.resources import data_dir
from sizer.bom.lines import bill, row_cost
from sizer.bom.prices import price_book
from sizer.calibrate.calibration import load_calibration
from sizer.calibrate.fit.joint import calibrate
from sizer.catalog.model import Catalog
from sizer.physical.layout import building_plan
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.workload.sentence.reader import MAX_CHARACTERS, read_sentence

EXAMPLE = data_dir("examples") / "dgx1-f800-resnet50.toml"


def test_size_warm(benchmark: Any) -> None:
    """One request with catalogue and calibration in memory; the aim is under 100 ms."""
    catalog = load_catalog()
    request = SizingRequest.from_file(EXAMPLE)
    size(request, catalog)
    benchmark(size, request, catalog)


def test_size_everything_allowed_warm(benchmark: Any) -> None:
    """The same workload over every platform of the catalogue."""
    catalog = load_catalog()
    request = SizingRequest.from_file(EXAMPLE)
    data = request.model_dump(exclude_none=True)
    data.pop("platforms")
    open_request = SizingRequest.from_dict(data)
    benchmark(size, open_request, catalog)


def test_read_sentence(benchmark: Any) -> None:
    """The longest sentence that is read; the aim is under 50 ms."""
    catalog = load_catalog()
    sentence = ("Train Llama 3 8B on 1T tokens in 30 days with 64 H100, 2 racks, no HPE; " * 40)[:MAX_CHARACTERS]
    benchmark(read_sentence, sentence, catalog)


def test_load_catalog(benchmark: Any) -> None:
    """Reading and checking every file of the catalogue."""
    benchmark(load_catalog)


def test_load_calibration(benchmark: Any) -> None:
    """Reading the stored fit."""
    benchmark(load_calibration)


def test_calibrate(benchmark: Any) -> None:
    """The whole joint fit; the aim is under 20 s on two cores."""
    catalog = load_catalog()
    benchmark.pedantic(calibrate, args=(catalog,), rounds=2)


def test_size_cold(benchmark: Any) -> None:
    """A fresh process: imports, catalogue, calibration and one request; the aim is under 1 s."""
    code = (
        "from sizer import SizingRequest, load_catalog, size; "
        f"size(SizingRequest.from_file({str(EXAMPLE)!r}), load_catalog())"
    )
    benchmark.pedantic(lambda: subprocess.run([sys.executable, "-c", code], check=True), rounds=5)


def _c4140(catalog: Catalog) -> Platform:
    """Servers and storage that meet every kind of network: fabric, gateway, back end, management."""
    asked = {
        "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
        "platforms": {"servers": ["c4140"], "storage": ["isilon-f800"], "fabrics": ["edr"]},
    }
    return platforms(catalog, SizingRequest.from_dict(asked))[0]


@pytest.mark.parametrize("servers", [128, 1000])
def test_lay_out(benchmark: Any, servers: int) -> None:
    """Every device, port, cable length and feed of one design; the aim is under 2 s at 1,000 servers."""
    catalog = load_catalog()
    platform = _c4140(catalog)

    def whole() -> int:
        counted = slice_row(quantities(platform, [servers], [8], catalog=catalog), 0)
        return len(building_plan(platform, counted, servers, 8, catalog=catalog).connections)

    assert benchmark(whole) > 2 * servers


@pytest.mark.parametrize("servers", [10, 100, 128, 1000])
def test_complete_design(benchmark: Any, servers: int) -> None:
    """Fabric, racks, cables and bill of one design; the aim is 200 a second with 128 servers and 20 with 1,000."""
    catalog = load_catalog()
    platform, book = _c4140(catalog), price_book(catalog)

    def whole() -> int:
        found = quantities(platform, [servers], [8], catalog=catalog)
        row_cost(found.components, catalog, book, "USD")
        plan = building_plan(platform, slice_row(found, 0), servers, 8, catalog=catalog)
        made = bill(plan.components, catalog, book, "USD", None)
        return next(line.quantity for line in made.lines if line.item == "c4140")

    benchmark.extra_info["servers"] = servers
    assert benchmark(whole) == servers


@pytest.mark.parametrize("rows", [1, 160])
def test_quantities(benchmark: Any, rows: int) -> None:
    """Everything of one platform counted for some rows at once."""
    catalog = load_catalog()
    platform = _c4140(catalog)
    servers = np.arange(1, rows + 1)
    benchmark(quantities, platform, servers, [8], catalog=catalog)


def test_platforms_of_an_open_request(benchmark: Any) -> None:
    """All platforms of a catalogue that was asked before."""
    catalog = load_catalog()
    request = SizingRequest.from_dict({"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}]})
    assert benchmark(platforms, catalog, request)
