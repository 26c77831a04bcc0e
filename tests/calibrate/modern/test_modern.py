"""MLPerf rows on today's accelerators: reading them, the terms of a step, predictions, the stored fits."""

import math
import statistics

import numpy as np
import pytest
from scipy.sparse import csc_array, eye_array

from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import Fit
from sizer.calibrate.modern.rows import ModernRow, load_modern, micro_batch, published_runs
from sizer.calibrate.modern.terms import (
    STEPS,
    TRAININGS,
    MeasuredSystem,
    Training,
    digest_of_rows,
    modern_calibration,
    prior_of,
    step_parts,
    system_rates,
)
from sizer.calibrate.notes import FitNote, RowUse
from sizer.calibrate.reports import predict, validated_rows


def _system(accelerator: str, gpus: int = 8) -> MeasuredSystem:
    return MeasuredSystem("resnet", accelerator, gpus, "pcie", 8 * 12.5e9, "intel")


@pytest.mark.parametrize("accelerator", ["a30-pcie-24gb", "a40-pcie-48gb", "l4-pcie-24gb", "l40-pcie-48gb"])
def test_a_gpu_with_published_runs_has_their_rate(accelerator):
    """Published ResNet-50 rates of one server; submitters of the same system differ by a few per cent."""
    rows = [row for row in published_runs("resnet") if (row.accelerator, row.servers) == (accelerator, 1)]
    errors = [
        math.log(math.exp(float(system_rates(_system(accelerator, row.accelerators)).rate(1, micro_batch(row)).log)))
        - math.log(row.samples_per_s)
        for row in rows
        if row.accelerators <= 10 and row.accumulation == 1
    ]
    assert errors
    assert abs(statistics.median(errors)) < 0.1


@pytest.mark.parametrize("accelerator", ["t4-16gb", "mi250x-128gb", "mi300a-128gb", "gaudi3-128gb"])
def test_a_gpu_whose_generation_has_no_runs_has_the_spread_of_generations(accelerator):
    assert float(system_rates(_system(accelerator)).rate(1, 64).sd) > prior_of("generation").sd


HEADER = (
    "id,round,submitter,system,benchmark,nodes,accels,accel,nvlink,global_batch,grad_accum,rate_train_s,ttt_raw_min"
)
# MLPerf Training v3.0, NVIDIA, dgxh100_ngc23.04_mxnet, ResNet-50 on 8 H100.
RESNET = "a,v3.0,newcomer,box,resnet,1,8,h100-sxm5-80gb,nvlink4,3200,1,56032.3,13.6008"


def read(folder, *lines: str, header: str = HEADER) -> tuple[ModernRow, ...]:
    path = folder / "rows.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return load_modern([path])


def fitted(**effects: float) -> Fit:
    names = tuple(name.replace("__", " ") for name in effects)
    return Fit(names, np.array(list(effects.values())), csc_array(eye_array(len(names))), prior_of)


def test_the_step_is_the_sum_of_compute_memory_and_launch(tmp_path):
    """8 A100 of 312 TFLOP/s and 2,039 GB/s, 400 samples each: 2 GFLOP and 5 MB of a sample, 1 ms of launches."""
    [row] = read(tmp_path, "a,,x,y,resnet,1,8,a100-sxm4-80gb,nvlink3,3200,1,1,1")
    fit = fitted(work__resnet=math.log(2e9), traffic__resnet=math.log(5e6), launch__resnet=math.log(1e-3))
    logs, _ = STEPS.predict(fit, [row])
    # What no row has counts with its prior: a doubling of the GPUs costs a hundredth.
    logs -= 3 * prior_of("scale").mean
    assert math.exp(logs[0]) == pytest.approx(400 * (2e9 / 312e12 + 5e6 / 2.039e12) + 1e-3, rel=1e-9)


def test_samples_to_the_target_grow_by_steps_of_the_batch(tmp_path):
    """At 1,000 samples/s: 50,000 samples + 20 steps of 1,000, a tenth of the former for evaluation, 3 s fixed."""
    [row] = read(tmp_path, "a,,x,y,ssd,1,8,a100-sxm4-80gb,nvlink3,1000,1,1,1")
    effects = {"samples": 5e4, "steps": 20.0, "evaluation": 0.1, "overhead": 3.0}
    fit = fitted(**{f"{name}__ssd": math.log(value) for name, value in effects.items()})
    logs, _ = TRAININGS.predict(fit, [Training(row, math.log(1000.0))])
    assert math.exp(logs[0]) == pytest.approx(50 + 20 + 5 + 3, rel=1e-9)


def test_trays_of_one_nvlink_domain_exchange_over_nvlink(tmp_path):
    rows = read(tmp_path, *(f"a{n},,x,y,resnet,{n // 4},{n},gb200,nvlink5,4096,1,1,1" for n in (72, 144)))
    inside, between = ([name for _, name, _ in step_parts(row).effects] for row in rows)
    assert "exchange resnet" not in inside
    assert "exchange resnet" in between


@pytest.mark.parametrize(
    "cells",
    [
        "v4.1,64,512,8,h100-sxm5-80gb,nvlink4,4096,8",
        "4.1,64,512,8,h100-sxm5-80gb,nvlink4,4096,8",
        "V4.1,64,512,8,H100-SXM5-80GB,NVLink 4,4096,8",
        "v4.1,64,,8,h100-sxm5-80gb,nvlink4,4096,8",
        "v4.1,,512,8,h100-sxm5-80gb,nvlink4,4096,8",
        "v4.1,64,512,8,h100-sxm5-80gb,nvlink4,,8",
        "v4.1,64,,8,h100-sxm5-80gb,nvlink4,,8",
        "v4.1,64,512,n/a,h100-sxm5-80gb,nvlink4,4096,-",
    ],
)
def test_what_a_row_leaves_out_is_told_by_its_other_columns(cells, tmp_path):
    """64 nodes of 8 GPUs with 8 samples each are 512 GPUs and a batch of 4,096."""
    header = "id,benchmark,round,nodes,accels,accels_per_node,accel,nvlink,global_batch,batch_per_accel"
    [row] = read(tmp_path, f"a,resnet,{cells}", header=f"{header},rate_train_s,ttt_raw_min")
    assert (row.round, row.servers, row.accelerators, row.global_batch) == ("v4.1", 64, 512, 4096)
    assert (row.accelerator, row.link) == ("h100-sxm5-80gb", "nvlink4")


@pytest.mark.parametrize("link", ["", "NVLink 5", "nvswitch"])
def test_a_row_of_sxm_boards_never_exchanges_over_pcie(link, tmp_path):
    rows = read(
        tmp_path, *(f"{x or 'b'},v5.0,x,y,retinanet,1,8,b200-sxm-180gb,{x},256,1,1,1" for x in ("nvlink5", link))
    )
    (first, _), (second, _) = predict(rows, modern_calibration())
    assert tuple(second) == pytest.approx(tuple(first), rel=1e-9)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("a,v5.0,x,y,resnet,1,8,b200-sxm-180gb,,1e-9,1,1,1",), "csv:2: global_batch = 1e-09: must be at least 1"),
        (("a,v5.0,x,y,resnet,1,8,b200-sxm-180gb,,256,1,1_000,1",), "csv:2: rate_train_s: '1_000' is not a number"),
        (("a,v5.0,x,y,resnet,1,8,b200-sxm-180gb,,256,1,\u0663,1",), "rate_train_s: '\u0663' is not a number"),
        (("a,v5.0,x,y,resnet,1,7.5,b200-sxm-180gb,,256,1,1,1",), "accels = 7.5: must be a whole number"),
        ((RESNET, RESNET), "csv:3: id 'a' is used by line 2 already; ids are unique"),
    ],
)
def test_a_cell_that_is_no_number_of_its_column_is_named(lines, says, tmp_path):
    with pytest.raises(CalibrationError) as refused:
        read(tmp_path, *lines)
    assert says in str(refused.value)


def test_a_row_of_a_newcomer_is_predicted(tmp_path):
    # The published row is NVIDIA's own; systems of one kind differ by a few percent.
    rate, time = validated_rows(read(tmp_path, RESNET), modern_calibration())
    assert (rate.quantity, time.quantity) == ("samples_per_s", "time_to_train_s")
    assert rate.status.use is RowUse.PREDICTED
    assert (rate.published, time.published) == (56032.3, pytest.approx(13.6008 * 60))
    assert rate.predicted == pytest.approx(56032.3, rel=0.1)
    assert time.predicted == pytest.approx(13.6008 * 60, rel=0.1)
    assert rate.low < rate.predicted < rate.high


def test_a_gpu_without_runs_takes_those_of_its_generation(tmp_path):
    """B300 has the BF16 peak of B200 in the catalogue and no row: as fast within the spread, and less certain."""
    row = RESNET.replace("resnet", "stable_diffusion").replace("3200", "512").replace("v3.0", "v5.0")
    rows = read(
        tmp_path,
        *(
            row.replace("a,", f"{gpu},", 1).replace("h100-sxm5-80gb", gpu)
            for gpu in ("b200-sxm-180gb", "b300-sxm-270gb")
        ),
    )
    (known, _), (new, _) = predict(rows, modern_calibration())
    assert new.low < known.value < new.high
    assert new.high / new.low > known.high / known.low


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("resnet", "sudoku", FitNote.DNN_NOT_IN_CATALOGUE),
        ("resnet", "", FitNote.DNN_NOT_NAMED),
        ("h100-sxm5-80gb", "abacus", FitNote.GPU_NOT_IN_CATALOGUE),
        ("h100-sxm5-80gb", "cpu-only", FitNote.NO_GPU_RAN),
        ("3200", "", FitNote.BATCH_NOT_STATED),
        (",8,h100", ",,h100", FitNote.COUNTS_NOT_STATED),
    ],
)
def test_what_cannot_be_predicted_has_its_reason(tmp_path, old, new, reason):
    for row in validated_rows(read(tmp_path, RESNET.replace(old, new)), modern_calibration()):
        assert row.predicted is None
        assert row.status.use is RowUse.OUTSIDE
        assert row.status.reason.kind is reason


def test_few_columns_are_enough(tmp_path):
    header = "benchmark,accel,accels,global_batch,rate_train_s,ttt_raw_min"
    [rate] = validated_rows(read(tmp_path, "bert,b200-sxm-180gb,8,448,9000,", header=header), modern_calibration())
    assert rate.id == "rows.csv:2"
    assert rate.low < rate.predicted < rate.high


@pytest.mark.parametrize("cell", ["fast", "nan", "-3", "1e99"])
def test_a_bad_cell_is_named(tmp_path, cell):
    with pytest.raises(CalibrationError, match=r"rows\.csv:2: rate_train_s"):
        read(tmp_path, RESNET.replace("56032.3", cell))


def test_the_stored_fits_belong_to_the_shipped_rows():
    assert digest_of_rows(load_modern()) == modern_calibration().digest
