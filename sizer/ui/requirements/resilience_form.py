"""Redundancy on the page Requirements: which losses the design tolerates."""

from sizer.present.words import listed
from sizer.ui import fields, state
from sizer.ui.request_form.forms import RESILIENCE, words_of


def show() -> None:
    """Draw the fold."""
    losses = state.get(("resilience", "keeps_targets_without")) or ()
    words = (words_of("resilience.keeps_targets_without", loss) for loss in losses)
    names = listed((name.lower().replace("gpu", "GPU") for name in words), "or")
    folded = fields.fold("Redundancy", f"tolerates the loss of {names}" if names else "none requested", "may-fail")
    if not folded.open:
        return
    with folded:
        fields.draw_columns(RESILIENCE)
        fields.reset_button("resilience", ("resilience",))
