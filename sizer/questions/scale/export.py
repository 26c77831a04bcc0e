"""The same GPUs in fewer or in more servers, as plain data."""

from typing import Any

from sizer import __version__
from sizer.questions.scale.analysis import Pair, SameGpus, UpOrOut, Way, WayRun
from sizer.questions.scale.comparison_text import difference
from sizer.sizing.result import SCHEMA_VERSION


def up_or_out_document(found: UpOrOut) -> dict[str, Any]:
    """The whole comparison. Prices are decimal text, ``null`` while nothing is priced; so are times of no length."""
    return {
        "kind": "up-or-out",
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "comparisons": [_same_gpus(one) for one in found.comparisons],
        "kept": [
            {
                "from_gpus": one.few.n_gpus,
                "to_gpus": one.many.n_gpus,
                "server": one.few.arrangement.platform.server.id,
                "share": [share.as_dict() for share in one.share],
            }
            for one in found.kept
        ],
    }


def _same_gpus(same: SameGpus) -> dict[str, Any]:
    return {
        "n_gpus": same.n_gpus,
        "storage_nodes": same.storage_nodes,
        "storage_is_sized": same.storage_is_sized,
        "arrangements": [_way(same.first, way) for way in same.ways],
        "forms": [_pair(pair) for pair in same.forms],
        "left_out": [{"name": one.name, "reason": one.reason} for one in same.left_out],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first.arrangement.name,
        "second": pair.second.arrangement.name,
        "rate_ratio": [ratio.as_dict() for ratio in pair.relative],
        "difference": difference(pair),
    }


def _way(first: Way, way: Way) -> dict[str, Any]:
    one, bill = way.arrangement, way.bill
    return {
        "name": one.name,
        "kind": one.kind,
        "server": one.platform.server.id,
        "gpu": one.platform.gpu.id,
        "fabric": one.platform.fabric,
        "storage": one.platform.storage.id,
        "storage_nodes": way.design.storage_nodes,
        "n_servers": one.n_servers,
        "gpus_used_per_server": one.gpus_used,
        "gpus_fitted_per_server": one.platform.gpus_per_server,
        "is_allowed": one.is_allowed,
        "workloads": [_run(run, before) for run, before in zip(way.runs, first.runs, strict=True)],
        "rack_units": way.rack_units,
        "power_low_w": way.power_low_w,
        "power_max_w": way.power_max_w,
        "power_is_complete": not way.has_unknown_power,
        "switches": way.n_switches,
        "ports": way.n_ports,
        "cables": way.n_cables,
        "currency": bill.currency,
        "total": None if bill.net_total.is_unknown else f"{bill.total:.2f}",
        "total_is_complete": bill.is_complete,
        "unpriced": list(bill.unpriced),
        "difference": "" if way is first else difference(Pair(first, way)),
    }


def _run(run: WayRun, before: WayRun) -> dict[str, Any]:
    answer = run.answer
    return {
        "name": answer.workload.name,
        "samples_per_s": answer.throughput.as_dict(),
        "rate_ratio": run.over(before).as_dict(),
        "scaling_efficiency": float(answer.scaling_efficiency),
        "bottleneck": answer.bottleneck,
        "time_to_train_s": None if answer.time is None else answer.time.total_s.as_dict(),
        "step": None
        if run.split is None
        else {**vars(run.split), "exchange_s": run.split.exchange_s, "step_s": run.split.step_s},
    }
