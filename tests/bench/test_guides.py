"""Speed and memory of the guide. Run apart (`make bench`): a time is no test."""

import subprocess
import sys
from typing import Any

import pytest

from sizer.guide.pdf import render
from sizer.guide.profile import Edition, Form
from tests.factories.examples import catalog, sized
from tests.guide.engine import guide_pdf

EXAMPLE = "dgx1-f800-resnet50"
# The aims: short under 3 s and 250 MB with everything loaded, 40 pages of the full one under 6 s.
MEMORY = """
from sizer.guide.pdf import render
from sizer.guide.profile import Edition
from tests.factories.examples import catalog, sized
from tests.bench.memory import peak_megabytes
from tests.guide.engine import guide_pdf
for _ in range(2):
    render._last = None
    guide_pdf(sized({example!r}), catalog(), Edition({form!r}))
print(peak_megabytes())
"""


@pytest.mark.parametrize("form", ["guide", "engineer", "summary"])
def test_guide_warm(benchmark: Any, form: Form) -> None:
    """A guide with answer, catalogue, templates and PDF engine in memory; pages are told beside the time."""
    import pypdfium2

    def make() -> bytes:
        render._last = None  # the page is made anew
        return guide_pdf(sized(EXAMPLE), catalog(), Edition(form))

    document = pypdfium2.PdfDocument(make())
    benchmark.extra_info["pages"] = len(document)
    document.close()
    benchmark.pedantic(make, rounds=3)


@pytest.mark.parametrize("form", ["guide", "engineer"])
def test_memory_of_a_process_that_makes_guides(benchmark: Any, form: Form) -> None:
    """Largest memory of a fresh process that makes the same guide twice, in ``extra_info``. [MB]"""
    code = MEMORY.format(example=EXAMPLE, form=form)
    command = [sys.executable, "-c", code]

    def run() -> float:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(done.stdout)

    benchmark.extra_info["peak_megabytes"] = round(benchmark.pedantic(run, rounds=1))
