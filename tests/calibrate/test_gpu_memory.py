"""GPU memory, and networks of one's own."""

import math

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Z90
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.gpu_memory import MemoryKind, load_memory_rows, n_moments, telling
from sizer.calibrate.own_networks import (
    N_TERMS,
    SHARES,
    TRAINING,
    OwnRun,
    effects_of,
    fit_shares,
    load_runs,
    own_calibration,
    own_networks,
    teams_left_out,
)
from sizer.perf.gpu_memory import fit_probability, largest_batch, training_state_bytes
from sizer.workload.custom_network import OTHER_KIND

GIB = 2**30


@pytest.fixture(scope="module")
def fitted():
    return stored_calibration().gpu_memory


def largest(catalog, fitted, dnn_id, precision, gib, is_recomputed=False):
    dnn, how = catalog.dnns[dnn_id], {"precision": precision, "is_recomputed": is_recomputed}
    found = fitted.activations(dnn_id=dnn_id, family=dnn.family, forward_flop=dnn.forward_flop.value, **how)
    state = training_state_bytes(dnn.parameters.value, n_moments(dnn.family))
    return int(largest_batch(gib * GIB, state, fitted.fixed_bytes, found.sample_bytes, found.log_sd))


@pytest.mark.parametrize(
    ("dnn", "precision", "gib", "ran", "failed"),
    [
        # NVIDIA DeepLearningExamples, BERT of TensorFlow at 512 tokens: 2 and 4 ran on V100 16 GB, fp32 at 4 did not.
        ("bert-large", "fp32", 16, 2, 4),
        ("bert-large", "mixed", 16, 4, 16),
        # The same on V100 32 GB: fp32 at 10 ran out of memory, mixed at 10 ran.
        ("bert-large", "fp32", 32, 6, 10),
        ("bert-large", "mixed", 32, 10, 64),
        # ResNet-50 of MXNet on V100 16 GB: 128 with fp32, 256 with mixed precision, the published settings.
        ("resnet50", "fp32", 16, 128, 512),
        ("resnet50", "mixed", 16, 256, 1024),
        # Mask R-CNN on V100: 4 images on 16 GB and 12 on 32 GB with mixed precision.
        ("mask-rcnn", "mixed", 16, 4, 24),
        ("mask-rcnn", "mixed", 32, 12, 48),
        # 3D U-Net: 2 patches of 128 x 128 x 128 take 7.7 GB with mixed precision (nnU-Net).
        ("unet3d", "mixed", 16, 2, 16),
    ],
)
def test_largest_batches_lie_between_those_that_ran_and_those_that_did_not(
    catalog, fitted, dnn, precision, gib, ran, failed
):
    assert ran <= largest(catalog, fitted, dnn, precision, gib) < failed


def test_every_network_of_the_catalogue_has_an_answer(catalog, fitted):
    """On both memories of V100; networks planned on today's equipment alone on the 40 and 80 GB of A100 and H100.

    Where not one sample fits, activations are computed again.
    """
    for dnn in catalog.dnns.values():
        if dnn.transformer is not None or dnn.parameters.value > 0.9e9:
            continue  # its layout decides; a state of 16 bytes a parameter fills a GPU of 16 GB: it is divided
        memories = (16, 32) if dnn.era is None else (40, 80)
        batches = [largest(catalog, fitted, dnn.id, "mixed", gib) for gib in memories]
        least = batches[0] or largest(catalog, fitted, dnn.id, "mixed", memories[0], is_recomputed=True)
        assert least >= 1, dnn.id
        assert batches[0] <= batches[1], dnn.id


def test_mixed_precision_takes_about_half_of_the_activations(catalog, fitted):
    """Two bytes instead of four, with some layers in fp32: 0.45 to 0.75 (0.5 at best, 0.8 in the MMDetection zoo)."""
    dnn = catalog.dnns["resnet50"]
    arguments = {"dnn_id": dnn.id, "family": dnn.family, "forward_flop": dnn.forward_flop.value}
    half, full = (fitted.activations(precision=name, **arguments).sample_bytes for name in ("mixed", "fp32"))
    assert 0.45 <= half / full <= 0.75


def test_what_is_not_known_is_wider(fitted):
    """A network of the catalogue, one that is like it, one of its family alone, one of no family."""
    arguments = {"forward_flop": 8e9, "precision": "mixed"}
    known = fitted.activations(dnn_id="resnet50", family="resnet", **arguments)
    like = fitted.activations(dnn_id="resnet50", family="resnet", is_custom=True, **arguments)
    family = fitted.activations(dnn_id="", family="resnet", is_custom=True, **arguments)
    none = fitted.activations(dnn_id="", family="", is_custom=True, **arguments)
    assert known.log_sd < like.log_sd < none.log_sd
    assert known.log_sd < family.log_sd < none.log_sd
    assert (known.is_fitted, like.is_fitted) == (True, False)


def test_published_rows_agree_with_the_fit(catalog, fitted):
    """Batches that ran are likely to fit, and those that ran out of memory are refused at 90 %."""
    likely, refused = [], []
    for row in telling(load_memory_rows(catalog)):
        if row.n_moments < 0 or row.kind not in (MemoryKind.FITS, MemoryKind.DOES_NOT_FIT):
            continue
        found = fitted.activations(
            dnn_id=row.dnn, family=row.family, forward_flop=row.forward_flop, precision=row.precision
        )
        state = training_state_bytes(row.parameters, row.n_moments)
        chance = fit_probability(
            row.value_bytes, state, fitted.fixed_bytes, row.batch, found.sample_bytes, found.log_sd
        )
        (likely if row.kind is MemoryKind.FITS else refused).append(float(chance))
    assert np.mean(np.array(likely) > 0.5) >= 0.95
    # One implementation of many may hold less than the others; most out-of-memory cases are refused.
    assert np.mean(np.array(refused) < 0.9) >= 0.85


def test_a_row_without_its_network_names_the_line(tmp_path, catalog):
    header = "id,source,where,basis,dnn,family,forward_flop,parameters,input,precision,optimizer,recompute,"
    header += "batch_per_gpu,gpu,gpu_memory_bytes,kind,value_bytes,notes"
    file = tmp_path / "rows.csv"
    file.write_text(f"{header}\nx,y,z,table,unheard-of,,,,,fp32,sgd,,4,V100,17179869184,fits,,\n", encoding="utf-8")
    with pytest.raises(CalibrationError, match=":2: 'unheard-of'"):
        load_memory_rows(catalog, file)


V100 = {"gpu": "v100-sxm2-16gb", "generation": "volta", "peak_flop_per_s": 125e12}


def run(**facts):
    """Somebody's detector of 49 GFLOP on one V100."""
    found = {"kind": "detector", "forward_flop": 49e9, "gpus": 1, "batch_per_gpu": 40, "precision": "mixed"}
    rest = {"id": "", "team": "mine", "network": "mine", "measured": TRAINING, "samples_per_s": 0.0}
    return OwnRun(**{**found, **rest, **V100, **facts})


def interval(of, fit=None):
    """Median share of the peak, and the factor to either end of its 90 % interval."""
    fit = fit or own_networks()
    logs, variance = SHARES.predict(fit, [of])
    return math.exp(logs[0]), math.exp(Z90 * float(fit.interval_sd(variance)[0]))


@pytest.fixture(scope="module")
def left_out():
    """Errors of published trainings, of each team by a fit without it, in standard deviations and as logarithms."""
    return teams_left_out(fit_shares(load_runs()))


def test_trainings_of_teams_that_were_left_out_lie_inside(left_out):
    errors, sd = left_out
    assert all(one.is_reached for one in own_calibration().figures)
    assert 0.85 <= np.mean(np.abs(errors) <= Z90 * sd) <= 0.96
    assert abs(np.median(errors)) < 0.1
    assert math.exp(Z90 * float(np.median(sd))) < 2.5


def test_the_stored_fit_is_that_of_the_rows():
    assert own_networks().values == pytest.approx(fit_shares(load_runs()).fit.values, abs=1e-5)


def test_a_detector_on_one_v100_trains_as_people_train_it():
    """YOLOv5m: 4 days for 300 epochs of COCO on one V100, 103 images/s; tuned SSD reached four times the share."""
    share, factor = interval(run())
    published = 3 * 49e9 * 103 / 125e12
    assert share / factor < published < share * factor
    assert share < 0.46 / 2


def test_a_kind_that_is_not_said_is_wider_and_no_kind_is_exact():
    said, unsaid = interval(run()), interval(run(kind=OTHER_KIND))
    assert 1.5 < said[1] < unsaid[1] < 4


def test_small_steps_do_not_fill_a_gpu():
    assert interval(run(batch_per_gpu=1))[0] < interval(run(batch_per_gpu=8))[0] / 2


def test_a_rate_of_ones_own_narrows_its_gpu_and_another_one():
    measured = run(samples_per_s=60.0)
    updated = own_networks().updated(
        [effects_of(measured)], SHARES.law([measured]), N_TERMS, np.log([measured.share]), np.array([0.1])
    )
    share, factor = interval(run(), updated)
    assert share == pytest.approx(measured.share, rel=0.1)
    assert factor < 1.35
    h100 = run(gpu="h100-sxm-80gb", generation="hopper", peak_flop_per_s=989e12)
    before, after = interval(h100), interval(h100, updated)
    assert after[0] < before[0]  # a slow network is slow there, too
    assert factor < after[1] < before[1]
