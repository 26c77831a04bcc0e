"""Probabilities of designs, and what they depend on."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sizer import InfeasibleError, SizingRequest, monte_carlo, project
from sizer.base.errors import RequestError
from sizer.base.stored_answers import StoredAnswers
from sizer.batch.monte_carlo import draws_of
from sizer.calibrate.calibration import Draws, stored_calibration
from sizer.calibrate.fit import hosts
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.schema import Storage
from sizer.perf.step_terms import drawn_terms
from sizer.physical.platforms import as_stated
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult, FactKind
from sizer.sizing.recommend import search
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.posterior import posterior
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.stages import gpu_side
from sizer.sizing.stages.platform_columns import capacity_is_unknown, node_read_rate, rate_is_unknown
from tests.factories.examples import catalog

DRAWS = 4000
P05, P50, P95, MEAN = range(4)


def request(target, *, workload=None, **tables):
    work = {"dnn": "resnet50", "target": target, **(workload or {})}
    return SizingRequest.from_dict(
        {"confidence": 0.5, "workload": [work], "platforms": {"generations": ["volta"]}, **tables}
    )


def only(asked, **parts):
    """The request with the allowed parts named."""
    return asked.model_copy(update={"platforms": asked.platforms.model_copy(update=parts)})


@cache
def certain():
    """The stored calibration under another identity: terms that are kept by calibration are not shared with it."""
    return replace(stored_calibration())


def judged(asked, calibration=None):
    return search(asked, catalog(), calibration or stored_calibration()).evaluated


def one_gpu(rate):
    """A job on one GPU of one server, with a batch beside which launches do not count.

    Nothing is exchanged and nobody waits: the logarithm of the rate is linear in the parameters.
    """
    return request(
        {"samples_per_s": rate},
        workload={"dnn": "vgg16", "precision": "fp32", "batch_per_gpu": 128},
        platforms={"gpus_per_server": 1},
        limits={"servers": 1},
    )


class Middle:
    """A generator whose numbers are the medians of their distributions."""

    def standard_normal(self, shape):
        return np.zeros(shape)

    def random(self, n):
        return np.full(n, 0.5)


@pytest.fixture
def at_the_medians(monkeypatch):
    """Judge and draws with every term at its value; nothing is kept of draws that others made, nor of these."""
    for store in ("_of_one", "_of_many"):
        monkeypatch.setattr(gpu_side, store, lambda *_: StoredAnswers(0))
    hosts._estimate.cache_clear()
    for module in ("sizer.perf.step_terms", "sizer.calibrate.calibration", "sizer.calibrate.fit.hosts"):
        monkeypatch.setattr(f"{module}.drawn_terms", lambda values, _: drawn_terms(values, np.zeros(1)))
    yield _at_the_medians
    hosts._estimate.cache_clear()


def _at_the_medians(asked):
    space = judged(asked, certain())
    return space, posterior(space, Draws(certain(), 3, lambda _: Middle()), catalog())


@pytest.mark.parametrize(
    ("target", "workload"),
    [
        ({"samples_per_s": 20_000.0}, {}),
        ({"samples_per_s": 20_000.0}, {"dnn": "vgg16", "access": "sharded", "cache": "pinned", "precision": "fp32"}),
        ({"samples_per_s": 20_000.0}, {"task": "validation-inference"}),
        ({"gpus_busy": 16}, {"dataset_bytes": 2e12}),
    ],
)
def test_without_spread_it_is_the_rate_of_the_judge(at_the_medians, target, workload):
    space, found = at_the_medians(request(target, workload=workload, limits={"servers": 12}))
    for statistic in (P05, P50, P95):
        assert_allclose(found.rate[0, ..., statistic], space.class_slowest, rtol=1e-9)  # sums in another order


def test_without_spread_and_cache_it_is_the_time_of_the_judge(at_the_medians):
    """Without a cache the first epoch is like the others, which the judge takes all of them to be."""
    for length in ({"epochs": 7.5}, {"epochs": 0.5}, {"recipe": "resnet50-mlperf-v0.6"}):
        asked = request({"samples_per_s": 9000.0}, workload={"cache": "none", **length}, limits={"servers": 40})
        space, found = at_the_medians(asked)
        assert_allclose(found.time_s[0, ..., P50], space.class_least_time_s, rtol=1e-9)  # sums in another order


def test_parameters_without_spread_do_not_move():
    calibration = stored_calibration()
    exact = replace(calibration.fit, hessian=calibration.fit.hessian * 1e30)
    draws = draws_of(replace(calibration, fit=exact), 5, 1)
    assert max(np.abs(draws.moved(name)).max() for name in calibration.names) < 1e-12


def test_parameters_move_together_as_the_covariance_says():
    """Mean and covariance of the draws of some parameters: 6 standard errors of 4,000 draws."""
    calibration = stored_calibration()
    draws = draws_of(calibration, DRAWS, 3)
    places = list(range(0, len(calibration.names), 25))
    moved = np.stack([draws.moved(calibration.names[place]) for place in places])
    covariance = calibration.fit.covariance([calibration.names[place] for place in places])
    sd = np.sqrt(np.diag(covariance))
    assert (np.abs(moved.mean(axis=1)) < 6 * sd / np.sqrt(DRAWS)).all()
    assert_allclose(np.cov(moved) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=6 * np.sqrt(2 / DRAWS))


def test_quantiles_agree_with_the_delta_method_where_it_is_linear():
    asked = one_gpu(150.0)
    space = judged(asked)
    found = posterior(space, draws_of(stored_calibration(), DRAWS, 1), catalog())
    answer = best_design(asked, catalog()).design
    row = next(
        row
        for row, platform in enumerate(space.platforms)
        if (platform.server, platform.gpu, platform.storage, platform.fabric)
        == (answer.platform.server, answer.platform.gpu, answer.platform.storage, answer.platform.fabric)
    )
    rate = answer.workloads[0].throughput
    log_sd = float(rate.log_sd)
    drawn = found.rate[0, space.class_of[row], 0]
    # A median of normal numbers has a standard error of 1.25 sd/sqrt(n); four of them.
    assert abs(np.log(drawn[P50] / rate.value)) < 4 * 1.25 * log_sd / np.sqrt(DRAWS)
    assert_allclose(np.log(drawn[P95] / drawn[P05]) / (2 * 1.6449), log_sd, rtol=0.1)


@pytest.mark.parametrize("share", [0.85, 1.0, 1.15])
def test_chances_agree_with_the_judge_where_stages_are_independent(share):
    rate = share * float(np.median(judged(one_gpu(1.0)).class_slowest))
    space = judged(one_gpu(rate))
    found = posterior(space, draws_of(stored_calibration(), DRAWS, 2), catalog())
    chance = space.class_probability
    # Four standard errors of a share, and a hundredth for the curvature that the delta method leaves out.
    assert (np.abs(found.all_met - chance) < 4 * np.sqrt(chance * (1 - chance) / DRAWS) + 0.01).all()
    assert ((chance > 0.05) & (chance < 0.95)).any()


def test_a_storage_bracket_is_log_uniform():
    """Decoded tensors of 20 MB: the storage limits, and its rate lies evenly in the logarithm of its bracket."""
    asked = request(
        {"samples_per_s": 700.0},
        workload={"cache": "none", "dataset": {"n_samples": 1e6, "sample_bytes": 20e6, "format": "decoded tensors"}},
        platforms={"servers": ["dgx-1"], "storage": ["isilon-f800"]},
        limits={"servers": 3},
    )
    space = judged(asked)
    found = posterior(space, draws_of(stored_calibration(), DRAWS, 1), catalog())
    storage = catalog().storage["isilon-f800"]
    low, high = storage.node_read_low_bytes_per_s.value, storage.node_read_high_bytes_per_s.value
    per_node = found.rate[0, :, 2, :3] * 20e6 / space.class_nodes[:, 2:]
    levels = low * (high / low) ** np.array([0.05, 0.5, 0.95])
    # Four standard errors of the median of uniform numbers, in a bracket of 1.5: 1.3 %.
    assert_allclose(per_node, np.broadcast_to(levels, per_node.shape), rtol=0.013)


def test_the_same_seed_gives_the_same_table():
    asked = request({"time_to_train_s": 20_000.0}, workload={"recipe": "resnet50-mlperf-v0.6"}, limits={"servers": 3})
    asked = only(asked, servers=("dgx-1", "c4140"), storage=("isilon-f800", "dgx1-ssd"))
    first = monte_carlo(asked, catalog(), draws=100, seed=5)
    assert first.num_rows == search(asked, catalog(), stored_calibration()).evaluated.space.n_rows
    with ThreadPoolExecutor(2) as pool:  # processes: tests/batch
        elsewhere = monte_carlo(asked, catalog(), draws=100, seed=5, executor=pool)
    assert elsewhere.equals(first, check_metadata=True)
    for block_elements in (1, 250, 10_000_000):
        assert monte_carlo(asked, catalog(), draws=100, seed=5, block_elements=block_elements).equals(first)
    assert not monte_carlo(asked, catalog(), draws=100, seed=6).equals(first)


def test_a_design_does_not_depend_on_the_others_of_its_space():
    wide = request({"samples_per_s": 20_000.0}, limits={"servers": 9})
    narrow = only(wide, servers=("dgx-1",), storage=("isilon-f800",))
    whole, part = (monte_carlo(asked, catalog(), draws=50) for asked in (wide, narrow))
    names = [name for name in part.schema.names if name != "answer.design.is_feasible"]
    wanted = [
        row
        for row in whole.select(names).to_pylist()
        if (row["answer.design.server"], row["answer.design.storage"]) == ("dgx-1", "isilon-f800")
    ]
    assert part.select(names).to_pylist() == wanted


def test_several_workloads_are_met_in_the_same_draws():
    """Two workloads that are alike share all draws: both are met when one is. At the median rate of two servers half of
    the draws meet the target."""

    def alike(rate):
        work = {"dnn": "resnet50", "stack": "tf-cnn-benchmarks-ngc18.09", "target": {"samples_per_s": rate}}
        tables = {"platforms": {"servers": ["dgx-1"]}, "limits": {"servers": 4}}
        return SizingRequest.from_dict(
            {"confidence": 0.5, "workload": [work, work], "platforms": {"generations": ["volta"]}, **tables}
        )

    asked = alike(float(np.median(judged(alike(1.0)).class_slowest[:, 1])))
    found = posterior(judged(asked), draws_of(stored_calibration(), 200, 0), catalog())
    assert_array_equal(found.all_met, found.met[0])
    assert_array_equal(found.met[0], found.met[1])
    assert ((found.all_met[:, 1] > 0.2) & (found.all_met[:, 1] < 0.8)).any()


def test_busy_gpus_need_as_many_gpus_as_are_asked():
    asked = request({"gpus_busy": 24}, platforms={"servers": ["dgx-1"]}, limits={"servers": 4})
    found = posterior(judged(asked), draws_of(stored_calibration(), 200, 0), catalog())
    assert (found.all_met[:, :2] == 0).all()
    assert (found.all_met[:, 2:] > 0.5).all()


@pytest.mark.parametrize(
    ("key", "value"), [("draws", 0), ("draws", 10_001), ("draws", True), ("seed", -1), ("seed", 1.5)]
)
def test_bad_numbers_of_draws_are_refused(key, value):
    with pytest.raises(RequestError, match=f"{key} = .* is not a whole number"):
        monte_carlo(one_gpu(150.0), catalog(), **{key: value})


def _searched(data_bytes: float = 144e9, **tables: object) -> PartCounts:
    """Search of a rate on the storage systems with and without published facts."""
    request = {
        "workload": [{"dnn": "resnet50", "dataset_bytes": data_bytes, "target": {"samples_per_s": 4000.0}}],
        "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800", "hnas"]},
        "limits": {"servers": 6},
        **tables,
    }
    return search(SizingRequest.from_dict(request), shipped_catalog(), stored_calibration())


def _storage(counts: PartCounts, row: int) -> str:
    return counts.evaluated.platforms[int(counts.evaluated.space.platform[row])].storage.id


@pytest.mark.parametrize("rank_by", [None, "cost", "time", "gpus", "rack-units", "watts"])
def test_a_design_without_unknowns_comes_first_by_every_key(rank_by: str | None) -> None:
    """HNAS: no source prints a bandwidth or the capacity of a configuration; the F800 has both."""
    counts = _searched(**({} if rank_by is None else {"rank_by": rank_by}))
    order = list(Ranking(counts).one_by_one())
    assert [_storage(counts, row) for row in order] == ["isilon-f800", "hnas"]
    assert counts.conditional[order].tolist() == [False, True]
    assert [_storage(counts, row) for row in Ranking(counts).first(1)] == ["isilon-f800"]


def test_data_in_memory_need_a_capacity_all_the_same() -> None:
    """144 GB stay in the memory of one DGX-1: the rate of the HNAS does not matter, its capacity does."""
    counts = _searched()
    is_hnas = np.array([platform.storage.id == "hnas" for platform in counts.evaluated.platforms])
    assert counts.conditional[np.repeat(is_hnas, 6)].all()
    assert not counts.conditional[np.repeat(~is_hnas, 6)].any()


def test_a_limit_of_watts_makes_unknown_draws_count() -> None:
    """DSS 8440: no source prints its maximum draw; every other device of the design has a bracket."""
    chosen = {"platforms": {"servers": ["dgx-1", "dss-8440"], "storage": ["isilon-f800"]}}
    free, limited = _searched(**chosen), _searched(**chosen, limits={"servers": 6, "power_w": 1e6})
    for counts in (free, limited):
        for index in range(counts.evaluated.space.n_platforms):
            counts.count(index, np.arange(6))
    is_unknown = np.repeat([platform.server.id == "dss-8440" for platform in free.evaluated.platforms], 6)
    assert not free.conditional.any()
    assert limited.conditional.tolist() == is_unknown.tolist()


def test_stated_values_end_the_condition() -> None:
    """HNAS with 1.2 GB/s a node and 2 PB as stated: known, so that its probability is a number again.

    5 TB at 10,000 images/s of 113 kB are 1.13 GB/s and more in the first epoch: two nodes read 2.4 GB/s.
    """
    work = {"dnn": "resnet50", "dataset_bytes": "5 TB", "target": {"samples_per_s": 10e3}}
    chosen = {"servers": ["dgx-2"], "storage": ["hnas"]}
    open_ = SizingRequest.from_dict({"workload": [work], "platforms": chosen})
    stated = {"storage": "hnas", "node_read_bytes_per_s": "1.2 GB/s", "usable_bytes": "2 PB"}
    told = SizingRequest.from_dict({"workload": [work], "platforms": chosen, "stated_storage": [stated]})
    before, after = (best_design(request, shipped_catalog()).design for request in (open_, told))
    assert {fact.kind for fact in before.conditional_on} == {FactKind.READ_RATE, FactKind.USABLE_CAPACITY}
    assert (before.probability, before.target_check) == (None, CheckResult.OPEN)
    assert (after.conditional_on, after.target_check) == ((), CheckResult.MET)
    assert after.probability is not None
    assert after.usable_bytes == 2e15


def test_an_owned_filer_without_published_facts_has_the_range_of_its_class() -> None:
    """AFF A800, a pair: no source prints its rate or capacity; all-flash NAS of the catalogue reads 1 to 19 GB/s a node
    and has 23 TB of drives at least. One that is not owned, or asked to hold more, stays unknown.
    """
    chosen, owned = {"storage": ["netapp-a800"]}, {"storage_nodes": {"netapp-a800": 2}}

    def storage(data_bytes: str, existing: dict[str, object]) -> Storage:
        work = {"dnn": "resnet50", "dataset_bytes": data_bytes, "target": {"samples_per_s": 100}}
        asked = SizingRequest.from_dict({"workload": [work], "platforms": chosen, "existing": existing})
        return as_stated(shipped_catalog(), shipped_catalog().storage["netapp-a800"], asked)

    small, large, bought = storage("1.5 TB", owned), storage("100 TB", owned), storage("1.5 TB", {})
    assert [rate_is_unknown(one) for one in (small, large, bought)] == [False, False, True]
    assert [capacity_is_unknown(one, 0) for one in (small, large, bought)] == [False, True, True]
    rate = node_read_rate(small)
    assert rate is not None
    assert (rate.low.value, rate.high.value, rate.low.basis) == (1e9, 19e9, "assumed")


def test_more_data_than_a_vendor_publishes_do_not_fit() -> None:
    """HNAS: 16 PB usable at most, whatever array stands behind it."""
    work = {"dnn": "resnet50", "dataset_bytes": "51 PB", "target": {"samples_per_s": 10e3}}
    request = SizingRequest.from_dict(
        {"workload": [work], "platforms": {"generations": ["volta"], "storage": ["hnas", "hnas-4100"]}}
    )
    with pytest.raises(InfeasibleError, match="capacity"):
        best_design(request, shipped_catalog())


def test_an_array_of_disks_does_not_read_at_line_rate() -> None:
    """12 NL-SAS drives of the head node behind an EDR port of 12.5 GB/s: at most 12 x 200 MB/s = 2.4 GB/s."""
    work = {"dnn": "resnet50", "dataset_bytes": "100 TB", "cache": "none", "target": {"samples_per_s": 1e3}}
    request = SizingRequest.from_dict({"workload": [work]})
    design = project(request, shipped_catalog(), server="c4140", servers=2, storage="head-node-nfs", fabric="edr")
    storage = next(stage for stage in design.workloads[0].stages if stage.key == "storage")
    assert float(storage.capacity.high) * design.workloads[0].sample_bytes <= 2.4e9
