"""Names of accelerators and benchmarks in MLPerf rows, from the wordings that files use for them."""

import re
from functools import cache

from sizer.calibrate.modern.accelerators import sourced_accelerators

# Models of accelerators: the longest that a text has counts, so that GB200 is not B200.
_MODEL = re.compile(
    r"(?<![a-z0-9])(gb300|gb200|b300|b200|h200|h100|h800|a100|a800|a30|a40|a10g|l40s|l40|l4"
    r"|mi355x|mi350x|mi325x|mi300x|mi300a|rtx[ _-]?pro[ _-]?6000)(?![0-9])"
)
_MEMORY = re.compile(r"(?<![0-9])(\d{2,3}) ?g(?:i?b)?(?![a-z0-9])")
_BOARDS = ("pcie", "nvl", "sxm")
# Accelerators of the rows that the catalogue does not have.
_OTHERS = ("a30-pcie-24gb", "a40-pcie-48gb", "a10g-24gb", "l4-pcie-24gb", "l40-pcie-48gb")
_BENCHMARKS = {
    "resnet50": "resnet",
    "resnet50v15": "resnet",
    "imageclassification": "resnet",
    "ssdresnet34": "ssd",
    "ssdretinanet": "retinanet",
    "singlestagedetector": "retinanet",
    "maskrcnn": "maskrcnn",
    "unet3d": "unet3d",
    "3dunet": "unet3d",
    "imagesegmentation": "unet3d",
    "rnnt": "rnnt",
    "rnnspeechrecognition": "rnnt",
    "bertlarge": "bert",
    "dlrmv1": "dlrm",
    "dlrmdcnv2": "dlrm_dcnv2",
    "dlrmdcn": "dlrm_dcnv2",
    "dlrmv2": "dlrm_dcnv2",
    "gnn": "rgat",
    "stablediffusionv2": "stable_diffusion",
    "stablediffusion": "stable_diffusion",
    "sd": "stable_diffusion",
}


def accelerator_named(written: str) -> str:
    """Name of an accelerator as the fits have it; a wording that names none of them as it is."""
    text = written.strip().lower()
    if not text or text in sourced_accelerators():
        return text
    return _known(text) or written.strip()


def benchmark_named(written: str) -> str:
    """Name of a benchmark as the fits have it; one that is not among them as it is."""
    text = written.strip().lower()
    return _BENCHMARKS.get(re.sub(r"[^a-z0-9]", "", text), text)


@cache
def _known(text: str) -> str | None:
    found = _MODEL.search(text.replace("_", " "))
    if found is None:
        return None
    model = re.sub(r"[ _-]", "-", found[1])
    known = (*sourced_accelerators(), *_OTHERS)
    names = [name for name in known if name == model or name.startswith(f"{model}-")]
    if not names:
        return None
    memory = _MEMORY.search(text[found.end() :])
    board = next((kind for kind in _BOARDS if kind in text), "")

    def unlike(name: str) -> tuple[bool, float]:
        size = _MEMORY.search(name)
        gap = abs(float(size[1]) - float(memory[1])) if size and memory else 0.0
        return bool(board) and board not in name, gap

    # Of several that are alike the first one, which is the usual board.
    return min(names, key=unlike)
