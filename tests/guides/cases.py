"""Requests whose documents are read, and the one place that knows how a PDF of them is made.

Each case is sized once in a process, and the PDFs of the last case are kept: tests of one case carry its name as their
group, so that one worker runs them one after the other.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import pytest

from sizer import SizingRequest, SizingResult, size
from sizer.base.formats.json_document import json_text
from sizer.base.resources import data_dir
from sizer.export.design_json import design_document
from sizer.guide.profile import PLAIN, Edition, Form, Profile
from tests.cases import case_book
from tests.differential.drawn import request_data
from tests.factories.requests import CATALOG
from tests.guide.engine import guide_pdf
from tests.guides.laid_out import Guide, read

EXAMPLES = tuple(sorted(path.stem for path in data_dir("examples").glob("*.toml")))

RESNET = {
    "name": "ResNet-50 training",
    "dnn": "resnet50",
    "stack": "tf-cnn-benchmarks-ngc18.09",
    "batch_per_gpu": 256,
    "dataset": "imagenet-tfrecord",
    "dataset_bytes": "30 TB",
}
GOOGLENET = {
    "name": "GoogLeNet validation",
    "task": "validation-inference",
    "dnn": "googlenet",
    "stack": "dlbs-tensorrt-2018",
    "batch_per_gpu": 128,
    "dataset": "imagenet-tensors-uint8",
    "dataset_bytes": "1.5 TB",
    "cache": "none",
}
REQUESTS: dict[str, dict[str, Any]] = {
    # 153 servers and 47 to spare, in about a hundred racks.
    "two-hundred-servers": {
        "title": "A cluster of 200 servers",
        "workload": [{**RESNET, "dataset_bytes": "200 TB", "target": {"samples_per_s": "800000 images/s"}}],
        "platforms": {"servers": ["apollo-6500"], "storage": ["wekaio"], "fabrics": ["edr"]},
        "fabric": {"spare_servers": 47},
    },
    "one-server": {
        "title": "Four GPUs",
        "workload": [{**RESNET, "dataset_bytes": "100 GB", "target": {"gpus_busy": 4}}],
        "platforms": {"servers": ["c4140"]},
    },
    # No price of any DGX-2 and of few of the rest is published; the tool may choose among all.
    "unknown-prices": {
        "title": "Prices to be quoted",
        "customer": "An institute with a name that takes more than one line of the cover, department of imaging",
        "workload": [{**RESNET, "target": {"gpus_busy": 64}}],
    },
    "two-workloads": {
        "title": "Training and validation",
        "workload": [
            {**RESNET, "target": {"samples_per_s": "20000 images/s"}},
            {**GOOGLENET, "target": {"samples_per_s": "30000 images/s"}},
        ],
        "platforms": {"servers": ["apollo-6500"], "storage": ["wekaio"]},
    },
    # Kinds of job of every sort, with names of the length that is allowed.
    "team": {
        "title": "Sixteen people, five kinds of job",
        "workload": [
            {**RESNET, "epochs": 4, "target": {"samples_per_s": "4000 images/s"}},
            {**GOOGLENET, "target": {"samples_per_s": "4000 images/s"}},
        ],
        "platforms": {"servers": ["c4140"], "storage": ["isilon-f800"], "fabrics": ["edr"]},
        "team": {
            "data_scientists": 16,
            "wait_s": "30 min",
            "order": "backfill",
            "job": [
                {"name": "Training " + "x" * 111, "gpus": 4, "jobs_a_day_each": 0.2, "workload": "ResNet-50 training"},
                {"name": "Große Läufe", "gpus": 12, "jobs_a_day": 0.5, "duration_s": "9 h", "wait_s": "1 d"},
                {"name": "Notebook", "kind": "notebook", "gpus": 1, "jobs_a_day_each": 1, "duration_s": "2 h"},
                {
                    "name": "Check",
                    "kind": "validation",
                    "gpus": 2,
                    "jobs_a_day": 8,
                    "duration_s": "10 min",
                    "durations": "fixed",
                    "workload": "GoogLeNet validation",
                },
                {
                    "name": "Nightly",
                    "gpus": 4,
                    "whole_servers": True,
                    "always_running": 1,
                    "workload": "ResNet-50 training",
                },
            ],
        },
    },
    # Letter paper; names of the length and letters that are allowed.
    "letter": {
        "title": "Krankenhausverbundrechenzentrumserweiterungsvorhaben: ein Plan für Łódź, Çanakkale und Ångström",
        "customer": "Завод вычислительных машин, Groß-Gerau & Søborg; " + "x" * 70,
        "workload": [{**RESNET, "name": "W" * 120, "target": {"gpus_busy": 16}}],
        "platforms": {"servers": ["dgx-1"], "storage": ["hnas"]},
        "quote": dict.fromkeys(("number", "revision", "prepared_by"), "W" * 40),
    },
}
CASES = (*EXAMPLES, *REQUESTS)
# Whose documents state every figure between them: servers behind a fabric without a price in any line, a plan that
# grows, with prices, and one server with the time that it takes.
TOGETHER = ("apollo-weka-resnet50", "questions/images-grow-tenfold", "small-team")
PROFILES = {
    "letter": Profile(
        company="Ångström & Söhne Rechenanlagen GmbH",
        accent="#7A1F5C",
        banner="#3A2030",
        legal="Names are those of their owners. " * 12,
        confidentiality="Confidential until released in 2027",
        contact="Jörg Müller-Lüdenscheidt, joerg.mueller-luedenscheidt@systems.example.org, +49 30 1234567",
        paper="letter",
        locale="en-US",
    )
}


@dataclass(frozen=True)
class Document:
    """A guide to be made: of which case, in which form."""

    case: str
    form: Form
    is_archive: bool = False

    def __str__(self) -> str:
        return f"{self.case}-{'archive' if self.is_archive else self.form}"

    @property
    def profile(self) -> Profile:
        """How it looks."""
        return PROFILES.get(self.case, PLAIN)


# --- answers and PDFs

DRAWN = "drawn-"


@cache
def answer(case: str) -> SizingResult:
    """What the tool answers to a case."""
    return size(request(case), CATALOG)


def request(case: str) -> SizingRequest:
    """What a case asks for: one of those above, drawn by its number, of tests/cases, or an example by its path."""
    if case.startswith(DRAWN):
        return SizingRequest.from_dict(request_data("guides", int(case.removeprefix(DRAWN))))
    if case in REQUESTS:
        return SizingRequest.from_dict({"schema_version": 1, "date": "2026-11-21", **REQUESTS[case]})
    if case in case_book.NAMES:
        return case_book.request(case)
    return SizingRequest.from_file(data_dir("examples") / f"{case}.toml")


def grouped(case: str, *values: object) -> Any:
    """Parameters of a test of a case, for the worker that runs its other tests."""
    group = pytest.mark.xdist_group(TOGETHER[0] if case in TOGETHER else case)
    return pytest.param(*(values or (case,)), id=str(values[0]) if values else case, marks=group)


def _pdf(document: Document) -> bytes:
    result = answer(document.case)
    edition = Edition(document.form, document.profile, is_archive=document.is_archive)
    files = {"design.json": json_text(design_document(result)).encode(), "bill.csv": b"Line;Part\r\n"}
    return guide_pdf(result, CATALOG, edition, files)


@lru_cache(maxsize=4)  # the forms of one case
def laid_out(document: Document) -> Guide:
    """The document on its pages."""
    return read(str(document), lambda: _pdf(document))


def make_pdf(document: Document) -> bytes:
    """The PDF; where its pages are read as well, the same one."""
    return laid_out(document).pdf if document in READ else _pdf(document)


# The guide of every request, the engineer's file of some; the largest first, so that two workers end together.
ENGINEER = ("two-hundred-servers", "c4140-f800", "letter", "one-server")
READ = (
    *(Document(case, "engineer") for case in ENGINEER),
    *(Document(case, "guide") for case in CASES),
    *(Document(case, "summary") for case in CASES),
)
