"""The fit of GPU memory against published batches, out-of-memory cases and peaks."""

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.gpu_memory import MemoryKind, load_memory_rows, n_moments, telling
from sizer.perf.gpu_memory import fit_probability, largest_batch, training_state_bytes

GIB = 2**30


@pytest.fixture(scope="module")
def fitted():
    return stored_calibration().gpu_memory


def largest(catalog, fitted, dnn_id, precision, gib):
    dnn = catalog.dnns[dnn_id]
    found = fitted.activations(
        dnn_id=dnn_id, family=dnn.family, forward_flop=dnn.forward_flop.value, precision=precision
    )
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
    """On both memories of V100; networks planned on today's equipment alone on the 40 and 80 GB of A100 and H100."""
    for dnn in catalog.dnns.values():
        if dnn.transformer is not None or dnn.id.startswith(("dlrm", "flux")):
            continue  # its layout decides; tables of 26.1 G parameters and a state of 190 GB are divided over the GPUs
        memories = (16, 32) if dnn.era is None else (40, 80)
        batches = [largest(catalog, fitted, dnn.id, "mixed", gib) for gib in memories]
        assert 1 <= batches[0] <= batches[1], dnn.id


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
    with pytest.raises(CalibrationError, match="line 2: 'unheard-of'"):
        load_memory_rows(catalog, file)
