"""A network that some GPUs do not hold has no rate there: nothing is drawn, printed or averaged in its place."""

import json

import numpy as np
import pytest

from sizer.present.charts import scaling_chart
from sizer.present.training_charts import accuracy_chart
from sizer.questions.what_if.varied_input import SERVERS, fixed_design_inputs
from sizer.sizing.constraints.team_jobs import job_facts
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.team import Team
from tests.factories.examples import catalog, sized

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
    for chart in (scaling_chart(answer, design.n_gpus), accuracy_chart(answer)):
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
