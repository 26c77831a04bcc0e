"""The search: sizes, fronts, counts of parts."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sizer.base.errors import InfeasibleError
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import unit_prices
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.physical.platforms import platforms
from sizer.sizing.best_design import best_design, best_row
from sizer.sizing.recommend import larger_sizes, search, servers_by_scaling
from sizer.sizing.search.feasibility import MAX_SERVERS, Alike, design_space
from sizer.sizing.search.infeasible_error import counts_ruled_out, nearest_row
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, front_rows, rank_key, uncertainty
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest
from tests.bench.requests import open_request
from tests.factories.examples import catalog
from tests.factories.prices import priced
from tests.property.law_examples import law

_OF_STORAGE = ("is_per_node", "per_unit", "least", "most", "holds_data", "rate_is_known", "write_is_known")


def test_a_class_holds_the_platforms_of_equal_rates_and_equal_storage():
    request, catalog = open_request(3000.0, 4), shipped_catalog()
    options, works = platforms(catalog, request), resolved(request, catalog, stored_calibration())
    found = Alike.of(request, works, options, design_space(len(options), 1, 4), catalog)
    of_storage = [getattr(found.units, name) for name in (*_OF_STORAGE, "capacity_is_known")]
    facts = np.stack([*found.facts.as_rows(), *of_storage]).astype(float).T.tolist()
    classes: dict[tuple[float, ...], set[int]] = {}
    for number, row in zip(found.class_of.tolist(), facts, strict=True):
        classes.setdefault(tuple(row), set()).add(number)
    assert all(len(numbers) == 1 for numbers in classes.values())
    assert len(classes) == len(found.first) > 100
    # The first platform of a class stands for it, and its kind of servers is the one that it has.
    assert found.class_of[found.first].tolist() == list(range(len(found.first)))
    kinds = np.stack([found.facts.gpus_per_server, found.facts.cores, found.facts.cache_bytes, found.facts.compute])
    assert np.array_equal(kinds[:, found.first], kinds[:, found.kinds[found.kind_of]])


def test_limits_are_counted_and_the_nearest_design_is_named() -> None:
    limits = {"power": np.array([True, False, False]), "racks": np.array([False, True, True])}
    assert counts_ruled_out(limits) == {"power": 2, "racks": 1}
    # Each row breaks one limit; row 2 is the closest of them.
    assert nearest_row(limits, np.array([0.1, 0.2, 0.9])) == (2, ("power",))
    # Row 0 breaks both limits, row 1 one of them: the fewest broken go before closeness.
    both = {"power": np.array([False, True]), "racks": np.array([False, False])}
    assert nearest_row(both, np.array([0.9, 0.1])) == (1, ("racks",))


def test_space_holds_every_platform_at_every_size() -> None:
    space = design_space(2, 3, 5)
    assert space.platform.tolist() == [0, 0, 0, 1, 1, 1]
    assert space.n_servers.tolist() == [3, 4, 5, 3, 4, 5]
    assert space.of_platform(1) == slice(3, 6)
    assert space.n_rows == 6


def test_large_spaces_are_sparse_and_hold_both_ends() -> None:
    sizes = design_space(1, 1, 10_000).sizes
    assert sizes[:512].tolist() == list(range(1, 513))
    assert sizes[-1] == 10_000
    assert len(sizes) < 1_500
    assert (np.diff(sizes) <= np.ceil(sizes[:-1] / 256) + 1).all()
    assert design_space(2_500, 1, 100_000).n_rows <= 2_000_000


@pytest.mark.parametrize("samples_per_s", [2_000, 30_000])
@pytest.mark.parametrize("more", [{}, {"confidence": 0.9}, {"limits": {"power_w": "60 kW"}}])
def test_the_cheapest_points_are_those_of_brute_force(samples_per_s, more):
    """Every design is counted, and every pair of designs compared; no lower bound is used."""
    work = {"dnn": "resnet50", "dataset": "imagenet-x10", "target": {"samples_per_s": samples_per_s}}
    platforms = {"servers": ["dgx-1", "c4140", "apollo-6500"], "storage": ["isilon-f800", "isilon-h600", "wekaio"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms, **more})
    counts = search(request, catalog(), stored_calibration(), most=40)
    chosen = Ranking(counts).first(1)[0]
    found = front_rows(counts, chosen, 12)
    n_counted = int(counts.has_parts.sum())
    everything = search(request, catalog(), stored_calibration(), most=40)
    rows = np.arange(everything.evaluated.space.n_rows)
    feasible = everything.feasible & (uncertainty(everything, rows) <= uncertainty(everything, np.array([chosen])))
    cost = everything.ranking_cost
    values = [cost, everything.evaluated.time_at(rows), everything.power_w, everything.rack_units]
    designs = np.unique(np.column_stack(values)[feasible], axis=0)
    is_no_worse = (designs[:, None] <= designs).all(axis=2)  # the first than the second
    np.fill_diagonal(is_no_worse, val=False)
    unbeaten = designs[~is_no_worse.any(axis=0)]
    assert [tuple(value[row] for value in values) for row in found] == sorted(map(tuple, unbeaten))[:12]
    assert n_counted <= int(everything.has_parts.sum())


WORK = {"dnn": "resnet50", "dataset_bytes": "2 TB", "target": {"gpus_busy": 16}}


def counts_of(parts: Catalog, **asked: object) -> PartCounts:
    """Designs of 16 V100 in DGX-1 servers with an F800, at one to three servers."""
    platforms = {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["edr"]}
    request = {"workload": [WORK], "platforms": platforms, "limits": {"servers": 3}, **asked}
    return search(SizingRequest.from_dict(request), parts, stored_calibration())


@law(40)
@given(price=st.integers(100_000, 400_000), other=st.integers(100_000, 400_000))
def test_a_changed_price_never_gets_an_old_amount(price: int, other: int) -> None:
    """Two servers cost twice the difference of their prices more, whichever book was asked first."""
    books = [priced({"dgx-1": str(amount)}) for amount in (price, other, price)]
    counted = [counts_of(book) for book in books]
    amounts = [float(counts.cost[counts.count(0, np.array([1]))[0]]) for counts in counted]
    assert amounts[1] - amounts[0] == 2 * (other - price)
    assert amounts[2] == amounts[0]


def test_prices_belong_to_one_price_book():
    """One price of a server a book: 149,000 and 150,000 USD, at any height, as neither is a band."""
    books = [priced({"dgx-1": amount}) for amount in ("149000", "150000")]
    platform = counts_of(books[0]).evaluated.platforms[0]
    prices = [unit_prices(book, price_book(book), "USD", (0.0, 0.9)) for book in books]
    assert [one.of("dgx-1", platform).tolist() for one in prices] == [[149e3, 149e3], [150e3, 150e3]]
    assert unit_prices(books[0], price_book(books[0]), "USD", (0.0, 0.9)) is prices[0]
    assert unit_prices(books[0], price_book(books[0]), "USD", (0.0, 0.5)) is not prices[0]


CATALOG = shipped_catalog()


def _asked(rate: float, **limits: Any) -> SizingRequest:
    work = {"dnn": "resnet50", "precision": "mixed", "target": {"samples_per_s": rate}}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"servers": ["dgx-1"]}, "limits": limits})


def _servers(request: SizingRequest) -> int:
    found = best_row(request, CATALOG, stored_calibration())
    return int(found.counts.evaluated.space.n_servers[found.row])


def test_servers_at_which_a_share_becomes_the_whole():
    """Linear: 160 that deliver 0.4 become 400. By n/(1 + n/320): 160 deliver 106.7, k = 2/3, and 320 deliver 160."""
    share, exponent = np.array([0.4, 2 / 3, 0.4]), np.array([1.0, 2 / 3, 0.5])
    # With k = 1/2 twice the rate is out of reach of any number: 2.5 times all the more.
    assert servers_by_scaling(160, share, exponent) == pytest.approx([400, 320, np.inf])


def test_sizes_passed_over_below_the_first_that_meets_are_looked_at():
    """One platform of three meets the targets from 168 servers on, one from 170, one never: 161 to 167 are missing."""
    sizes = np.array([159, 160, 168, 169, 170])
    runs = np.array([sizes >= 168, sizes >= 170, sizes > 170])
    found: Any = SimpleNamespace(runs=runs, space=SimpleNamespace(sizes=sizes))
    more = larger_sizes(found)
    assert more is not None
    assert list(more) == list(range(161, 168))
    found.runs = np.array([sizes >= 169])
    assert larger_sizes(found) is None


def test_a_rate_beyond_the_first_search_is_met_by_a_larger_cluster():
    """A DGX-1 trains ResNet-50 at some 10,000 images/s: two million take 200 and more, as where they are allowed."""
    asked = _asked(2e6)
    servers = _servers(asked)
    assert 200 <= servers <= 300
    assert servers == _servers(_asked(2e6, servers=400))
    assert search(_asked(1e5), CATALOG, stored_calibration()).evaluated.space.sizes[-1] == MAX_SERVERS


def test_an_error_names_the_limit_of_servers_that_excludes_larger_designs():
    said = r"Excluded by: rate of the GPUs within limits\.servers = 3\..*Without this limit .* × NVIDIA DGX-1 with"
    with pytest.raises(InfeasibleError, match=said):
        best_design(_asked(40_000, servers=3), CATALOG)


def test_a_room_too_small_is_no_reason_for_more_servers():
    """A DGX-1 draws more than 1 kW: no cluster of 160 is within 100 kW, and no larger one."""
    request = _asked(2e6, power_w=100_000)
    assert search(request, CATALOG, stored_calibration()).evaluated.space.sizes[-1] == MAX_SERVERS
    with pytest.raises(InfeasibleError, match=r"Excluded by: rate of the GPUs and the limit of 100 kW"):
        best_design(request, CATALOG)


def test_an_error_names_the_most_servers_that_are_compared():
    """160 DGX-1 deliver some 1.6 million images/s: ninety million take more than 9,000."""
    with pytest.raises(InfeasibleError, match=r"Clusters of up to 160 servers were compared; limits\.servers"):
        best_design(_asked(9e7), CATALOG)


# Images/s of ResNet-50 by MLPerf on one L4, H100 NVL and H200: about 450, 5,000 and 6,900.
SERVERS = ["xe7745-l4", "xe7745", "as-8125gs-tnhr", "gb200-nvl72"]


def ranked(target, **more):
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": target}
    platforms = {"servers": SERVERS, "storage": ["xe7745-nvme", "as-8125gs-tnhr-nvme", "gb200-nvl72-nvme"]}
    asked = SizingRequest.from_dict({"date": "2026-11-28", "workload": [work], "platforms": platforms, **more})
    counts = search(asked, catalog(), stored_calibration())
    return counts, list(Ranking(counts).one_by_one())


def parts(counts, row):
    space = counts.evaluated.space
    platform = counts.evaluated.platforms[int(space.platform[row])]
    return platform.gpu.id, int(space.n_servers[row]) * platform.gpus_per_server


@pytest.mark.parametrize("n_gpus", [8, 16])
def test_the_slowest_gpus_do_not_win_by_their_price(n_gpus):
    """Eight L4 cost a fifth of eight H100 and deliver a fifteenth. Eight are not got by a rack of 72."""
    counts, order = ranked({"gpus_busy": n_gpus})
    gpu, count = parts(counts, order[0])
    assert gpu.startswith(("h100", "h200", "b200"))
    assert count == n_gpus
    assert np.all(np.diff(rank_key(counts, np.array(order))) >= 0)


def test_beside_a_design_stand_other_gpus_not_only_other_storage():
    """H200 and B200 of one maker join a dozen systems of storage each; all of one kind would be no choice."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 32}}
    platforms = {"servers": ["as-8125gs-tnhr", "as-a126gs-tnbr"], "gpus": ["h200-sxm-141gb", "b200-sxm-180gb"]}
    asked = SizingRequest.from_dict({"date": "2026-11-28", "workload": [work], "platforms": platforms})
    counts = search(asked, catalog(), stored_calibration())
    ranking = Ranking(counts)
    ranked, varied = list(ranking.one_by_one()), list(ranking.varied())
    shown = {parts(counts, row)[0] for row in ranking.first(8)}
    assert shown == {"h200-sxm-141gb", "b200-sxm-180gb"}
    assert varied[0] == ranked[0]
    assert sorted(varied) == sorted(ranked)


def test_the_fastest_is_the_one_that_surely_is():
    """A median that no run stands behind does not win against a measured rate: the lower end at the confidence does."""
    work = {"dnn": "retinanet", "dataset": "openimages-mlperf", "epochs": 10, "target": {"gpus_busy": 8}}
    platforms = {"gpus": ["mi325x-256gb", "h200-sxm-141gb"]}
    asked = {"workload": [work], "platforms": platforms, "limits": {"servers": 1}, "confidence": 0.8, "rank_by": "time"}
    counts = search(SizingRequest.from_dict({"date": "2026-11-28", **asked}), catalog(), stored_calibration())
    order = np.array(list(Ranking(counts).one_by_one()))
    evaluated, gpu = counts.evaluated, counts.evaluated.first.comp.gpu
    kinds = evaluated.kind_of_class[evaluated.class_of[evaluated.space.platform[order]]]
    median, log_sd = np.broadcast_to(gpu.median, gpu.log_sd.shape)[kinds, 0], gpu.log_sd[kinds, 0]
    names = [parts(counts, row)[0] for row in order.tolist()]
    assert {"mi325x-256gb", "h200-sxm-141gb"} <= set(names)
    assert names[int(np.argmax(median))] == "mi325x-256gb"
    assert names[0] == "h200-sxm-141gb"
    least = median * np.exp(norm.ppf(0.2) * log_sd)  # of 100 such GPUs 80 are faster
    assert least[0] == pytest.approx(least.max(), rel=0.01)  # of times this near the cheaper leads


def test_the_cheapest_leads_where_cost_is_asked_for():
    counts, order = ranked({"gpus_busy": 8}, rank_by="cost")
    costs = counts.ranking_cost[np.array(order)]
    assert costs[0] == costs.min()
    assert parts(counts, order[0])[0] == "l4-24gb"
