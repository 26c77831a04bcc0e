"""The next larger option of a design whose confidence is low: what a higher confidence takes on the same platform."""

from contextlib import suppress

from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.physical.allowed_parts import narrowed_to
from sizer.sizing.best_design import best_design
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest

# Below it a document says what the confidence means, and shows the design that reaches it.
USUAL_CONFIDENCE = 0.9


def surer_design(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> DesignAnswer | None:
    """The design of the same parts that reaches 90 % confidence.

    Parameters
    ----------
    request : SizingRequest
    design : DesignAnswer
        Of that request.
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

    Returns
    -------
    DesignAnswer or None
        None where the design reaches it, where the request asks for the highest rate instead of a target, where a fact
        that no source gives decides, or where no size reaches it.
    """
    asks_most = any(work.target.maximum is not None for work in request.workload)
    if asks_most or design.probability is None or design.probability >= USUAL_CONFIDENCE:
        return None
    fitted = calibration if calibration is not None else stored_calibration()
    with suppress(InfeasibleError, RequestError):
        asked = request.model_copy(update={"confidence": USUAL_CONFIDENCE})
        found = best_design(narrowed_to(asked, design.platform), catalog, fitted).design
        return found if (found.n_servers, found.storage_nodes) != (design.n_servers, design.storage_nodes) else None
    return None
