"""Answers that tests of documents and files start from: published designs, with the names and the date of a quote."""

import datetime
from functools import cache

from sizer import SizingRequest, SizingResult, size
from tests.factories.examples import ROOT, catalog


@cache
def _sized(name: str, title: str, **length: object) -> SizingResult:
    """An example under a title, each of its workloads as long as said."""
    asked = SizingRequest.from_file(ROOT / "examples" / f"{name}.toml")
    named = {"title": title, "customer": "Example Motors", "date": datetime.date(2019, 3, 1)}
    works = tuple(work.model_copy(update=length) for work in asked.workload)
    return size(asked.model_copy(update={**named, "workload": works}), catalog())


def nine_dgx1() -> SizingResult:
    """Nine DGX-1 with four F800 nodes on Ethernet, trained for 64 epochs."""
    return _sized("dgx1-f800-resnet50", "Training cluster for driver assistance", epochs=64.0)


def one_c4140() -> SizingResult:
    """One C4140 with four F800 nodes behind the gateway, and three networks on it."""
    return _sized("c4140-f800", "First training server")


def single_server() -> SizingResult:
    """One server: no cluster needed."""
    return _sized("small-team", "Defect detection on the line")


def one_apollo() -> SizingResult:
    """One Apollo 6500 with WekaIO, which only validates."""
    return _sized("apollo-googlenet-inference", "Shared platform for validation")


ALL = {"nine_dgx1": nine_dgx1, "one_c4140": one_c4140, "single_server": single_server, "one_apollo": one_apollo}
