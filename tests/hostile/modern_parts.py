"""Today's parts in requests and overlays: links between GPUs, generations, modules, and values outside their bounds."""

from tests.hostile.harness import Entry, asked, fact, overlaid


def _overlay(file: str, text: str, *says: str) -> Entry:
    return overlaid(f"{file}: {text[:60]!r}", file, text, *says)


def _sized(name: str, platforms: dict[str, object], *says: str, status: int = 2) -> Entry:
    works = [{"dnn": "resnet50", "target": {"gpus_busy": 8}}]
    return asked(name, {"workload": works, "platforms": platforms}, *says, status=status)


OVERLAYS = (
    *(
        _overlay(f"servers/{server}.toml", fact(server, key, value), key)
        for server in ("dgx-h100", "dgx-b300")
        for key, value in (("n_gpus", 0), ("n_gpus", 10**6), ("height_u", "nan"), ("power_max_w", -1))
    ),
    *(
        _overlay(f"gpus/{gpu}.toml", fact(gpu, key, value), key)
        for gpu in ("h100-sxm5-80gb", "b200")
        for key, value in (("memory_bytes", 80), ("memory_bytes", "nan"), ("tdp_w", -700))
    ),
    _overlay("generations/hopper.toml", 'id = "hopper"\nname = "a\\u0007b"\n', "name", "U+0007"),
    _overlay("generations/mine.toml", 'id = "mine"\n', "name"),
    _overlay("gpu_links/mine.toml", 'id = "mine"\nname = "\\u202eknil"\n', "name", "U+202E"),
    _overlay("links/mine.toml", 'id = "mine"\nname = "x"\nflavour = 1\n', "flavour"),
    _overlay("switches/qm9700.toml", "id = 1\n", "id"),
)
REQUESTS = (
    _sized("a generation nobody knows", {"generations": ["hooper"]}, "generations", "hopper"),
    _sized("a generation with an escape", {"generations": ["hop\u001bper"]}, "generations"),
    _sized("a thousand generations", {"generations": ["hopper"] * 1_000}, "generations", "at most"),
    _sized("a fabric nobody knows", {"fabrics": ["800gbee"]}, "fabrics", "800gbe"),
    _sized("a server of today that is misspelt", {"servers": ["dgx-h10"]}, "servers", "dgx-h100"),
    _sized("a GPU that no allowed server takes", {"servers": ["dgx-h100"], "gpus": ["b200"]}, "gpus"),
    _sized(
        "a fabric that no allowed server takes", {"servers": ["dgx-1"], "fabrics": ["xdr"]}, "do not join", status=4
    ),
)
