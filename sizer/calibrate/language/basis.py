"""Which published runs a prediction rests on, by generation of GPU and software stack, and for one design."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.calibrate.engine import ErrorStatistics
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import LanguageCase
from sizer.calibrate.language.rows import LanguageRow, stack_named
from sizer.catalog.model import Catalog


@dataclass(frozen=True)
class RunBasis:
    """Fitted runs that share something with a design; counts."""

    model: int  # the same model, whole
    gpu_precision: int  # the same GPU and number format
    stack: int  # the same software stack
    all_three: int
    most_gpus: int  # of those that share all three, else of those that share GPU and format; 0: none


@dataclass(frozen=True)
class GroupAccuracy:
    """Fitted runs of one generation of GPUs with one stack, and their errors |ln(predicted / published)|."""

    generation: str  # id in the catalogue; empty where the GPU has none
    generation_name: str
    stack: str  # as in the fit
    stack_name: str
    runs: int
    models: int
    most_gpus: int
    median: float
    p90: float
    bias: float  # median of ln(predicted / published) of rates
    coverage: float  # share inside the 90 % interval


def is_same_model(one: LanguageCase, case: LanguageCase) -> bool:
    """Whether a run trained the model of a case, whole: some publish a few layers of a model under its name."""
    return one.row.model.lower() == case.row.model.lower() and all(
        one.shape[name] == case.shape[name] for name in ("layers", "hidden")
    )


def basis_of(case: LanguageCase, calibration: LanguageCalibration) -> RunBasis:
    """The fitted runs that a prediction for a case rests on."""
    cases, mine = calibration.cases, case.levels

    def column(values: Sequence[bool]) -> np.ndarray:
        return np.array(values, dtype=bool)

    model = column([is_same_model(one, case) for one in cases])
    machine = column([one.levels.gpu_precision == mine.gpu_precision for one in cases])
    stack = column([one.levels.stack == mine.stack for one in cases])
    every = model & machine & stack
    gpus = np.array([one.row.gpus for one in cases])
    shared = gpus[every] if every.any() else gpus[machine]
    most = int(shared.max()) if shared.size else 0
    return RunBasis(int(model.sum()), int(machine.sum()), int(stack.sum()), int(every.sum()), most)


def accuracy_by_generation(calibration: LanguageCalibration, catalog: Catalog) -> tuple[GroupAccuracy, ...]:
    """Accuracy in sample of each generation of GPUs with each stack, the newest generation first."""
    cases, (errors, log_sd) = calibration.cases, calibration.steps.errors()
    groups: dict[tuple[str, str], list[int]] = {}
    for i, case in enumerate(cases):
        groups.setdefault((catalog.gpus[case.gpu_id].generation or "", case.levels.stack), []).append(i)
    order = {name: place for place, name in enumerate(catalog.generations)}

    def group(key: tuple[str, str], members: list[int]) -> GroupAccuracy:
        one = ErrorStatistics.of(-errors[members], log_sd[members])
        return GroupAccuracy(
            generation=key[0],
            generation_name=catalog.generations[key[0]].name if key[0] else "other",
            stack=key[1],
            stack_name=_stack_name(cases[members[0]], catalog),
            runs=one.rows,
            models=len({cases[i].row.model for i in members}),
            most_gpus=int(max(cases[i].row.gpus for i in members)),
            median=one.median,
            p90=one.p90,
            bias=one.bias,
            coverage=one.coverage,
        )

    named = sorted(groups.items(), key=lambda item: (order.get(item[0][0], -1), -len(item[1])))
    return tuple(group(key, members) for key, members in named)


def _stack_name(case: LanguageCase, catalog: Catalog) -> str:
    """Name in the catalogue of the stack of a run; as its source writes it where the catalogue has none."""
    stack, gpu = case.levels.stack, case.gpu_id
    names = (
        item.name
        for item in catalog.stacks.values()
        if item.trains_language and stack_named(LanguageRow("", "", "", gpu, "", 1.0, software=item.framework)) == stack
    )
    return next(names, case.row.software)
