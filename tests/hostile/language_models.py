"""Language models in requests and links: values, models and precisions that do not exist or do not go together."""

from tests.hostile.harness import Entry, asked, command
from tests.hostile.links import link, packed

_MODEL = {"dnn": "llama-3-70b", "tokens": 1e12, "target": {"time_to_train_s": "30 d"}}


def _only(name: str, work: dict[str, object], *says: str, status: int = 2) -> Entry:
    return asked(name, {"workload": [work]}, *says, status=status)


def _sized(name: str, changes: dict[str, object], *says: str, status: int = 2) -> Entry:
    return _only(name, {**_MODEL, **changes}, *says, status=status)


ENTRIES = (
    *(
        _sized(f"{key} = {value!r}", {key: value}, key)
        for key, values in {
            "tokens": (0, -1, 1e40, "NaN", "many", "1e12 images", [], True),
            "sequence_tokens": (0, 127, 10**9, 4096.5, "long", "4k "),
            "batch_sequences": (0, -8, 10**12, 1.5, "all"),
            "method": ("full-time", "", 1, "lora\u0007"),
            "precision": ("fp2", "FP8 ", 8, "int4"),
        }.items()
        for value in values
    ),
    _sized("a model nobody knows", {"dnn": "llama-33-70b"}, "dnn", "llama-3-70b"),
    _sized("a model with a path", {"dnn": "../llama-3-70b"}, "dnn"),
    _sized("a model with an escape", {"dnn": "llama\u001b[2J"}, "dnn"),
    _sized("tokens a second of 1e30", {"target": {"tokens_per_s": 1e30}, "tokens": None}, "tokens_per_s"),
    _sized("a negative rate of tokens", {"target": {"tokens_per_s": -5}, "tokens": None}, "tokens_per_s"),
    _sized("more tokens than any cluster trains", {"tokens": 9e14}, "GPUs", status=4),
    _sized("a second for all tokens", {"target": {"time_to_train_s": "1 s"}}, "starting a run", status=4),
    _only("tokens of an image network", {"dnn": "resnet50", "tokens": 1e9, "target": {"gpus_busy": 8}}, "tokens"),
    _only("adapters of an image network", {"dnn": "resnet50", "method": "lora", "target": {"gpus_busy": 8}}, "method"),
    _only("FP8 of an image network", {"dnn": "resnet50", "precision": "fp8", "target": {"gpus_busy": 8}}, "precision"),
    link("a language model with a bell", packed({"workload": [{**_MODEL, "name": "a\u0007"}]}), "name", "U+0007"),
    link("a language model with endless tokens", packed({"workload": [{**_MODEL, "tokens": 1e300}]}), "tokens"),
    Entry("a layout on no GPU", command, ("layout", "llama-3-70b", "0"), {}, 2, ("gpus",)),
    Entry("a layout on a trillion GPUs", command, ("layout", "llama-3-70b", str(10**12)), {}, 2, ("gpus",)),
    Entry("a layout of nothing known", command, ("layout", "x" * 5_000, "8"), {}, 2, ("is not known",)),
    Entry("a layout of an escape", command, ("layout", "a\x1b[2J", "8"), {}, 2, ("is not known",)),
)
