"""What a network is made of runs on CUDA alone until somebody shows otherwise: unknown never makes a GPU win."""

from types import SimpleNamespace
from typing import Any

import pytest

from sizer.catalog.loader import shipped_catalog
from sizer.sizing.stages.own_networks import operators_are_unknown


def work(kind: str | None, *measured_on: str) -> Any:
    rates = tuple(SimpleNamespace(gpu=gpu) for gpu in measured_on)
    return SimpleNamespace(own_kind=kind, request=SimpleNamespace(measured=rates))


@pytest.mark.parametrize(
    ("kind", "measured_on", "gpu", "unknown"),
    [
        ("point-cloud", (), "mi300x-192gb", True),
        ("point-cloud", ("a100-sxm-80gb",), "mi300x-192gb", True),
        ("point-cloud", ("mi325x-256gb",), "mi300x-192gb", False),
        ("point-cloud", (), "h100-sxm-80gb", False),
        ("transformer", (), "mi300x-192gb", False),
        (None, (), "mi300x-192gb", False),
    ],
)
def test_sparse_convolutions_are_shown_on_cuda(
    kind: str | None, measured_on: tuple[str, ...], gpu: str, unknown: bool
) -> None:
    catalog = shipped_catalog()
    assert operators_are_unknown(work(kind, *measured_on), catalog.gpus[gpu], catalog) is unknown
