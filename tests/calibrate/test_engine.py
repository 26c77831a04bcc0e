"""The calibration engine: laws, designs, fits that are stored, and what no row shows."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import (
    ErrorStatistics,
    Fit,
    Prior,
    RateModel,
    StoredFits,
    by_differences,
    load_fits,
    save_fits,
    sum_of_parts,
)


def prior_of(name: str) -> Prior:
    return {"level": Prior(0.5, 2.0), "lab": Prior(0.0, 0.3)}[name.split(":")[0]]


def line(sigma: float = 0.1) -> RateModel[str]:
    """Logarithms that are a level and what a laboratory adds."""
    return RateModel(
        n_terms=2,
        effects=lambda lab: [(0, "level:all", 1.0), (1, f"lab:{lab}", 1.0)],
        prior_of=prior_of,
        law=lambda cases: by_differences(lambda factors: np.broadcast_to(factors[..., 0], (2, len(cases)))),
        sigma=sigma,
        row_sd=0.05,
        scatter=lambda cases: np.zeros(len(cases)),
    )


def test_a_fit_is_that_of_normal_theory():
    """Two laboratories with two rows each, near enough that the loss is quadratic: the linear model with priors."""
    labs, y = ["a", "a", "b", "b"], np.array([1.00, 1.02, 1.10, 1.12])
    found = line(sigma=10.0).fitted(labs, y).fit
    matrix = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1.0]])  # lab:a, lab:b, level:all
    precision = matrix.T @ matrix / 100 + np.diag([0.3**-2, 0.3**-2, 2.0**-2])
    expected = np.linalg.solve(precision, matrix.T @ y / 100 + np.array([0, 0, 0.5 / 4]))
    assert found.names == ("lab:a", "lab:b", "level:all")
    assert_allclose(found.values, expected, atol=1e-4)
    # The loss takes 1 / (1 + 0.05**2 / 6) of the weight of a row that lies 0.5 off: four parts in ten thousand.
    assert_allclose(found.covariance(found.names), np.linalg.inv(precision), rtol=2e-3)


def test_what_no_row_has_counts_with_its_prior():
    """A third laboratory: as the level, and wider by what separates laboratories."""
    fitted = line().fitted(["a", "a", "b", "b"], np.array([1.0, 1.02, 1.1, 1.12]))
    log, log_sd = fitted.predict(["c"])
    level, variance = fitted.fit.value("level:all"), fitted.fit.covariance(["level:all"])[0, 0]
    assert log[0] == pytest.approx(level)
    assert log_sd[0] == pytest.approx(np.sqrt(variance + 0.3**2 + 0.05**2))
    # The terms of one combination say the same as the design of many.
    terms, covariance = fitted.fit.terms(fitted.model.effects("c"), 2)
    assert terms.sum() == pytest.approx(log[0])
    assert covariance.sum() + 0.05**2 == pytest.approx(log_sd[0] ** 2)


def test_rows_left_out_are_predicted_as_by_a_fit_to_the_others():
    labs, y = ["a", "a", "b", "b", "c"], np.array([1.0, 1.02, 1.1, 1.12, 0.9])
    fitted, others = line().fitted(labs, y), line().fitted(labs[:4], y[:4])
    errors, log_sd = fitted.left_out(labs)
    log, other_sd = others.predict(["c"])
    assert errors[4] == pytest.approx(log[0] - 0.9, abs=1e-4)
    assert log_sd[4] == pytest.approx(other_sd[0], rel=1e-3)


def test_slopes_of_a_sum_of_parts_are_its_differences():
    constants = np.array([[0.0, 1.0, -np.inf], [2.0, -1.0, 0.5]])
    law, terms = sum_of_parts(constants), np.array([[0.1, 0.2, 0.0, 0.3], [0.0, 0.4, -0.2, 0.1]])
    logs, slopes = law(terms)
    assert logs[0] == pytest.approx(np.log(np.exp(0.1) + np.exp(1.2)) + 0.3)
    for term in range(4):
        moved = law(terms + 1e-6 * np.eye(4)[term])[0]
        assert_allclose((moved - logs) / 1e-6, slopes[:, term], atol=1e-5)


def test_what_is_stored_is_read_to_the_last_bit(tmp_path):
    fit = line().fitted(["a", "a", "b"], np.array([1.0, 1.02, 1.1])).fit
    path = save_fits(StoredFits("digest", {"line": fit}), tmp_path / "line.json")
    again = load_fits(path, {"line": prior_of}, "digest").fits["line"]
    assert again.names == fit.names
    assert np.array_equal(again.values, fit.values)
    assert np.array_equal(again.hessian.toarray(), fit.hessian.toarray())
    with pytest.raises(CalibrationError, match="run 'sizer calibrate'"):
        load_fits(path, {"line": prior_of}, "another digest")


@pytest.mark.parametrize(
    "change", [{"values": "AAAA"}, {"values": "?"}, {"hessian": None}, {"hessian_rows": "////fw=="}, {"names": 3}]
)
def test_a_damaged_file_is_refused(tmp_path, change):
    fit = line().fitted(["a", "a", "b"], np.array([1.0, 1.02, 1.1])).fit
    path = save_fits(StoredFits("digest", {"line": fit}), tmp_path / "line.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["fits"]["line"] |= change
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"line\.json: is damaged"):
        load_fits(path, {"line": prior_of})


def test_accuracy_counts_what_lies_inside():
    """Of errors of 0.1, -0.2 and 0.4 with a standard deviation of 0.2, two are within 1.645 of it."""
    found = ErrorStatistics.of(np.array([0.1, -0.2, 0.4]), np.full(3, 0.2))
    assert (found.rows, found.median, found.bias) == (3, pytest.approx(0.2), pytest.approx(0.1))
    assert found.coverage == pytest.approx(2 / 3)


def test_covariance_of_a_part_is_that_of_the_whole():
    fit = line().fitted(["a", "a", "b", "b"], np.array([1.0, 1.02, 1.1, 1.12])).fit
    assert isinstance(fit, Fit)
    whole = np.linalg.inv(fit.hessian.toarray())
    assert_allclose(fit.covariance(("level:all", "lab:a")), whole[np.ix_([2, 0], [2, 0])], rtol=1e-9)


def test_a_case_that_comes_in_later_updates_the_fit_as_one_among_the_rows():
    """Normal theory: the fit to three rows is the fit to two, updated by the third with its own laboratory."""
    model, y = line(sigma=10.0), np.array([1.00, 1.02, 1.10])
    two = model.fitted(["a", "a"], y[:2]).fit
    found = two.updated([model.effects("b")], model.law(["b"]), 2, y[2:], np.array([10.0]))
    three = model.fitted(["a", "a", "b"], y).fit
    order = [found.index[name] for name in three.names]
    assert_allclose(found.values[order], three.values, atol=1e-4)
    assert_allclose(found.covariance(three.names), three.covariance(three.names), rtol=2e-3)
