"""Names of accelerators and benchmarks in MLPerf rows, from the wordings that files use for them."""

import re
from functools import cache
from itertools import accumulate

from sizer.calibrate.modern.accelerators import sourced_accelerators

# Models of accelerators: the longest that a text has counts, so that GB200 is not B200.
_MODEL = re.compile(
    r"(?<![a-z0-9])(gb300|gb200|b300|b200|h200|h100|h800|a100|a800|a30|a40|a10g|l40s|l40|l4"
    r"|mi355x|mi350x|mi325x|mi300x|mi300a|rtx ?pro ?6000|rtx ?4090|rtx ?a5000|rx ?7900 ?xtx"
    r"|gaudi ?2|gaudi(?! ?[0-9](?![0-9]))|tpu ?v4|tpu ?v5p|tpu ?v6e|tpu ?trillium"
    r"|ascend ?910|graphcore ?bow|graphcore ?gc200)(?![0-9])"
)
_OTHER_NAMES = {"tpuv6e": "tputrillium"}
_MEMORY = re.compile(r"(?<![0-9])(\d{2,3}) ?g(?:i?b)?(?![a-z0-9])")
_BOARD = re.compile(r"(?<![a-z])(?:pcie|nvl|sxm)(?!ink)")
# Accelerators of the rows that the catalogue does not have.
_OTHERS = (
    "a30-pcie-24gb", "a40-pcie-48gb", "a10g-24gb", "l4-pcie-24gb", "l40-pcie-48gb", "rtx-4090-24gb", "rtx-a5000-24gb",
    "rx-7900xtx-24gb", "gaudi-32gb", "gaudi2-96gb", "tpu-v4", "tpu-v5p", "tpu-trillium", "ascend-910",
    "graphcore-bow", "graphcore-gc200",
)  # fmt: skip
# Links between the GPUs of a server by the form of their boards, where a row does not state them. The one row with xgmi
# ran untuned software, of which that effect tells more than of the links of OAM boards, which are as fast as NVLink.
_LINKS = {"sxm": "nvlink", "oam": "nvlink", "pcie": "pcie"}
# Benchmarks that files of results name otherwise than the fits.
_BENCHMARKS = {"flux1": "flux"}


def accelerator_named(written: str) -> str:
    """Name of an accelerator as the fits have it; a wording that names none of them as it is."""
    text = written.strip().lower()
    if not text or text in sourced_accelerators():
        return text
    return next(iter(_meant(text)), "") or written.strip()


def benchmark_named(written: str) -> str:
    """Name of a benchmark as the fits have it; one that is not among them as it is."""
    text = written.strip().lower()
    return _BENCHMARKS.get(text, text)


def link_named(written: str, accelerator: str) -> str:
    """Link between the GPUs of a server as the fits have it; where no wording tells it, that of their board."""
    text, form = written.strip().lower(), _form_of(accelerator)
    if "xgmi" in text or "infinity" in text:
        return "xgmi"
    if "bridge" in text or ("nvlink" in text and form == "pcie"):
        return "bridge"
    if "nvlink" in text or "nvswitch" in text:
        generation = re.search(r"nvlink\D{0,5}([1-9])(?!\d)", text)
        return f"nvlink{generation[1]}" if generation else "nvlink"
    return "pcie" if "pci" in text else _LINKS.get(form, "")


def _form_of(accelerator: str) -> str:
    """Form of an accelerator's board as the catalogue has it, without its generation, or as its name says it."""
    known = sourced_accelerators().get(accelerator)
    found = _BOARD.search(accelerator)
    return known.form_factor.rstrip("0123456789") if known else found[0] if found else ""


@cache
def _meant(text: str) -> tuple[str, ...]:
    """Names of the accelerators that a text can mean, the most usual one first."""
    text = re.sub(r"[ _-]+", " ", text)
    found = _MODEL.search(text)
    if found is None:
        return ()
    model = found[1].replace(" ", "")
    model = _OTHER_NAMES.get(model, model)
    names = [name for name in (*sourced_accelerators(), *_OTHERS) if model in accumulate(name.split("-"))]
    memory, board = _MEMORY.search(text[found.end() :]), _BOARD.search(text)

    def unlike(name: str) -> tuple[bool, float]:
        size = _MEMORY.search(name)
        gap = abs(float(size[1]) - float(memory[1])) if size and memory else 0.0
        return board is not None and board[0] not in name, gap

    # The first of those that are alike is the usual board.
    least = min(map(unlike, names), default=None)
    return tuple(name for name in names if unlike(name) == least)
