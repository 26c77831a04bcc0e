"""A network that some GPUs do not hold has no rate there: nothing is drawn, printed or averaged in its place."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sizer.base.errors import RequestError
from sizer.drawings.palette import LIGHT
from sizer.export.design_json import design_document
from sizer.physical.losses import Remaining
from sizer.present.charting import band_chart
from sizer.present.charts import scaling_data
from sizer.present.workload_charts import accuracy_data
from sizer.questions.failures.analysis import HardwareAfterLoss, failure_cases, rate_shares, target_probabilities
from sizer.questions.failures.text import failures_document
from sizer.questions.scale.analysis import scale_comparison
from sizer.questions.scale.text import scale_document
from sizer.questions.team.analysis import team_model
from sizer.questions.what_if.answer import SERVERS, fixed_design_along, fixed_design_inputs
from sizer.sizing.constraints.team_limits import job_facts
from sizer.sizing.design.evaluate_design import smaller_sizes
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.team import Team
from tests.factories.examples import catalog, most_in, sized

LANGUAGE = ("llama-70b-checkpoints", "llama-70b-dgx-h100", "llama-8b-continued-mi300x", "llama-405b-gb200-nvl72")
# Training with Adam in mixed precision keeps 16 bytes a parameter: Rajbhandari et al., ZeRO, 2020, section 3.1.
STATE_BYTES = 16


def numbers(value) -> list[float]:
    """All numbers of a chart."""
    if isinstance(value, dict):
        return [number for inside in value.values() for number in numbers(inside)]
    if isinstance(value, list):
        return [number for inside in value for number in numbers(inside)]
    return [float(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []


@pytest.mark.parametrize("name", LANGUAGE)
def test_every_size_of_the_curve_holds_the_model_and_has_a_plausible_rate(name):
    design = sized(name).design
    (answer,) = design.workloads
    curve = answer.scaling
    memory = design.platform.gpu.memory_bytes.value * np.atleast_1d(curve.n_gpus)
    if answer.language.work.method != "lora":
        assert (memory >= STATE_BYTES * answer.dnn.parameters.value).all()
    assert (np.atleast_1d(curve.throughput.low) > 1).all()
    for chart in (band_chart(one, LIGHT) for one in (scaling_data(answer, design.n_gpus), accuracy_data(answer))):
        if chart is None:
            continue
        drawn = [abs(number) for number in numbers(json.loads(chart.to_json(validate=False))["datasets"])]
        assert all(number == 0 or 1e-6 < number < 1e13 for number in drawn)


def test_servers_are_varied_from_the_fewest_that_hold_the_model():
    (model,) = EvaluatedDesign(sized("llama-70b-dgx-h100"), catalog()).workloads
    (servers,) = (one for one in fixed_design_inputs(model) if one.key == SERVERS)
    of_a_server = model.platform.gpus_per_server * model.platform.gpu.memory_bytes.value
    assert servers.values[0] * of_a_server >= STATE_BYTES * model.work.dnn.parameters.value
    assert servers.values[0] > 1


def test_a_job_whose_gpus_do_not_hold_its_model_reads_nothing():
    (model,) = EvaluatedDesign(sized("llama-70b-dgx-h100"), catalog()).workloads
    job = {"jobs_a_day": 3, "duration_s": "2 h", "workload": model.work.request.name}
    whole = model.n_servers * model.platform.gpus_per_server
    team = Team.model_validate(
        {"wait_s": "1 h", "job": [{**job, "name": f"{gpus} GPUs", "gpus": gpus} for gpus in (4, whole)]}
    )
    small, large = job_facts(team, [model.work], [model.platform], model.run.cols, catalog(), model.calibration)
    assert (float(small.samples_per_s[0]), float(small.mean_bytes_per_s[0])) == (0.0, 0.0)
    assert float(large.samples_per_s[0]) > 1000


@pytest.mark.parametrize("comes", [{"jobs_a_day": 3, "duration_s": "2 h"}, {"always_running": 2}])
def test_a_job_whose_gpus_do_not_hold_its_model_never_starts_and_uses_no_gpu(comes):
    result = sized("llama-70b-dgx-h100")
    job = {"name": "small", "gpus": 4, "workload": result.request.workload[0].name, **comes}
    team = Team.model_validate({"wait_s": "1 h", "job": [job]})
    asked = replace(result, request=result.request.model_copy(update={"team": team}))
    model = team_model(EvaluatedDesign(asked, catalog()))
    run = model.on(result.design.n_servers)
    assert (run.gpus_busy_fraction, run.gpus_reserved_fraction, run.meets) == (0.0, 0.0, False)
    assert model.fewest(10_000) is None


def on_design():
    """A model of 70 billion parameters on its design: 1.1 TB of state on GPUs of 80 GB takes two servers at least."""
    (model,) = EvaluatedDesign(sized("llama-70b-dgx-h100"), catalog()).workloads
    return model


def test_servers_that_do_not_hold_the_model_have_no_rate_and_meet_no_target():
    model = on_design()
    run = model.run_on(1)
    assert float(run.warm.gpu.median[0]) == 0.0
    for target in ({"gpus_busy": 8}, {"samples_per_s": 1.0}, {"time_to_train_s": "900 d"}):
        run = model.asked(target=target).run_on(1)
        assert float(run.probability[0]) == 0.0


def test_a_size_that_does_not_hold_the_model_is_no_smaller_size():
    model = on_design()
    fewest = int(next(one for one in fixed_design_inputs(model) if one.key == SERVERS).values[0])
    along = model.run_on(np.arange(fewest, fewest + 3))
    counts = [
        [size.n_servers for size in smaller_sizes(along, model.platform, n, model.catalog, is_open=False)]
        for n in (fewest, fewest + 1, fewest + 2)
    ]
    assert counts == [[], [fewest], [fewest + 1, fewest]]


def test_a_job_that_the_remaining_gpus_do_not_hold_stops():
    model = on_design()
    whole, one_server = (Remaining(n, 1.0, True, 1.0, model.storage_nodes, 1.0, 1.0) for n in (model.n_servers, 1))
    left = [HardwareAfterLoss(one_server), HardwareAfterLoss(whole, 1), HardwareAfterLoss(whole)]
    assert rate_shares(model, whole, left) == pytest.approx([0.0, rate_shares(model, whole, left)[1], 1])
    assert target_probabilities(model, left[:1]) == [0.0]


def test_arrangements_that_do_not_hold_the_model_are_not_compared():
    evaluated = EvaluatedDesign(sized("llama-70b-dgx-h100"), catalog())
    with pytest.raises(RequestError, match="too little GPU memory"):
        scale_comparison(evaluated, 8)


def physical(value, key: str = "") -> list[tuple[str, float]]:
    """All rates and times of a document, by their keys."""
    if isinstance(value, dict):
        return [found for name, inside in value.items() for found in physical(inside, f"{key}.{name}")]
    if isinstance(value, list):
        return [found for inside in value for found in physical(inside, key)]
    is_physical = any(part.endswith("_s") or part in {"throughput", "stage_capacity"} for part in key.split("."))
    return [(key, float(value))] if is_physical and isinstance(value, int | float) else []


@pytest.mark.parametrize("name", most_in("laws", LANGUAGE))
def test_no_rate_of_what_does_not_fit_reaches_a_document_or_a_map(name):
    result = sized(name)
    evaluated = EvaluatedDesign(result, catalog())
    documents = (
        design_document(result),
        scale_document(scale_comparison(evaluated)),
        failures_document(result, failure_cases(evaluated), None),
    )
    found = [one for document in documents for one in physical(json.loads(json.dumps(document, default=float)))]
    assert len(found) > 100
    assert not [(key, number) for key, number in found if 0 < number < 1e-6]
    assert not [(key, number) for key, number in found if key.endswith("time_s") and number > 1e9]
    (model,) = evaluated.workloads
    (x,) = (one for one in fixed_design_inputs(model) if one.key == SERVERS)
    rates = fixed_design_along(model, x, {})
    assert (rates.rate.value > 1).all()
    assert rates.time_s is None or (rates.time_s < 1e9).all()
