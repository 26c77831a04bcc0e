"""Requests, links, overlays and options that are larger than anything a person writes."""

import json
import zlib
from base64 import urlsafe_b64encode

from tests.hostile.harness import Entry, asked, command, fact, overlaid
from tests.hostile.links import link, packed
from tests.hostile.requests import PLAIN, sized

_WORKLOAD = {"dnn": "resnet50", "target": {"gpus_busy": 8}}


def _with(**more: object) -> dict[str, object]:
    return {"workload": [_WORKLOAD], **more}


def _nested(depth: int) -> object:
    data: object = 1
    for _ in range(depth):
        data = [data]
    return data


REQUESTS = (
    asked(
        "60,000 unknown keys", dict.fromkeys((f"key{number}" for number in range(60_000)), 1), "60000 entries", "most"
    ),
    asked("1,900 unknown keys", dict.fromkeys((f"key{number}" for number in range(1_900)), 1), "more errors"),
    asked("21 unknown keys", dict.fromkeys((f"key{number}" for number in range(21)), 1), "and 2 more errors"),
    asked("300,000 workloads", {"workload": [0] * 300_000}, "300000 entries", "at most"),
    asked("1,500 wrong workloads", {"workload": [0] * 1_500}, "workload"),
    asked("21 workloads", {"workload": [_WORKLOAD] * 21}, "workload has 21 entries", "at most 20"),
    asked(
        "30,000 values", _with(platforms={key: ["x"] * 1_900 for key in map(str, range(16))}), "more than 20000 values"
    ),
    asked("nested 500 deep", _with(title=_nested(500)), "nested", "deep"),
    asked("201 servers", _with(platforms={"servers": ["dgx-1"] * 201}), "platforms.servers", "at most 200"),
    asked("201 existing servers", _with(existing={"servers": {f"a{n}": 1 for n in range(201)}}), "at most 200"),
    asked("101 racks", _with(existing={"racks": [{"name": "a", "free_u": 1, "power_w": 1}] * 101}), "at most 100"),
    asked("501 lines", _with(quote={"line": [{}] * 501}), "quote.line"),
    asked("21 jobs", _with(team={"wait_s": 60, "job": [{}] * 21}), "team.job"),
    asked("11 preferred vendors", _with(platforms={"prefer_vendors": ["a"] * 11}), "at most 10"),
    asked("a sample above the catalogue's", _with(workload=[{**_WORKLOAD, "sample_bytes": "5 TB"}]), "at most 1e12"),
    asked("memory below the catalogue's", _with(platforms={"host_memory_bytes": "16 B"}), "at least 1e9"),
    asked(
        "a storage node above the catalogue's",
        _with(stated_storage=[{"storage": "isilon-f800", "node_read_bytes_per_s": "900 TB/s"}]),
        "at most 1e14",
    ),
    asked(
        "a storage node below the catalogue's",
        _with(stated_storage=[{"storage": "isilon-f800", "node_read_bytes_per_s": "5 B/s"}]),
        "at least 1000000",
    ),
    asked("an integer of 400 digits", _with(confidence=10**400), "confidence"),
    sized("keys of 20,000 parts", "a." * 20_000 + "a = 1", "too many dots", "line 1"),
    sized("a header of 100,000 parts", f"[{'a.' * 100_000}a]", "too many dots", "line 1"),
    sized("inline keys of 50,000 parts", f"x = {{ {'a.' * 50_000}b = 1 }}", "too many dots", "line 1"),
    sized("10,000 headers", "".join(f"[t{number}]\n" for number in range(10_000)), "10000 entries"),
    sized("10,000 tables of workloads", "[[workload]]\n" * 10_000, "10000 entries"),
    sized("100 keys of 300 parts", "".join(f"k{n}.{'a.' * 300}b = 1\n" for n in range(100)), "line"),
)


def _bomb(content: bytes) -> str:
    return urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")


LINKS = (
    link("a megabyte of zeros", _bomb(b"[" + b"0," * 480_000 + b"0]"), "unpacks to more than", "as a file"),
    link("490,000 workloads", _bomb(json.dumps({"workload": [0] * 490_000}).encode()), "unpacks to more than"),
    link("4 megabytes of spaces", _bomb(b" " * 4_000_000), "unpacks to more than"),
    link("30,000 workloads", packed({"workload": [0] * 30_000}), "30000 entries"),
    link("5,000 unknown keys", packed({f"k{number}": 1 for number in range(1_000)}), "more errors"),
    link("nested 900 deep", packed({"title": _nested(900)}), "nested"),
    link("bell in the title", packed({"workload": [_WORKLOAD], "title": "a\x07"}), "title", "U+0007"),
    link("reversal in the customer", packed({"workload": [_WORKLOAD], "customer": "a\u202e"}), "customer", "U+202E"),
    link("half a character", packed({"workload": [_WORKLOAD], "title": "\ud800"}), "title"),
    link("two packed texts", packed({})[:-1] + packed({}), "is empty"),
    link("NaN", packed({"workload": [_WORKLOAD], "confidence": float("nan")}), "confidence"),
    link("a number", packed(17), "contains no request"),
    link("null", packed(None), "contains no request"),
)

SERVER = "servers/dgx-1.toml"
OVERLAYS = (
    *(
        overlaid(f"{key} = {value}", SERVER, fact("dgx-1", key, value), f"{key}.value = ")
        for key, values in {
            "n_gpus": (0, -1, 1_001, 1.5, "nan"),
            "n_cpus": (0, -2, 1_001),
            "height_u": (-1, 61, "inf", "nan"),
            "memory_bytes": (0, 16, 1e15, "nan"),
            "power_max_w": (-1, 1e9, "inf"),
            "weight_kg": (0, -1, 1e6),
            "depth_m": (0, 889_000),
        }.items()
        for value in values
    ),
    overlaid("no GPUs among the choices", SERVER, 'id = "dgx-1"\nn_gpus_choices = [0]\n', "n_gpus_choices[0]"),
    overlaid(
        "3,000 unknown keys", SERVER, 'id = "dgx-1"\n' + "".join(f"k{n} = 1\n" for n in range(3_000)), "at most 2000"
    ),
    overlaid(
        "1,000 unknown keys",
        SERVER,
        'id = "dgx-1"\n' + "".join(f"k{n} = 1\n" for n in range(1_000)),
        "and 980 more errors",
    ),
    overlaid("keys of 20,000 parts", SERVER, "a." * 20_000 + "a = 1", "too many dots"),
)

_FILES: dict[str, str | bytes] = {"request.toml": PLAIN}


def _option(name: str, arguments: tuple[str, ...], *says: str, status: int = 2) -> Entry:
    return Entry(name, command, arguments, _FILES, status, says)


OPTIONS = (
    _option("3,000 numbers of GPUs", ("scale", "request.toml", "--gpus", "8," * 2_999 + "8"), "--gpus", "at most 50"),
    _option("GPUs of 5,000 digits", ("scale", "request.toml", "--gpus", "9" * 5_000), "--gpus", "8,16,32"),
    _option("GPUs in another script", ("scale", "request.toml", "--gpus", "٨"), "--gpus", "8,16,32"),
    _option("no number of GPUs", ("scale", "request.toml", "--gpus", ""), "--gpus", "8,16,32"),
    _option("escape in GPUs", ("scale", "request.toml", "--gpus", "\x1b[2J"), "--gpus", "8,16,32"),
    _option("escape in a file name", ("size", "a\x1b[2Jb.toml"), "cannot be read"),
    _option("escape in the overlay", ("size", "request.toml", "--catalog", "a\x1b[2Jb"), "not a folder", status=3),
    _option("a host with a path", ("app", "--hosts", "a/b"), "--hosts", "sizer.example.com"),
    _option("any host", ("app", "--hosts", "*"), "--hosts", "sizer.example.com"),
    _option("a host of 5,000 letters", ("app", "--hosts", "x" * 5_000), "--hosts", "sizer.example.com"),
    _option("5,000 hosts", ("app", "--hosts", "a.test," * 5_000), "--hosts", "at most 50"),
    _option("a port beyond all", ("app", "--port", "70000"), "--port", "65535"),
    _option("a base path upwards", ("app", "--base-path", "/../x"), "--base-path", "/sizer"),
)
