"""Elevations of systems that arrive as racks: what feeds them, and what of them no source prints."""

from sizer.drawings.racks import rack_fronts, weight_text
from tests.factories import examples


def test_a_coolant_unit_has_inlets_and_no_published_weight():
    """XDU1350: two inlets and no shelves; its weight is not published, so it is unknown and not "at least 0 kg"."""
    plan = examples.sized("llama-405b-gb200-nvl72").design.plan
    fronts = rack_fronts(plan, examples.catalog(), in_column=True)
    labels = [label.text.replace("\u202f", " ") for front in fronts for label in front.labels]
    assert labels.count("Inlet") == 1
    assert "Shelf" in labels
    assert "weight unknown" in labels
    assert not [text for text in labels if "at least 0 kg" in text]
    # Eight equal NVL72 of 1,315 kg; the first of them gives its devices their names.
    assert "1 315 kg each; devices named as in R05" in labels


def test_a_weight_of_which_nothing_is_known_is_no_lower_bound():
    assert weight_text(0.0, True) == "weight unknown"
    assert weight_text(815.0, True) == "at least 815\u202fkg"
    assert weight_text(0.0, False) == "0\u202fkg"
