"""Which published runs a prediction rests on."""

import numpy as np
import pytest

from sizer.calibrate.language.basis import accuracy_by_generation, basis_of
from sizer.calibrate.language.calibration import language_calibration
from tests.factories import examples


def test_runs_that_share_model_machine_and_software_are_counted():
    calibration = language_calibration()
    cases = calibration.cases
    case = next(one for one in cases if one.row.model == "Llama3-70B" and one.levels.gpu_precision.endswith("/bf16"))
    mine = [
        one
        for one in cases
        if (one.row.model, one.levels.gpu_precision, one.levels.stack)
        == (case.row.model, case.levels.gpu_precision, case.levels.stack)
    ]
    basis = basis_of(case, calibration)
    assert basis.all_three == len(mine) >= 1
    assert basis.most_gpus == max(one.row.gpus for one in mine)
    assert basis.all_three <= min(basis.model, basis.gpu_precision, basis.stack)


def test_runs_of_some_layers_of_a_model_are_no_runs_of_it():
    calibration = language_calibration()
    named = [one for one in calibration.cases if one.row.model == "Llama3.1-405B"]
    whole = [one for one in named if one.row.layers in (None, 126)]  # Llama 3.1 405B: arXiv:2407.21783, table 3
    assert len(whole) < len(named)
    basis = basis_of(next(one for one in whole if one.levels.gpu_precision.startswith("h100")), calibration)
    assert basis.model == len(whole)


def test_every_fitted_run_is_in_one_group():
    calibration, catalog = language_calibration(), examples.catalog()
    groups = accuracy_by_generation(calibration, catalog)
    assert sum(one.runs for one in groups) == len(calibration.cases)
    assert len({(one.generation, one.stack) for one in groups}) == len(groups)
    nemo = next(one for one in groups if (one.generation, one.stack) == ("blackwell", "nemo"))
    errors = [
        abs(error)
        for case, error in zip(calibration.cases, calibration.steps.errors()[0], strict=True)
        if catalog.gpus[case.gpu_id].generation == "blackwell" and case.levels.stack == "nemo"
    ]
    assert nemo.median == pytest.approx(float(np.median(errors)))
    assert nemo.runs == len(errors)
