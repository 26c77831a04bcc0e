"""Acceptance tests: the numbers to expect and the limits that pass."""

import math
import re
import subprocess
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import EvaluatedDesign, SizingRequest
from sizer.base.resources import data_dir
from sizer.calibrate.calibration import stored_calibration
from sizer.guide.acceptance.tests import TCP_PAYLOAD_SHARE, AcceptanceTest, acceptance_tests, all_reduce_bytes_per_s
from sizer.guide.chapters.compliance import requirements
from sizer.guide.chapters.operation import load_test
from sizer.guide.context import GuideContext
from sizer.guide.profile import Edition
from sizer.sizing.best_design import best_design
from tests.factories.answers import recommended
from tests.factories.examples import sized
from tests.factories.plans import CATALOG, DESIGNS, answer

SPACE = "\u202f"


@cache
def of(name) -> dict[str, AcceptanceTest]:
    return {test.key: test for test in acceptance_tests(EvaluatedDesign(sized(name), CATALOG))}


def value(text: str) -> float:
    """First number of a text in SI units."""
    number, prefix = re.search(rf"([\d.{SPACE}]*\d){SPACE}?([kMGT]?)(?:B|W|images)", text).groups()
    return float(number.replace(SPACE, "")) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[prefix]


def test_links_are_counted_by_hand():
    """9 DGX-1 x 4 + head node + 48 uplinks of three leaves at 100 GbE; 4 nodes x 2 in front and x 2 behind at 40 GbE.

    Management: ten servers with host port and controller, four storage nodes, seven switches, six PDUs.
    """
    assert of("dgx1-f800-resnet50")["links"].expect == "85 × 100 GbE, 16 × 40 GbE, 37 × 1 GbE"
    assert of("dgx1-f800-resnet50")["inventory"].expect == ("9 GPU servers, 1 head node, 1 storage unit, 8 switches")


def test_a_link_passes_with_what_a_published_raw_test_reached():
    """DeepOps on two DGX-1: 92.40 of 100 Gbit/s, that is 11.55 GB/s (deepops-roce)."""
    test = of("dgx1-f800-resnet50")["link-rate"]
    assert test.passes == f"at least 11.6{SPACE}GB/s, 92.4{SPACE}Gbit/s"
    assert test.expect == f"up to 12.5{SPACE}GB/s, 100{SPACE}Gbit/s"
    assert "deepops-roce" in test.sources
    assert "ib_write_bw" in test.run


def test_tcp_over_ethernet_loses_its_headers():
    """9.41 Gbit/s is what TCP is known to show on 10 GbE at an MTU of 1,500 B."""
    assert round(10 * TCP_PAYLOAD_SHARE, 2) == 9.41
    request = {
        "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
        "platforms": {"servers": ["v225g"], "storage": ["hnas"], "fabrics": ["10gbe"]},
        "confidence": 0.5,
    }
    found = acceptance_tests(EvaluatedDesign(recommended(SizingRequest.from_dict(request)), CATALOG))
    test = next(test for test in found if test.key == "link-rate")
    assert "iperf3" in test.run
    assert f"9.41{SPACE}Gbit/s" in test.expect


@pytest.mark.parametrize(
    ("server", "fabric", "servers", "published"),
    [
        ("dgx-1", "edr", 16, 47e9),  # nccl issue 307: what NVIDIA expects of four EDR ports at any scale
        ("dgx-1", "edr", 8, 48e9),  # nccl-tests issue 29: reference quoted for DGX-1
        ("c4140", "edr", 4, 12.2e9),  # nccl-tests issue 29: 32 ranks, four servers, one EDR port
    ],
)
def test_published_all_reduces_lie_in_the_interval(server, fabric, servers, published):
    request = {
        "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
        "platforms": {"servers": [server], "storage": ["isilon-f800"], "fabrics": [fabric]},
        "confidence": 0.5,
    }
    platform = best_design(SizingRequest.from_dict(request), CATALOG).design.platform
    gpus = platform.gpus_per_server
    found = all_reduce_bytes_per_s(platform, servers, gpus, stored_calibration())
    assert found.low <= published <= found.high
    # The line rate of all ports bounds the bus bandwidth of a ring; half of it with every second uplink.
    assert float(found.value) <= 12.5e9 * (4 if server == "dgx-1" else 1)
    half = all_reduce_bytes_per_s(platform, servers, gpus, stored_calibration(), fabric_share=0.5)
    assert 0.5 <= float(half.value / found.value) < 0.6


def test_reads_of_all_and_of_one_server():
    """Four F800 nodes of 2.487 to 3.75 GB/s; one server over eight mounts of 1 to 1.5 GB/s, which hold first.

    Log-uniform between the ends: middle sqrt(low high), 5 % end low (high / low)^0.05.
    """
    tests = of("dgx1-f800-resnet50")
    for key, low, high in (("read-all", 4 * 2.487e9, 4 * 3.75e9), ("read-one", 8e9, 12e9)):
        assert value(tests[key].expect) == pytest.approx(math.sqrt(low * high), rel=5e-3)  # printed to three digits
        assert value(tests[key].passes) == pytest.approx(low * (high / low) ** 0.05, rel=5e-3)
        assert set(tests[key].sources) == {"dell-isilon-dgx1-blog-2018", "dell-ready-ai-nvidia-2018"}


def test_an_appliance_passes_with_its_data_sheet_where_nobody_tested_it():
    """DDN states 90 GB/s for an AI400X2, half of it is our assumption: 92.4 % of 90 GB/s pass, and not 46.6 GB/s."""
    example = SizingRequest.from_file(data_dir("examples") / "llama-70b-checkpoints.toml").model_dump(exclude_none=True)
    platforms = {"servers": ["dgx-h100"], "storage": ["ai400x2"]}
    result = recommended(SizingRequest.from_dict({**example, "platforms": platforms}))
    test = next(one for one in acceptance_tests(EvaluatedDesign(result, CATALOG)) if one.key == "read-all")
    assert test.criterion.value == pytest.approx(0.924 * 90e9 * result.design.storage_nodes)


def test_usable_capacity_is_raw_less_protection():
    """A chassis of 96 TB at 25 % overhead (emc-overhead-15): 72 TB, 65.5 TiB; nine tenths are left for files."""
    test = of("dgx1-f800-resnet50")["usable-capacity"]
    assert test.expect.startswith(f"72.0{SPACE}TB (65.5{SPACE}TiB)")
    assert test.passes.startswith(f"at least 64.8{SPACE}TB,")
    assert "emc-overhead-15" in test.sources


def test_published_rates_pass_the_tests_of_training():
    """The DGX-1 runs of the Isilon test: 52,274 images/s on 72 GPUs, 712 to 726 a GPU, hosts at 46 %.

    One GPU alone neither exchanges nor waits: 740 images/s with Horovod on AWS (awss2-rn50-real-1g, same batch) and 818
    in a later container (dle-tf1902-rn50-train-fp16-1g).
    """
    tests, answer_ = of("dgx1-f800-resnet50"), sized("dgx1-f800-resnet50").design.workloads[0]
    assert value(tests["cluster-warm"].passes) <= 52_274
    assert value(tests["one-gpu"].passes) <= 740
    assert 726 < value(tests["one-gpu"].expect) < 1.1 * 818
    assert value(tests["one-server"].passes) <= 8 * 726
    assert float(tests["cpu-load"].passes.removeprefix("at most ").split(SPACE)[0]) >= 46
    # The target binds, also where the request is content with 50 % confidence.
    assert answer_.probability < 0.9
    assert value(tests["cluster-warm"].passes) == 52_000


def test_power_is_never_above_the_maximum_where_it_is_known():
    """A DGX-1 draws 3,500 W at most (runai-dgx)."""
    found = {test.key: test for test in acceptance_tests(EvaluatedDesign(answer("alone"), CATALOG))}
    assert found["power"].passes == f"never above 3.50{SPACE}kW"
    # A storage system without a published draw makes the sum a lower bound, which is no limit.
    assert "no PDU above" in of("small-team")["power"].passes


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_has_tests_with_sources_of_the_catalogue(name):
    found = acceptance_tests(EvaluatedDesign(answer(name), CATALOG))
    keys = [test.key for test in found]
    assert len(set(keys)) == len(keys)
    assert {"inventory", "gpus", "one-gpu", "cluster-warm", "power"} <= set(keys)
    for test in found:
        assert all(source in CATALOG.sources for source in test.sources)
        assert test.run.endswith(".")
        assert all((test.expect, test.passes, test.basis))
        assert "nan" not in test.expect + test.passes
        assert "inf" not in (test.expect + test.passes).replace("InfiniBand", "")


@settings(max_examples=6)
@given(st.sampled_from(["c4140", "dgx-1"]), st.integers(100, 20_000), st.sampled_from([0.5, 0.9]))
def test_a_limit_never_asks_for_more_than_is_expected(server, rate, confidence):
    request = {
        "workload": [{"dnn": "resnet50", "target": {"samples_per_s": rate}, "dataset_bytes": 2e12}],
        "platforms": {"servers": [server], "storage": ["isilon-f800"], "fabrics": ["edr"]},
        "confidence": confidence,
    }
    for test in acceptance_tests(EvaluatedDesign(recommended(SizingRequest.from_dict(request)), CATALOG)):
        if test.passes.startswith("at least") and test.key not in ("usable-capacity", "links"):
            assert value(test.passes) <= value(test.expect)


@pytest.mark.parametrize("name", ["office-chat-70b-h200", "code-8b-l40s"])
def test_limits_of_latency_are_requirements_with_their_own_probability(name):
    context = GuideContext(sized(name), CATALOG, Edition("guide"))
    (answer,) = context.answers
    rows = [one for one in requirements(context) if "token within" in one.text]
    asked = answer.served.work.confidence
    chances = [answer.served.first_token_chance, answer.served.token_chance]
    assert [one.is_met for one in rows] == [chance >= asked for chance in chances if chance is not None]
    assert answer.probability <= min(chance for chance in chances if chance is not None) + 1e-9


def test_a_cached_share_is_tested_with_more_than_one_prefix():
    """One prefix for all requests is found in the cache however small it is."""
    limits = {"use": "chat", "input_tokens": 8_000, "output_tokens": 300, "prefix_cached": 0.8, "first_token_s": "3 s"}
    work = {"dnn": "llama-3-70b", "task": "serving", "precision": "fp8", "target": {"requests_per_s": 4}, **limits}
    request = {"workload": [work], "platforms": {"servers": ["dgx-h200"]}}
    result = recommended(SizingRequest.from_dict(request))
    tests = {test.key: test for test in acceptance_tests(EvaluatedDesign(result, CATALOG))}
    command = load_test(result.design.workloads[0])
    assert subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True, check=False).stderr == ""
    options = dict(re.findall(r"--([a-z-]+) ([^ ]+)", command))
    prefixes, prompts = int(options["prefix-repetition-num-prefixes"]), int(options["num-prompts"])
    # vLLM sends prompts // prefixes of each, of which all but the first are found: 0.8 of 95 %, 0.72 asked.
    assert (prefixes > 1, prompts % prefixes, prompts // prefixes) == (True, 0, 20)
    # Half an hour of 4 requests/s, of which 5 % are beyond the percentile that is read.
    assert prompts == pytest.approx(1800 * 4, rel=0.01)
    assert (options["prefix-repetition-prefix-len"], options["goodput"]) == ("6400", "ttft:3000")
    assert ("session-affinity" in tests) == (result.design.workloads[0].served.replicas > 1)
    assert all(0.9 * 80 <= tests[key].criterion.value <= 0.95 * 80 for key in tests.keys() & {"session-affinity"})
