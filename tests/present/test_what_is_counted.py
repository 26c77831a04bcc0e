"""What notes and lists say of the numbers that they stand beside."""

import pytest

from sizer.present.facility_tables import racks_table
from sizer.present.text.assumptions import missing_of
from sizer.present.text.storage_need import storage_texts
from sizer.present.words import NO_BREAK
from sizer.sizing.assumptions import MissingFacts
from sizer.sizing.design.decisions import decisions
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories.examples import catalog, sized


def test_racks_of_a_megawatt_are_summed_in_the_kilowatts_of_their_column():
    """2 x 14.2 + 15.9 + 13.7 + 8 x 120 kW are 1,018 kW, at most 2 x 32.7 + 27.7 + 20.5 + 8 x 120 = 1,074 kW."""
    *_, total = racks_table(sized("llama-405b-gb200-nvl72").design.plan).rows
    assert [cell.text.replace("\u202f", " ") for cell in total.cells[3:5]] == ["1 020", "1 070"]


@pytest.mark.parametrize("name", ["llama-8b-continued-mi300x", "llama-70b-dgx-h100", "small-team"])
def test_as_many_open_points_are_listed_as_there_are(name):
    result = sized(name)
    parts = [point for point in result.questions if isinstance(point, MissingFacts)]
    assert len({point.item.id for point in parts}) == len(parts)
    assert len(missing_of(result)) == len(result.questions)


def test_open_points_name_the_missing_facts():
    """No source gives the links between GPUs and host of a DGX B200, nor how many outlets of which kind the PDU has."""
    assert missing_of(sized("llama-70b-adapters-b200")) == [
        "DGX B200 (GPU links)",
        "local NVMe (read rate)",
        "Rack PDU PX3-5878I2R (outlets, size)",
        "the prices",
    ]


def test_data_below_the_smallest_system_are_said_to_fit_it():
    """A PowerScale cluster has three nodes at least (Dell); 625 GB fit one of them."""
    result = sized("llama-8b-continued-mi300x")
    need = result.design.storage_need
    assert (need.nodes_for_capacity, need.smallest_nodes) == (3, 3)
    storage = decisions(EvaluatedDesign(result, catalog())).storage
    said = " ".join(storage_texts(storage, result.design))
    assert "it takes 4 nodes; the data fit the smallest system, 3 nodes." in said.replace(NO_BREAK, " ")


def test_fibres_of_a_bill_do_not_repeat_the_transceivers():
    design = sized("llama-70b-dgx-h100").design
    fibres = [part for part in design.plan.components if design.plan.catalog.category_of(part.item) == "cables"]
    assert all(note.kind.value != "transceivers-and-fibre" for part in fibres for note in part.notes)
