"""Random requests of every kind that the configurator sizes, each named by a number."""

import random
from collections.abc import Callable
from typing import Any

V100_SERVERS = ("dgx-1", "dgx-2", "dgx-2h", "c4140", "c4140-pcie", "apollo-6500", "dss-8440", "v225g")
V100_STORAGE = ("isilon-f800", "isilon-f810", "isilon-h600", "wekaio", "hnas", "netapp-a800", "head-node-nfs")
TODAYS_SERVERS = ("dgx-a100", "dgx-h100", "dgx-b200", "xe9680", "sys-821ge-tnhr", "xe7745", "xe9680-mi300x", "r760xa")
TODAYS_STORAGE = ("ai400x2", "powerscale-f710", "netapp-a900", "wekapod-prime", "ibm-sss6000", "ai400x2-turbo")
IMAGES = ("resnet50", "inception-v4", "vgg16", "alexnet", "googlenet", "resnet152", "inception-v3")
MLPERF = ("bert-large", "unet3d", "retinanet", "mask-rcnn", "dlrm-dcnv2", "stable-diffusion-v2", "rnn-t", "resnet50")
SERVING_SERVERS = (*TODAYS_SERVERS, "gb200-nvl72", "dgx-h200", "dell-xe7740", "as-8125gs-tnmr2", "thinkstation-p8")
SERVED = ("llama-3-8b", "llama-3-70b", "qwen3-32b", "gpt-oss-120b", "qwen3-235b-a22b", "deepseek-v3", "mistral-7b")
LANGUAGE = ("llama-3-8b", "llama-3-70b", "llama-2-7b", "mixtral-8x7b", "qwen3-32b", "gpt-3-175b", "llama-3.1-405b")


def request_data(seed: str, number: int) -> dict[str, Any]:
    """One request as a table: the same for the same seed and number."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choice(_KINDS)
    data: dict[str, Any] = {
        "title": f"{kind} {number}",
        "date": "2026-11-28",
        "confidence": rng.choice((0.5, 0.8, 0.9, 0.95)),
        "workload": _of_kind[kind](rng) if kind in _of_kind else _networks(rng, kind),
    }
    is_today = kind == "MLPerf network" or kind in _of_kind or (kind == "own network" and rng.random() < 0.5)
    servers, storage = (TODAYS_SERVERS, TODAYS_STORAGE) if is_today else (V100_SERVERS, V100_STORAGE)
    data["platforms"] = {
        "servers": rng.sample(SERVING_SERVERS if kind == "service" else servers, rng.choice((1, 2, 3)))
    }
    if rng.random() < 0.6:
        data["platforms"]["storage"] = rng.sample(storage, rng.choice((1, 2)))
    limits = _limits(rng)
    if limits:
        data["limits"] = limits
    if rng.random() < 0.4:
        keys = ["cost", "gpus", "rack-units", "watts", *(["time"] if {*limits} - {"rack_power_w"} else [])]
        data["rank_by"] = rng.choice(keys)
    if rng.random() < 0.15:
        data["resilience"] = {"keeps_targets_without": rng.sample(("server", "storage-node", "switch"), 1)}
    if rng.random() < 0.1:
        data["fabric"] = {"oversubscription": rng.choice((2.0, 3.0))}
    if rng.random() < 0.12 and kind not in _of_kind:
        data["growth"] = {"years": rng.choice((2, 3)), "data": rng.choice((1.0, 1.5, 2.0)), "target": 1.3}
    if rng.random() < 0.1 and kind in ("V100 network", "own network"):
        data["platforms"].pop("storage", None)
        data["data"] = {"working_set_bytes": f"{rng.randint(5, 200)} TB", "capacity_tier": "isilon-h5600"}
    return data


def _scale(rng: random.Random, low: float, high: float) -> float:
    """A number of three digits on a scale of powers."""
    return float(f"{low * (high / low) ** rng.random():.3g}")


def _networks(rng: random.Random, kind: str) -> list[dict[str, Any]]:
    return [_network(rng, kind, number) for number in range(rng.choice((1, 1, 1, 2)))]


def _network(rng: random.Random, kind: str, number: int) -> dict[str, Any]:
    work: dict[str, Any] = {"name": f"work {number}"}
    if kind == "own network":
        work["dnn"] = {
            "name": "own",
            "forward_flop": _scale(rng, 1e9, 1e12),
            "parameters": _scale(rng, 1e6, 1e9),
            "input_bytes": _scale(rng, 1e5, 1e7),
            "like": rng.choice(("resnet50", "ssd-resnet34", "vgg16")),
        }
        work["batch_per_gpu"] = rng.choice((2, 8, 32))
    else:
        work["dnn"] = rng.choice(MLPERF if kind == "MLPerf network" else IMAGES)
    if kind != "MLPerf network" or rng.random() < 0.5:
        work["dataset_bytes"] = _scale(rng, 1e11, 3e14)
        work["sample_bytes"] = _scale(rng, 2e4, 4e6)
    if kind == "V100 network" and rng.random() < 0.2:
        work["task"] = "validation-inference"
    if rng.random() < 0.3:
        work["access"] = rng.choice(("random", "sharded"))
    kinds = ["rate", "rate", "gpus"] if "task" in work else ["rate", "rate", "gpus", "time"]
    target = rng.choice(kinds)
    if target == "rate":
        work["target"] = {"samples_per_s": _scale(rng, 20, 6e4)}
        if rng.random() < 0.4 and "task" not in work:
            work["epochs"] = rng.choice((0.7, 1.5, 2.0, 5.0, 90.0))
    elif target == "gpus":
        work["target"] = {"gpus_busy": rng.choice((1, 4, 8, 24, 64))}
    else:
        work["target"] = {"time_to_train_s": _scale(rng, 7e3, 2e6)}
        work["epochs"] = rng.choice((0.7, 1.5, 2.0, 5.0, 90.0))
    return work


def _trained(rng: random.Random) -> list[dict[str, Any]]:
    target = rng.choice(({"time_to_train_s": f"{rng.randint(3, 90)} d"}, {"gpus_busy": rng.choice((8, 32, 128))}))
    work = {"name": "model", "dnn": rng.choice(LANGUAGE), "tokens": _scale(rng, 1e9, 1e12), "target": target}
    return [work | ({"method": rng.choice(("lora", "fine-tuning", "continued"))} if rng.random() < 0.3 else {})]


def _served(rng: random.Random) -> list[dict[str, Any]]:
    return [_service(rng, number) for number in range(rng.choice((1, 1, 1, 2)))]


def _service(rng: random.Random, number: int) -> dict[str, Any]:
    work: dict[str, Any] = {"name": f"service {number}", "dnn": rng.choice(SERVED), "task": "serving"}
    if rng.random() < 0.25:
        return work | {
            "task": "generation",
            "input_tokens": rng.choice((500, 2000, 8000)),
            "output_tokens": rng.choice((100, 500)),
            "target": {"requests_per_s": _scale(rng, 0.1, 200)},
        }
    if rng.random() < 0.5:
        work["use"] = rng.choice(("chat", "rag", "code", "summary", "reasoning"))
    else:
        work |= {"input_tokens": rng.choice((300, 2000, 8000)), "output_tokens": rng.choice((50, 400, 2000))}
    chosen = {
        "precision": rng.choice(("bf16", "fp8", "int4")),
        "first_token_s": rng.choice(("500 ms", "2 s", "6 s")),
        "token_s": rng.choice(("20 ms", "50 ms", "100 ms")),
        "prefix_cached": rng.choice((0.3, 0.8)),
        "engine": rng.choice(("vllm", "sglang")),
        "adapters": rng.choice((2, 20)),
        "daily_profile": rng.choice(("office", "consumer", "flat")),
        "input_tokens_p95": 9_000,
    }
    work |= {key: chosen[key] for key in rng.sample(sorted(chosen), rng.choice((0, 1, 2)))}
    loads = {
        "requests_per_s": _scale(rng, 0.1, 100),
        "concurrent_requests": rng.choice((1, 20, 300, 5000)),
        "active_users": rng.choice((10, 300, 10_000)),
        "users": rng.choice((50, 2000, 100_000)),
    }
    key = rng.choice(sorted(loads))
    return work | {"target": {key: loads[key]}}


def _limits(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.5:
        return {}
    kinds = {
        "servers": rng.choice((1, 4, 16, 64)),
        "power_w": _scale(rng, 1e4, 1e6),
        "racks": rng.choice((1, 4, 12)),
        "budget": _scale(rng, 2e5, 2e7),
        "rack_power_w": rng.choice((2e4, 4e4)),
    }
    return {key: kinds[key] for key in rng.sample(sorted(kinds), rng.choice((1, 1, 2)))}


_of_kind: dict[str, Callable[[random.Random], list[dict[str, Any]]]] = {"language model": _trained, "service": _served}
_KINDS = ("V100 network", "V100 network", "MLPerf network", "own network", "language model", "service", "service")
