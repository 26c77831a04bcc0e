"""Whether to rent the GPUs of an answer by the hour, from the offer in its request."""

from decimal import Decimal

from sizer.bom.customer import customer_bill
from sizer.bom.rental import RentOrBuy, compared
from sizer.sizing.constraints.stored_data import data_held
from sizer.sizing.result import SizingResult
from sizer.workload.rental import Rental


def rent_or_buy(result: SizingResult, rental: Rental | None = None) -> RentOrBuy | None:
    """Set the design of an answer beside an offer by the hour.

    Parameters
    ----------
    result : SizingResult
        The whole answer, or a customer's copy: both read the same, as what the customer pays is what counts.
    rental : Rental, optional
        Default: that of the request.

    Returns
    -------
    RentOrBuy or None
        None where the request holds no offer.

    Notes
    -----
    Rented GPUs do the same work: as many hours as the cluster's GPUs are used, over ``speed_ratio``. Every data set is
    stored once, with its snapshots and checkpoints; room to spare is not rented. Energy is that of the racks' typical
    draw all year round, as in the guide: what these systems draw idle is not published. Equipment that the customer
    has costs nothing but its energy.
    """
    offer = rental if rental is not None else result.request.rental
    if offer is None:
        return None
    design = result.design
    racks = design.plan.racks
    held = data_held(design.workloads, result.request.data)
    return compared(
        design.bill if design.bill.is_customer_copy else customer_bill(design.bill),
        offer,
        n_gpus=design.n_gpus,
        typical_w=sum(rack.typical_w for rack in racks),
        is_draw_at_least=any(rack.has_unknown_power for rack in racks),
        pue_ratio=result.request.site.pue_ratio,
        stored_bytes=held.data_bytes + held.snapshots_bytes + held.checkpoints_bytes,
    )


def use_of(rental: Rental) -> Decimal | None:
    """Share of all hours in which the GPUs are used, as the request states it."""
    return None if rental.utilization_fraction is None else Decimal(repr(rental.utilization_fraction))
