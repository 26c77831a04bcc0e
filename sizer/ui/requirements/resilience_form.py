"""Redundancy on the page Requirements: which losses the design tolerates."""

from sizer.present.words import listed
from sizer.ui import fields, look, state
from sizer.ui.request_form.forms import RESILIENCE, words_of


def show() -> None:
    """Draw the fold."""
    losses = state.get(("resilience", "keeps_targets_without")) or ()
    words = (words_of("resilience.keeps_targets_without", loss) for loss in losses)
    names = listed((name.lower().replace("gpu", "GPU") for name in words), "or")
    look.folded("Redundancy", "may-fail", _draw, f"tolerates the loss of {names}" if names else "none requested")


def _draw() -> None:
    fields.draw_columns(RESILIENCE)
    fields.reset_button("resilience", ("resilience",))
