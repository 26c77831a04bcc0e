"""What may fail without a target being missed, on the page Requirements."""

from typing import get_args

from sizer.present.words import listed
from sizer.ui import fields, state
from sizer.ui.error_messages import Path_
from sizer.workload.request import Loss

_HERE: Path_ = ("resilience", "keeps_targets_without")
LOSSES = {
    "server": "One GPU server",
    "storage-node": "One storage node",
    "switch": "One switch",
    "gateway": "One gateway",
    "feed": "One power feed",
}


def show() -> None:
    """Draw the fold."""
    chosen = [name for loss, name in LOSSES.items() if loss in (state.get(_HERE) or ())]
    said = listed((name.lower().replace("gpu", "GPU") for name in chosen), "or") or "nothing that must be survived"
    folded = fields.fold("What may fail", said, "may-fail")
    if not folded.open:
        return
    with folded:
        fields.several(
            "Targets are kept with any one of these lost",
            _HERE,
            {loss: LOSSES[loss] for loss in get_args(Loss)},
            "The design then has as much in reserve as the loss of one takes, one at a time. Default: no reserve; the "
            "documents say what each loss costs.",
            "none",
        )
