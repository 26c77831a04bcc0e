"""Cost of renting GPUs by the hour compared with buying the design, from the offer in the request."""

from decimal import Decimal

from sizer.bom.customer import customer_bill
from sizer.bom.ownership import footprint_of, rates_of
from sizer.bom.rental import RentOrBuy, compared
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.result import SizingResult
from sizer.workload.rental import Rental


def rent_or_buy(result: SizingResult, rental: Rental | None = None) -> RentOrBuy | None:
    """Compare the design of an answer with an offer by the hour.

    Rented GPUs do the same work: the hours in which the cluster's GPUs are used, divided by ``speed_ratio``. Every data
    set is stored once, with its snapshots and checkpoints; spare capacity is not rented. Energy is the racks' typical
    draw while the GPUs are used, and a share of it otherwise. Existing equipment costs only its energy.

    ``result``: the whole answer or a customer's copy: both give the same comparison, based on the customer's price.
    ``rental``: Default: that of the request. None if the request has no offer.
    """
    offer = rental if rental is not None else result.request.rental
    if offer is None:
        return None
    design, request = result.design, result.request.model_copy(update={"rental": offer})
    stored = storage_demand(design.workloads, request.data)
    return compared(
        design.bill if design.bill.is_customer_copy else customer_bill(design.bill),
        offer,
        rates_of(request, offer.years),
        footprint_of(design.plan, design.quantities),
        n_gpus=design.n_gpus,
        stored_bytes=stored.data_bytes + stored.snapshots_bytes + stored.checkpoints_bytes,
    )


def use_of(rental: Rental) -> Decimal | None:
    """Utilization of the GPUs that the request states, as a share of all hours."""
    return None if rental.utilization_fraction is None else Decimal(repr(rental.utilization_fraction))
