"""A design in a few keys and numbers, for JSON documents that list several."""

from sizer.base.formats.json_document import fields_of
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.result import DesignAnswer


def design_summary(design: DesignAnswer) -> dict[str, object]:
    """Parts, counts, power and price of a design; ``total`` is None where nothing of it has a price."""
    counts, bill = design.quantities, design.bill
    return fields_of(
        design,
        *("name", "n_servers", "n_gpus", "storage_nodes", "probability"),
        server=design.platform.server.id,
        storage=design.platform.storage.id,
        rack_units=counts.rack_units[0],
        power_max_w=counts.power_max_w[0],
        conditional_on=[f"{fact.kind.value} of {fact.item}" for fact in design.conditional_on],
        total=None if bill.net_total.is_unknown else bill.total,
        total_is_complete=bill.is_complete,
        throughput_samples_per_s=[answer.throughput for answer in design.workloads],
    )


def tier_fields(tier: StorageTier) -> dict[str, object]:
    """A tier of the storage; ``storage`` null: object storage of the customer."""
    return fields_of(
        tier,
        *("nodes", "required_bytes", "usable_bytes"),
        content=tier.content.value,
        storage=None if tier.storage is None else tier.storage.id,
    )
