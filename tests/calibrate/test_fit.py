"""Fits against certified values, the observations' reader against bad files, rules and resolution."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares
from scipy.sparse import csr_array

from sizer.base.errors import CalibrationError
from sizer.calibrate.cases import RateCase, covers, gpu_of, resolve, rules, server_of, stack_of
from sizer.calibrate.engine import (
    ErrorStatistics,
    Prior,
    RateModel,
    StoredFits,
    by_differences,
    fit_with_priors,
    load_fits,
    save_fits,
    sum_of_parts,
)
from sizer.calibrate.notes import CalibrationNote
from sizer.calibrate.observations import COLUMNS, ID_COLUMNS, load_observations, observations_digest, read_rows
from tests.factories.observations import observation_text


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


def test_a_case_that_comes_in_later_updates_the_fit_as_one_among_the_rows():
    """Normal theory: the fit to three rows is the fit to two, updated by the third with its own laboratory."""
    model, y = line(sigma=10.0), np.array([1.00, 1.02, 1.10])
    two = model.fitted(["a", "a"], y[:2]).fit
    found = two.updated([model.effects("b")], model.law(["b"]), 2, y[2:], np.array([10.0]))
    three = model.fitted(["a", "a", "b"], y).fit
    order = [found.index[name] for name in three.names]
    assert_allclose(found.values[order], three.values, atol=1e-4)
    assert_allclose(found.covariance(three.names), three.covariance(three.names), rtol=2e-3)


# NIST StRD, nonlinear regression, data set Misra1a: y, x.
MISRA1A = np.array(
    [
        (10.07, 77.6),
        (14.73, 114.9),
        (17.94, 141.1),
        (23.93, 190.8),
        (29.61, 239.9),
        (35.18, 289.0),
        (40.02, 332.8),
        (44.82, 378.4),
        (50.76, 434.8),
        (55.05, 477.3),
        (61.01, 536.8),
        (66.40, 593.1),
        (75.47, 689.1),
        (81.78, 760.0),
    ]
)


@pytest.mark.parametrize("start", [(500.0, 0.0001), (250.0, 0.0005)])  # both starts of the source
def test_fit_reaches_certified_values_and_errors(start):
    """NIST StRD, data set Misra1a, certified values and standard deviations; priors and loss too wide to matter."""
    y, x = MISRA1A.T

    def model(log_b):
        b = np.exp(log_b)
        grown = np.exp(-b[1] * x)
        return b[0] * (1 - grown), csr_array(np.stack([b[0] * (1 - grown), b[0] * b[1] * x * grown], axis=1))

    sigma = 10.0  # the robust loss is quadratic to 1e-4 where residuals are a hundredth of its scale
    fit = fit_with_priors(model, y, sigma, np.log(start), np.full(2, 1e9), np.log(start))
    # The objective is tiny beside 1, at which the solver stops: a second fit from the first one's end settles.
    fit = fit_with_priors(model, y, sigma, fit.values, np.full(2, 1e9), fit.values)
    assert_allclose(np.exp(fit.values), [238.94212918, 5.5015643181e-4], rtol=1e-4)
    scatter = np.sqrt((fit.residuals**2).sum() / (len(y) - 2))
    assert_allclose(scatter, 1.0187876330e-1, rtol=1e-5)  # residual standard deviation of the source
    std = np.sqrt(np.diag(fit.covariance)) * scatter / sigma * np.exp(fit.values)
    assert_allclose(std, [2.7070075241, 7.2668688436e-6], rtol=1e-3)


def linear(matrix):
    return lambda k: (matrix @ k, csr_array(matrix))


def test_priors_and_data_weigh_by_their_variance():
    """One number measured as 1 +- 0.1 under a prior of 0 +- 0.1 lies half way, with 0.1/sqrt(2): normal theory.

    The robust loss is quadratic to 1e-4 here, where the residual is a hundredth of its scale.
    """
    fit = fit_with_priors(
        linear(np.ones((1, 1)) * 100), np.array([1.0]), 10.0, np.zeros(1), np.array([0.1]), np.zeros(1)
    )
    assert_allclose(fit.values, [0.005], rtol=1e-3)
    assert_allclose(fit.covariance, [[0.1**2 / 2]], rtol=1e-3)


def test_an_effect_without_data_keeps_its_prior():
    matrix = np.array([[1.0, 0.0], [1.0, 0.0]])
    fit = fit_with_priors(linear(matrix), np.ones(2), 0.01, np.zeros(2), np.array([1.0, 0.7]), np.zeros(2))
    assert_allclose(fit.values[1], 0.0, atol=1e-12)
    assert_allclose(fit.covariance[1, 1], 0.49, rtol=1e-9)


def test_joint_fit_agrees_with_scipy_least_squares():
    """Another solver on the same robust objective: a Student loss on the data, quadratic priors."""
    random = np.random.default_rng(11)
    matrix = random.normal(size=(60, 5))
    truth, sd = np.array([0.3, -0.2, 0.1, 0.0, 0.5]), np.full(5, 0.4)
    y = matrix @ truth + 0.05 * random.standard_t(2, 60)

    def loss(z):
        rho = np.array([z, np.ones_like(z), np.zeros_like(z)])
        data = 1 + z[:60] / 6  # six degrees of freedom
        rho[:, :60] = [6 * np.log(data), 1 / data, -1 / (6 * data**2)]
        return rho

    other = least_squares(
        lambda k: np.concatenate([(matrix @ k - y) / 0.05, k / sd]), np.zeros(5), loss=loss, xtol=1e-12, ftol=1e-12
    )
    fit = fit_with_priors(linear(matrix), y, 0.05, np.zeros(5), sd, np.zeros(5))
    assert_allclose(fit.values, other.x, atol=2e-5)  # both stop on a relative fall of 1e-9 or less


def test_an_outlier_hardly_moves_the_robust_fit():
    """Twenty rows at 1 and one at 5: the mean would be 1.19. At 80 scatters the pull is 80/(1 + 80**2/6) = 0.075."""
    y = np.array([1.0] * 20 + [5.0])
    fit = fit_with_priors(linear(np.ones((21, 1))), y, 0.05, np.ones(1), np.array([10.0]), np.ones(1))
    assert_allclose(fit.values, [1.0], atol=0.05 / 20 * 0.075 * 1.1)


# --- observations ---------------------------------------------------------------------------------------------------


def text(columns=COLUMNS, **changes):
    return observation_text(columns, **{"batch_per_gpu": "256", "value": "11220"} | changes)


def test_a_good_row_is_read():
    (row,) = read_rows(text(extra='{"ranks": 16}'), "x.csv")
    assert (row.value, row.gpus, row.batch_per_gpu, row.nics_per_server) == (11_220.0, 8, 256.0, None)
    assert row.extra == {"ranks": 16}
    assert row.n_gpus_per_server == 8


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"value": "nan"}, "x.csv:2: value: nan must be"),
        ({"value": "inf"}, "value: inf must be"),
        ({"value": "1_000"}, "value"),
        ({"value": "-5"}, "value: -5 must be"),
        ({"value": ""}, "value: is empty"),
        ({"value": "1e300"}, "must be"),
        ({"quantity": ""}, "quantity: is empty"),
        ({"gpus": "2.5"}, "gpus: '2.5' is not a whole number"),
        ({"servers": "0"}, "servers: 0 must be 1 to"),
        ({"batch_per_gpu": "many"}, "batch_per_gpu"),
        ({"extra": "[1]"}, "extra"),
        ({"extra": '{"a": NaN}'}, "extra"),
        ({"value": "٣"}, "value: '٣' is not a number"),
        ({"id": ""}, "id: is empty"),
        ({"notes": "x" * 6000}, "notes: longer than 5000 characters"),
    ],
)
def test_a_bad_value_is_named_with_its_place(changes, said):
    with pytest.raises(CalibrationError) as error:
        read_rows(text(**changes), "x.csv")
    assert said in str(error.value)
    assert "x.csv:2" in str(error.value)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (COLUMNS[:-1], "column 'notes' is missing"),
        ((*COLUMNS[:-1], "note"), "column 'notes' is missing"),
        ((*COLUMNS, "id"), "twice"),
    ],
)
def test_other_columns_are_refused(columns, said):
    with pytest.raises(CalibrationError, match=said):
        read_rows(text(columns), "x.csv")


def test_an_open_quote_names_its_own_line():
    lines = [",".join(COLUMNS), '"open,b', *["c,d"] * 20, '"quoted",e']
    with pytest.raises(CalibrationError, match=r"x\.csv:2: is not valid CSV: a quotation mark opens a cell"):
        read_rows("\n".join(lines) + "\n", "x.csv")


def test_short_and_long_rows_are_refused():
    head = ",".join(COLUMNS)
    with pytest.raises(CalibrationError, match=r"has 2 cells; there are \d+ columns"):
        read_rows(f"{head}\na,b\n", "x.csv")
    with pytest.raises(CalibrationError, match=r"has (\d+) cells; there are (?!\1)\d+ columns"):
        read_rows(text().rstrip("\r\n") + ",extra\n", "x.csv")


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(CalibrationError, match="cannot be read"):
        load_observations(tmp_path / "none.csv")
    with pytest.raises(CalibrationError, match="no CSV files"):
        load_observations(tmp_path)
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CalibrationError, match="not UTF-8"):
        load_observations(tmp_path)
    (tmp_path / "a.csv").write_text(text() + text().split("\n", 1)[1], encoding="utf-8")
    with pytest.raises(CalibrationError, match="'a' is used by"):
        load_observations(tmp_path)
    (tmp_path / "a.csv").write_text("x" * 20_000_001, encoding="utf-8")
    with pytest.raises(CalibrationError, match="larger"):
        load_observations(tmp_path)


def test_digest_follows_the_numbers_not_the_notes():
    same, other = read_rows(text(notes="read twice"), "y.csv"), read_rows(text(value="11221"), "x.csv")
    base = observations_digest(tuple(read_rows(text(), "x.csv")))
    assert observations_digest(tuple(same)) == base
    assert observations_digest(tuple(other)) != base


# --- rules and resolution -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    return load_observations()


def test_every_rule_leaves_some_row_out(rows):
    for rule in rules("excluded"):
        # Those of progressive sizes print times, no rates; the rule keeps their times out.
        assert rule["reason"] == "progressive-sizes" or any(covers(rule, row) for row in rows), rule["reason"]


def test_every_rate_is_used_or_has_a_reason(rows, catalog):
    for row in rows:
        if row.quantity == "samples_per_s" and row.task in ("training", "inference"):
            case = resolve(row, catalog, for_fit=True)
            assert isinstance(case, RateCase | CalibrationNote), row.id


IDS = {"stack": "mxnet-1.2", "gpu_id": "", "server_id": "", "assumed": ""}


def with_id_columns(**changes):
    return read_rows(text((*COLUMNS, *ID_COLUMNS), **{**IDS, **changes}), "x.csv")[0]


def test_ids_are_looked_up(catalog):
    row = with_id_columns(gpu="v100", gpu_id="v100-sxm2-16gb", server="dgx-1-p100", server_id="dgx-1")
    assert stack_of(row, catalog).id == "mxnet-1.2"
    assert (gpu_of(row, catalog).id, server_of(row, catalog).id) == ("v100-sxm2-16gb", "dgx-1")
    assert gpu_of(with_id_columns(gpu="k80"), catalog) is None


@pytest.mark.parametrize(
    ("column", "value", "near"),
    [
        ("stack", "mxnet-1.3", "mxnet-1.2"),
        ("stack", "mxnet:nobody:2019-01", ""),
        ("gpu_id", "v100-sxm2-16", "v100-sxm2-16gb"),
        ("server_id", "dgx1", "dgx-1"),
    ],
)
def test_an_unknown_id_is_named_with_its_place_and_the_nearest(catalog, column, value, near):
    look_up = {"stack": stack_of, "gpu_id": gpu_of, "server_id": server_of}[column]
    with pytest.raises(CalibrationError) as error:
        look_up(with_id_columns(**{column: value}), catalog)
    assert f"x.csv:2, column {column}: {value!r}" in str(error.value)
    assert near in str(error.value)


def test_software_outside_the_catalogue_is_described_by_its_column(catalog):
    stack = stack_of(with_id_columns(stack="tensorflow:ngc:2021-07:xla", software="TensorFlow NGC 21.07"), catalog)
    assert (stack.framework, stack.line, stack.xla, stack.released.value) == ("tensorflow", "ngc", True, "2021-07")
    assert stack.name == "TensorFlow NGC 21.07"
    undated = stack_of(with_id_columns(stack="tensorflow:tensorpack:undated"), catalog)
    assert (undated.line, undated.xla, undated.released.value) == ("tensorpack", False, "")
