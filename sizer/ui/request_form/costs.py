"""Fields of the request: cost of ownership, and a rental offer to compare with."""

from sizer.ui.request_form.field import Columns, Count, FormField, PlainNumber, Text
from sizer.workload.ownership import MAX_YEARS

_MAX_RATE = 1e6
OWNERSHIP: Columns = (
    (
        FormField(
            ("ownership", "years"),
            "Years of ownership",
            "Period over which costs are summed.",
            Count(MAX_YEARS),
            "3",
            "Years of ownership",
        ),
        FormField(
            ("ownership", "electricity_per_kwh"),
            "Electricity, {currency} per kWh",
            "With up to four decimals. The PUE is entered under Fabric and room.",
            PlainNumber(0.0, _MAX_RATE),
            "not included",
            "Electricity per kWh",
        ),
        FormField(
            ("ownership", "support_percent"),
            "Support, % of the purchase per year",
            "Of what is bought once. Default: the support lines of the bill, renewed at their price.",
            PlainNumber(0.0, 100.0),
            "as in the bill",
            "Support per year",
        ),
    ),
    (
        FormField(
            ("ownership", "space_per_rack_unit_month"),
            "Space, {currency} per rack unit and month",
            "Enter this or the price per rack.",
            PlainNumber(0.0, _MAX_RATE),
            "not included",
            "Space per rack unit and month",
        ),
        FormField(
            ("ownership", "space_per_rack_month"),
            "Space, {currency} per rack and month",
            "Enter this or the price per rack unit.",
            PlainNumber(0.0, _MAX_RATE),
            "not included",
            "Space per rack and month",
        ),
        FormField(
            ("ownership", "utilization_fraction"),
            "Utilization, share of all hours",
            "Share of all hours in which training runs, for the cost of one run. Default: runs without a pause.",
            PlainNumber(0.01, 1.0),
            "1, without a pause",
            "Utilization",
        ),
        FormField(
            ("ownership", "cost_per_million_tokens"),
            "At most, {currency} per million tokens",
            "Of language models: what training on a million tokens may cost, purchase and running costs included.",
            PlainNumber(0.0, _MAX_RATE),
            "not limited",
            "Cost per million tokens",
        ),
    ),
)

RENTAL: Columns = (
    (
        FormField(("rental", "offer"), "Offer name", "Shown with its numbers.", Text(), "rented GPUs"),
        FormField(
            ("rental", "per_gpu_hour"),
            "Price per GPU-hour, {currency}",
            "Rate of the offer, with up to four decimals.",
            PlainNumber(0.0, _MAX_RATE),
            "none",
            "Price per GPU-hour",
        ),
        FormField(
            ("rental", "speed_ratio"),
            "Relative speed of a rented GPU",
            "Rate of a rented GPU divided by the rate of a GPU of the design.",
            PlainNumber(0.01, 100.0),
            "1, equal speed",
        ),
        FormField(
            ("rental", "storage_per_tb_month"),
            "Storage, {currency} per TB and month",
            "Price of rented storage for the data.",
            PlainNumber(0.0, _MAX_RATE),
            "not in the offer",
            "Storage per TB and month",
        ),
        FormField(
            ("rental", "years"),
            "Comparison period, years",
            "Renting and buying are compared over this period.",
            Count(10),
            "3",
        ),
    ),
    (
        FormField(
            ("rental", "electricity_per_kwh"),
            "Electricity, {currency} per kWh",
            "For the purchased cluster.",
            PlainNumber(0.0, _MAX_RATE),
            "not included",
            "Electricity per kWh",
        ),
        FormField(
            ("rental", "yearly_cost_percent"),
            "Staff, space and maintenance, % of the purchase price per year",
            "For the purchased cluster, without electricity and support.",
            PlainNumber(0.0, 100.0),
            "0",
            "Staff, space and maintenance",
        ),
        FormField(
            ("rental", "utilization_fraction"),
            "GPU utilization, share of all hours",
            "0.4 is 40 % of all hours, including nights and weekends. Default: only the break-even is shown.",
            PlainNumber(0.01, 1.0),
            "not given",
            "GPU utilization",
        ),
    ),
)

COST_FORMS = (OWNERSHIP, RENTAL)
