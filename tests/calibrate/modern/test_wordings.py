"""Names of benchmarks and links in MLPerf rows."""

import pytest

from sizer.calibrate.modern.rows import accelerator_named, benchmark_named, link_named, load_modern
from sizer.calibrate.modern.terms import modern_calibration
from sizer.calibrate.notes import RowUse
from sizer.calibrate.reports import validated_rows


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("H100-SXM5-96GB", "h100-sxm5-96gb"),
        ("h100-sxm-80gb", "h100-sxm5-80gb"),  # id of the catalogue
        ("gb200-186gb", "gb200"),
        ("TPU-v4", "tpu-v4"),
        ("", ""),
    ],
)
def test_an_accelerator_is_read(written, name):
    assert accelerator_named(written) == name


@pytest.mark.parametrize(("written", "name"), [("flux", "flux"), ("flux1", "flux")])
def test_a_benchmark_is_read(written, name):
    assert benchmark_named(written) == name


@pytest.mark.parametrize(
    ("written", "accelerator", "link"),
    [
        ("nvlink4", "h100-sxm5-80gb", "nvlink4"),
        ("NVLink 5", "b200-sxm-180gb", "nvlink5"),
        ("NVLINK4", "h100-sxm5-80gb", "nvlink4"),
        ("nvswitch", "h200-sxm5-141gb", "nvlink"),
        ("", "b300-sxm-270gb", "nvlink"),
        ("?", "a100-sxm4-80gb", "nvlink"),
        ("", "h100-pcie-80gb", "pcie"),
        ("PCIe Gen5", "h100-pcie-80gb", "pcie"),
        ("NVLink bridge", "h100-nvl-94gb", "bridge"),
        ("NVLink", "h100-nvl-94gb", "bridge"),  # these boards have no other NVLink
        ("", "mi355x-288gb", "nvlink"),
        ("Infinity Fabric", "mi300x-192gb", "xgmi"),
        ("", "rtx-pro-6000-96gb", "pcie"),
        ("", "tpu-v4", ""),
    ],
)
def test_a_link_is_read_or_that_of_the_board(written, accelerator, link):
    assert link_named(written, accelerator) == link


@pytest.mark.parametrize("blank", range(22))
def test_a_blank_column_never_stops_the_others(tmp_path, blank):
    """Rows of v5.1, one column after the other left empty."""
    header = (
        "id,round,submitter,system,benchmark,nodes,accels,accel,nvlink,host_cpu,nic_count,nic_gbps,framework,"
        "global_batch,grad_accum,samples_to_converge,rate_train_s,ttt_raw_min,precision,train_accels,flags,commit"
    )
    lines = [header]
    for number, (gpu, benchmark) in enumerate(
        [("gb300", "retinanet"), ("mi325x-256gb", "bert"), ("h200-sxm5-141gb", "dlrm_dcnv2")]
    ):
        cells = (
            f"r{number},v5.1,new,box,{benchmark},2,8,{gpu},nvlink5,Grace,4,400,pytorch,256,1,4e6,2500,30,fp8,,,c".split(
                ","
            )
        )
        cells[blank] = ""
        lines.append(",".join(cells))
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for row in validated_rows(load_modern([path]), modern_calibration()):
        assert row.status.use in (RowUse.PREDICTED, RowUse.OUTSIDE)
        assert (row.predicted is None) is (row.status.use is RowUse.OUTSIDE)
        assert row.predicted is None or 0 < row.low < row.predicted < row.high
