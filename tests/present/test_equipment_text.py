"""That a design's GPU servers cannot be ordered is told with the answer, wherever it is read."""

import dataclasses
import datetime

from sizer.present.text.verdict import equipment_texts, proposal_text, verdict_text
from sizer.ui import tiles
from sizer.workload.eras import EquipmentBasis
from tests.factories.results import nine_dgx1


def test_command_guide_and_app_tell_that_nothing_that_can_be_ordered_has_a_rate() -> None:
    told = dataclasses.replace(nine_dgx1(), equipment=EquipmentBasis.NOT_ON_SALE)
    (text,) = equipment_texts(told)
    assert told.design.platform.gpu.name in text
    assert str(told.request.date) in text
    assert text in verdict_text(told)  # of the command, JSON and the engineer's file
    assert text in proposal_text(told)  # of the guide and the slides
    assert text in " ".join(tiles.sentences(told, is_customer_mode=True))


def test_the_age_of_named_equipment_is_told() -> None:
    """Turing followed Volta in 2018; V100 servers are no longer sold in 2026, when Blackwell is the newest on sale."""
    result = nine_dgx1()
    (then,) = equipment_texts(result)
    assert "Turing (2018)" in then
    today = result.request.model_copy(update={"date": datetime.date(2026, 11, 29)})
    (text,) = equipment_texts(dataclasses.replace(result, request=today))
    assert "can no longer be ordered" in text
    assert "Blackwell" in text


def test_equipment_without_a_date_has_no_age() -> None:
    result = nine_dgx1()
    undated = result.request.model_copy(update={"date": None})
    assert equipment_texts(dataclasses.replace(result, request=undated)) == []
