"""Networks of MLPerf without a run in the fits: what they take of a relative, and how wide their intervals are."""

import math
import statistics

import pytest

from sizer.calibrate.modern.calibration import modern_calibration
from sizer.calibrate.modern.design_rates import MeasuredSystem, system_rates
from sizer.calibrate.modern.published import EXPOSED_SHARE, largest_batches, published_runs, related_network
from sizer.calibrate.modern.rows import load_modern
from sizer.calibrate.modern.terms import PRIORS
from sizer.calibrate.modern.validate import validated_rows
from sizer.calibrate.notes import FitNote, RowUse
from sizer.catalog.loader import shipped_catalog

HEADER = (
    "id,round,submitter,system,benchmark,nodes,accels,accel,nvlink,nic_count,nic_gbps,"
    "global_batch,grad_accum,rate_train_s,ttt_raw_min\n"
)
# MLPerf Training v5.1, NVIDIA, result_0.txt of flux1: 512 samples in 0.56765 s and 9,049 s on 16 GB200; 2,304 in
# 0.5105 s and 2,731.8 s on 72 GB300; 2,304 in 0.1336 s on 1,152 GB200, whose time NVIDIA prints. They ran FP8.
ROWS = (
    "tyche16,v5.1,NVIDIA,tyche_ngpu16_ngc25.09_nemo,flux1,4,16,gb200-186gb,nvlink5,4,400,512,1,902,150.8\n"
    "theia72,v5.1,NVIDIA,theia_ngpu72_ngc25.09_nemo,flux1,18,72,gb300-278gb,nvlink5,4,800,2304,1,4513,45.5\n"
    "hsg1152,v5.1,NVIDIA,hsg_ngpu1152_ngc25.09_nemo,flux,288,1152,gb200-186gb,nvlink5,4,400,2304,1,17246,12.5\n"
)


def test_published_runs_of_flux_are_predicted(tmp_path):
    """The interval is no narrower than the spread of the fitted networks makes it: 90 % of it is a factor of 6.3."""
    path = tmp_path / "flux.csv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    found = validated_rows(load_modern([path]), modern_calibration())
    assert len(found) == 6
    for row in found:
        assert row.status.use is RowUse.PREDICTED
        assert [note.kind for note in row.notes] == [FitNote.DNN_FROM_LIKE]
        assert row.is_covered
        assert row.high / row.low > math.exp(2 * 1.645 * 0.56)


def test_a_sample_costs_its_arithmetic_in_samples_of_the_relative():
    """6.81 TFLOP are 8.47 samples of Stable Diffusion, 0.804 TFLOP each; launches are those of one step."""
    related = related_network("flux")
    assert related.benchmark == "stable_diffusion"
    assert math.exp(related.log_flop) == pytest.approx(6.81 / 0.804, rel=1e-6)
    flux, known = (
        system_rates(MeasuredSystem(name, "h100-sxm5-80gb", 8, "nvlink", 400e9, "")).parts()
        for name in ("flux", "stable_diffusion")
    )
    assert flux.sample_s / known.sample_s == pytest.approx(6.81 / 0.804, rel=1e-6)
    assert flux.launch_s == pytest.approx(known.launch_s)


def test_work_done_again_counts():
    systems = [MeasuredSystem("flux", "h100-sxm5-80gb", 8, "nvlink", 400e9, "", factor) for factor in (1.0, 4 / 3)]
    kept, again = (system_rates(system) for system in systems)
    assert again.parts().sample_s == pytest.approx(4 / 3 * kept.parts().sample_s)
    ratio = math.exp(float(kept.rate(1, 64).log - again.rate(1, 64).log))
    assert 1.3 < ratio < 4 / 3  # launches are not made again


def test_samples_to_the_target_are_those_of_the_reference_runs():
    """RCPs of v5.1: 8.77, 10.73 and 15.62 million at 1,024, 2,048 and 4,096; a line through them, within 3 %."""
    related = related_network("flux")
    for batch, millions in ((1024, 8.769), (2048, 10.735), (4096, 15.624)):
        found = math.exp(related.length.log_samples) + batch * math.exp(related.length.log_steps)
        assert found == pytest.approx(millions * 1e6, rel=0.03)
    # 29,696 samples forward, a third of a step, every 262,144.
    assert math.exp(related.length.log_evaluation) == pytest.approx(29_696 / 3 / 262_144, rel=0.01)


def test_every_network_of_mlperf_has_runs_or_a_relative():
    for dnn in shipped_catalog().dnns.values():
        if dnn.mlperf:
            assert published_runs(dnn.mlperf) or related_network(dnn.mlperf), dnn.id
            assert not (published_runs(dnn.mlperf) and related_network(dnn.mlperf)), dnn.id
    assert related_network("nonsense") is None


def test_spreads_of_networks_without_runs_are_those_of_the_fitted_ones():
    """Share of the peak on eight H100, and of the gradient that is exposed; without recommenders and graphs."""
    shares, exposed = [], []
    for dnn in shipped_catalog().dnns.values():
        if not published_runs(dnn.mlperf) or dnn.family in ("recommender", "graph"):
            continue
        system = system_rates(MeasuredSystem(dnn.mlperf, "h100-sxm5-80gb", 8, "nvlink4", 400e9, ""))
        batch = max(batch for memory, batch in largest_batches(dnn.mlperf) if memory <= 80 * 2**30)
        flop_per_s = 3 * dnn.forward_flop.value * math.exp(float(system.rate(1, batch).log)) / 8
        shares.append(math.log(flop_per_s / system.gpu.peak_flop_per_s))
        exposed.append(math.log(system.parts().exchange_bytes / (2 * dnn.parameters.value)))
    assert len(shares) == 8
    assert statistics.stdev(shares) == pytest.approx(PRIORS["network"].sd, abs=0.02)
    assert math.exp(statistics.mean(exposed)) == pytest.approx(EXPOSED_SHARE, abs=0.02)
    assert statistics.stdev(exposed) == pytest.approx(PRIORS["exposed"].sd, abs=0.1)
