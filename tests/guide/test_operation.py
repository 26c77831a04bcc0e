"""From plan to operation: the script of a job has the numbers of the design, its fabric the settings of its kind."""

import re
import subprocess

import pytest

from sizer.guide.chapters import operation
from sizer.guide.context import guide_context
from sizer.guide.engineer.operation import phases_table
from sizer.guide.profile import Edition
from sizer.present.text.assumptions import values_to_confirm
from tests.factories.examples import catalog, sized


@pytest.fixture(params=["dgx1-f800-resnet50", "llama-70b-dgx-h100"])
def context(request):
    return guide_context(sized(request.param), catalog(), Edition("guide"))


def test_a_job_script_asks_for_the_design_and_is_valid_bash(context):
    ((_, _, script),), design = operation.content(context)["scripts"], context.design
    asked = {name: int(value) for name, value in re.findall(r"#SBATCH --([a-z-]+)=(\d+)$", script, re.MULTILINE)}
    assert asked["nodes"] * asked["gpus-per-node"] == design.gpus_at_work(context.answers[0])
    assert asked["ntasks-per-node"] == design.platform.gpus_per_server
    assert subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False).stderr == ""
    found = context.answers[0].language
    if found is not None:
        degrees = dict(re.findall(r"--([a-z-]+)-model-parallel-size (\d+)", script))
        assert degrees.get("pipeline", "1") == str(found.layout.pipeline)
        assert f"--global-batch-size {found.batch} " in script
        layout = found.layout
        flags = {
            f"--num-virtual-stages-per-pipeline-rank {layout.virtual}": layout.virtual > 1,
            "--use-distributed-optimizer": layout.is_optimizer_sharded and not layout.is_fully_sharded,
            "--recompute-granularity": layout.recompute > 0,
            "--sequence-parallel": layout.tensor > 1,
        }
        assert {flag: flag in script for flag in flags} == flags


def test_vendors_are_asked_for_what_room_and_order_need(context):
    """The rates of a chip and the links inside a server are ours to look up."""
    asked = " ".join(subject for one in values_to_confirm(context.result) for subject in one.unknown)
    assert "inlets" in asked
    assert not re.search("TF32|GPU links|processors|introduced|peak", asked)


def test_settings_follow_the_kind_of_the_fabric(context):
    ((_, _, script),), kind = operation.content(context)["scripts"], context.design.platform.fabric
    assert ("NCCL_IB_GID_INDEX" in script) == (not kind.is_infiniband)
    assert "NCCL_IB_HCA" in script


def test_collectives_have_a_criterion_below_the_lines(context):
    """70 % of the links inside a server: a DGX-1 with a dead link passes less; never above what the ports pass."""
    gpu = context.design.platform.gpu
    tests = {test.key: test for test in context.tests if test.key.startswith("all-reduce")}
    assert tests.keys() == {"all-reduce", "all-reduce-server"}
    inside = tests["all-reduce-server"].criterion
    assert 0.7 * gpu.nvlink_bytes_per_s.value <= inside.value * (1 + 1e-9) <= gpu.nvlink_bytes_per_s.value
    assert all("all_gather_perf" in test.run for test in tests.values())
    assert tests["all-reduce"].criterion.value <= tests["all-reduce"].criterion.bound


@pytest.mark.parametrize(("name", "has_cables"), [("office-chat-70b-h200", False), ("llama-70b-dgx-h100", True)])
def test_cables_are_installed_where_there_are_some(name, has_cables):
    made = guide_context(sized(name), catalog(), Edition("guide"))
    assert bool(made.design.plan.n_links) == has_cables
    phases = phases_table(made.design, made.data.ingest, made.head_node is not None)
    assert any("Cabling" in row.cells[0].text for row in phases.rows) == has_cables


EXAMPLES = ("dgx1-f800-resnet50", "superpod-h100-su", "small-team")
