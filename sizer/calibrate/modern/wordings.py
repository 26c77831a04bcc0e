"""Names of accelerators, benchmarks and links in MLPerf rows."""

import re

from sizer.calibrate.modern.accelerators import sourced_accelerators

_BOARD = re.compile(r"(?<![a-z])(?:pcie|nvl|sxm)(?!ink)")
# Links between the GPUs of a server by the form of their boards, where a row does not state them. The one row with xgmi
# ran untuned software, of which that effect tells more than of the links of OAM boards, which are as fast as NVLink.
_LINKS = {"sxm": "nvlink", "oam": "nvlink", "pcie": "pcie"}
# Benchmarks that files of results name otherwise than the fits.
_BENCHMARKS = {"flux1": "flux"}


def accelerator_named(written: str) -> str:
    """Name of an accelerator as the fits have it, also of one that is named by its id in the catalogue."""
    text, known = written.strip().lower(), sourced_accelerators()
    return text if text in known else next((name for name, item in known.items() if item.gpu == text), text)


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
