"""What an answer says of several workloads, of exchange within a step, of growth, and of what keeps designs out."""

from dataclasses import replace

import pytest

from sizer.base.errors import InfeasibleError
from sizer.base.quantities import duration
from sizer.calibrate.notes import FitNote
from sizer.guide.plain_text import answer_text
from sizer.present.text.design_size import binding_text
from sizer.present.text.verdict import reason_texts, runner_up_text
from sizer.sizing.reasons import Binding, BindingKind, RunnerUpKind, RunnerUpReason
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories import examples


def sized(**request: object) -> SizingResult:
    return size(SizingRequest.from_dict(request), examples.catalog())


@pytest.fixture(scope="module")
def two_trainings() -> SizingResult:
    """8B on 100 G tokens in 10 days: 115,700 tokens/s, more than one DGX H100; adapters on 100 M in a day: 1,157."""
    return sized(
        workload=[
            {"name": "8B", "dnn": "llama-3-8b", "tokens": 100e9, "target": {"time_to_train_s": "10 d"}},
            {
                "name": "Adapters",
                "dnn": "llama-3-70b",
                "method": "lora",
                "tokens": 100e6,
                "target": {"time_to_train_s": "1 d"},
            },
        ],
        platforms={"servers": ["dgx-h100"], "storage": ["ai400x2"], "fabrics": ["ndr"]},
    )


def test_workloads_without_a_team_take_turns(two_trainings: SizingResult) -> None:
    total_s = sum(float(one.time.total_s.value) for one in two_trainings.design.workloads if one.time is not None)
    text = " ".join(reason_texts(two_trainings))
    assert "with all GPUs to itself" in text
    assert f"One after another they take {duration(total_s)}." in text
    assert "[team]" in text


def test_a_workload_that_one_server_trains_does_not_claim_the_others(two_trainings: SizingResult) -> None:
    assert two_trainings.design.n_servers == 2
    text = next(one for one in reason_texts(two_trainings) if one.startswith("Adapters"))
    assert text.endswith("At the expected rate one server reaches the target.")


def test_exchange_within_a_step_is_no_unused_stage(two_trainings: SizingResult) -> None:
    """16 GPUs on two servers exchange gradients, and the step holds the time of it."""
    lines = [line for line in answer_text(two_trainings).splitlines() if "Gradient exchange" in line]
    assert len(lines) == 2
    assert all(line.endswith("part of the GPUs' step") for line in lines)


def test_one_workload_takes_no_turns() -> None:
    assert "to itself" not in " ".join(reason_texts(examples.sized("llama-70b-dgx-h100")))


def test_a_first_purchase_of_the_same_size_says_what_it_prepares() -> None:
    result = examples.sized("dgx1-f800-resnet50")
    design = replace(result.design, binding=Binding(BindingKind.GROWTH, result.design.n_servers))
    point = next(point for point in result.pareto if point.is_documented)
    grown = replace(
        result,
        design=design,
        runner_up=replace(point, name=design.name),
        runner_up_reason=RunnerUpReason(RunnerUpKind.FIRST_YEAR),
    )
    assert binding_text(design) == "The first year alone takes as many servers."
    assert runner_up_text(grown).startswith("It has the same servers and storage, without what the described design")
    other = replace(grown, runner_up=replace(point, name="another"))
    assert runner_up_text(other).startswith("It is enough for the first year alone")


def test_three_limits_that_exclude_are_a_list() -> None:
    """90 epochs of 885 M images in 24 h are 922,000 images/s: ten DGX-1 train and decode a tenth of it."""
    work = {
        "dnn": "resnet50",
        "dataset_bytes": "100 TB",
        "epochs": 90,
        "target": {"time_to_train_s": "24 h"},
    }
    limits = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}
    with pytest.raises(InfeasibleError) as error:
        sized(workload=[work], platforms=limits, limits={"servers": 10})
    assert (
        "Excluded by: rate of the GPUs, host processors that decode and links between host and GPUs within "
        "limits.servers = 10."
    ) in str(error.value)


def test_images_much_larger_than_published_ones_are_named() -> None:
    """ImageNet in MLPerf has images of 115 kB; 4 MB are 35 times as much work of a decoder on the GPU."""

    def notes(sample_bytes: str) -> list[FitNote]:
        work = {"dnn": "resnet50", "sample_bytes": sample_bytes, "target": {"samples_per_s": "5000 images/s"}}
        (answer,) = sized(workload=[work], platforms={"servers": ["dgx-h100"]}).design.workloads
        return [one.kind for one in answer.unmeasured]

    assert FitNote.LARGE_IMAGES in notes("4 MB")
    assert FitNote.LARGE_IMAGES not in notes("120 kB")
