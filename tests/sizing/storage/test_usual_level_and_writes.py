"""A published storage level that nobody asked for, next to what the workload writes."""

import pytest

from sizer import EvaluatedDesign, SizingRequest, data_plan
from sizer.sizing.checks import FactKind
from tests.factories.answers import recommended
from tests.factories.examples import catalog, sized
from tests.factories.requests import recommender_request


def test_a_level_that_nobody_asked_for_makes_no_target_conditional():
    """Llama 3 8B: 8.03 G parameters x 14 B = 112 GB in 5 min are 375 MB/s, below a tenth of the storage's reads."""
    design = sized("llama-8b-continued-mi300x").design
    least = design.platform.storage.node_read_low_bytes_per_s
    assert least is not None
    assert design.storage_nodes * least.value / 10 > 8.03e9 * 14 / 300
    assert design.conditional_on == ()
    assert design.probability is not None


def test_a_need_beyond_the_smallest_system_stays_conditional():
    """Llama 3 70B: 70.6 G parameters x 14 B = 988 GB every 4 min are 4.1 GB/s, above a tenth of three F710's reads."""
    request = sized("hgx-b200-400gbe").request
    often = request.model_copy(update={"data": request.data.model_copy(update={"checkpoint_every_s": 240.0})})
    design = recommended(often).design
    assert [one.kind for one in design.conditional_on] == [FactKind.WRITE_RATE]
    assert design.n_servers == 8


@pytest.fixture(scope="module")
def recommender():
    return recommended(recommender_request("c4140-pcie"))


def test_of_one_epoch_nothing_is_read_from_a_cache(recommender):
    """4e9 rows in 4 h less the start-up are 277,900 rows/s; 160 B each are 44.5 MB/s."""
    answer = recommender.design.workloads[0]
    assert answer.is_one_epoch
    assert answer.required_bytes_per_s == pytest.approx(44.5e6, rel=0.005)
    assert float(answer.storage_bytes_per_s.value) == pytest.approx(float(answer.throughput.value) * 160)


def test_data_reach_a_server_without_fabric_by_its_fastest_free_port():
    """640 GB over 10 Gbit/s: 640e9 / 1.25e9 = 512 s."""
    data = recommender_request("c4140-pcie").model_dump(exclude_none=True)
    data["workload"][0]["target"] = {"time_to_train_s": "24 h"}
    single = recommended(SizingRequest.from_dict(data))
    assert single.design.n_servers == 1
    plan = data_plan(EvaluatedDesign(single, catalog()))
    assert plan.ingest.chosen.least_s == pytest.approx(512)


def test_software_for_images_is_left_out_where_nothing_reads_images(recommender):
    """DIGITS trains image networks (dell-ready-ai-nvidia-2018, chapter NVIDIA DIGITS)."""
    assert all(part.item != "digits" for part in recommender.design.quantities.components)
