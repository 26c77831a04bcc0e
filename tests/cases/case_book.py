"""Requests as customers put them, in ``requests/``, and what an architect expects of the answers, as ranges."""

from functools import cache
from pathlib import Path

from sizer import DesignAnswer, SizingRequest
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from tests.factories.examples import catalog

FOLDER = Path(__file__).parent / "requests"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def request(name: str) -> SizingRequest:
    """Request of a case, by the name of its file."""
    return SizingRequest.from_file(FOLDER / f"{name}.toml")


@cache
def designed(name: str) -> DesignAnswer:
    """Recommended design of a case; ``make laws`` holds the whole answers against it."""
    return best_design(request(name), catalog()).design


def expect(
    name: str,
    *,
    gpus: tuple[int, int] | None = None,
    servers: tuple[int, int] | None = None,
    largest_batch: int | None = None,
    limited_by: tuple[str, ...] = (),
    not_limited_by: tuple[str, ...] = (),
    uses_stages: tuple[str, ...] = (),
    holds_bytes: float | None = None,
    reads_bytes_per_s: tuple[float, float] | None = None,
) -> DesignAnswer:
    """Design of a case after it was held against the expectation; every target is met at the confidence asked.

    Parameters
    ----------
    name : str
        Case.
    gpus, servers : (int, int), optional
        Fewest and most that an architect would accept.
    largest_batch : int, optional
        Samples per GPU that the memory holds.
    limited_by, not_limited_by : tuple of str
        Keys of the stages of which one is the bottleneck, and of those that must not be.
    uses_stages : tuple of str
        Keys of stages whose load is not negligible.
    holds_bytes : float, optional
        Least usable capacity. [B]
    reads_bytes_per_s : (float, float), optional
        Least and most that the first epoch reads from storage at the rate asked, of all workloads together. [B/s]

    Raises
    ------
    AssertionError
        Naming the case, the figure and the range.
    """
    design = designed(name)

    def within(what: str, value: float, least: float, most: float) -> None:
        assert least <= value <= most, f"{name}: {value:.4g} {what}, expected {least:.4g} to {most:.4g}"

    if gpus is not None:
        within("GPUs", design.n_gpus, *gpus)
    if servers is not None:
        within("servers", design.n_servers, *servers)
    if holds_bytes is not None:
        within("B usable", design.usable_bytes, holds_bytes, float("inf"))
    assert design.target_check is CheckResult.MET, f"{name}: {design.target_check}"
    assert design.probability is not None, f"{name}: conditional on {design.conditional_on}"
    # Confidence is compared in whole percent.
    within("probability", design.probability, request(name).confidence - 0.005, 1.0)
    read_bytes_per_s = 0.0
    for work in design.workloads:
        if largest_batch is not None:
            within("samples per GPU", work.batch_per_gpu, 1, largest_batch)
        if limited_by:
            assert work.bottleneck in limited_by, f"{name}: limited by {work.bottleneck}, expected {limited_by}"
        assert work.bottleneck not in not_limited_by, f"{name}: limited by {work.bottleneck}"
        loads = {stage.key: stage.load_fraction for stage in work.stages}
        for stage in uses_stages:
            within(f"load of {stage}", loads[stage], 0.05, 1.0 + 1e-9)
        asked = work.workload.target.samples_per_s
        if asked is not None:
            read_bytes_per_s += float(work.cold_storage_bytes_per_s.value) * asked / float(work.throughput.value)
    if reads_bytes_per_s is not None:
        within("B/s read", read_bytes_per_s, *reads_bytes_per_s)
    return design


def bought(design: DesignAnswer, category: str) -> dict[str, int]:
    """What a design adds of one category of the bill, with the number of pieces."""
    lines = (line for line in design.bill.lines if line.category == category and line.is_bought)
    return {line.item: int(line.quantity) for line in lines}


def used(design: DesignAnswer) -> dict[str, int]:
    """What a design uses of the equipment that is there."""
    assert design.existing is not None
    return {part.item: part.count for part in design.existing.used}


def budget_of(design: DesignAnswer) -> DesignCheck:
    """The check of the budget."""
    return next(check for check in design.checks if check.kind is CheckKind.BUDGET)
