"""How many designs each limit of a request rules out, counted only where somebody reads it."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.sizing.limits import AnyLimit
from sizer.sizing.recommend import search
from sizer.sizing.search.choice import counts_ruled_out
from sizer.workload.request import SizingRequest


class RuledOut(Mapping[AnyLimit, int]):
    """Limit -> designs that it, alone or among others, excludes, most first.

    The parts of every platform have to be counted for it, which takes longer than finding the best designs. So they are
    counted when it is first read; what is kept until then is the request, not the arrays of its designs.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration
    """

    def __init__(self, request: SizingRequest, catalog: Catalog, calibration: Calibration) -> None:
        self._request, self._catalog = request, catalog
        # An answer goes to the process that draws its documents: the shipped calibration, which is large, is there.
        self._calibration = None if calibration is stored_calibration() else calibration

    @cached_property
    def _counts(self) -> dict[AnyLimit, int]:
        calibration = self._calibration if self._calibration is not None else stored_calibration()
        return counts_ruled_out(search(self._request, self._catalog, calibration).passes)

    def __getitem__(self, limit: AnyLimit) -> int:
        return self._counts[limit]

    def __iter__(self) -> Iterator[AnyLimit]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)
