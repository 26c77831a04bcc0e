"""That a design's GPU servers cannot be ordered is told with the answer, wherever it is read."""

import dataclasses

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


def test_named_or_orderable_equipment_needs_no_such_sentence() -> None:
    for basis in (EquipmentBasis.NAMED, EquipmentBasis.ON_SALE):
        assert equipment_texts(dataclasses.replace(nine_dgx1(), equipment=basis)) == []
