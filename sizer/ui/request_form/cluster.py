"""Fields of the request: allowed equipment, limits, existing racks, fabric, room and redundancy."""

from typing import get_args

from sizer.base.quantities import AMOUNT, BYTES, BYTES_PER_S, WATTS
from sizer.ui.request_form.field import (
    Checkbox,
    Columns,
    Count,
    Dropdown,
    FormField,
    MultiSelect,
    PlainNumber,
    Quantity,
    Text,
)
from sizer.ui.request_form.options import (
    fabrics,
    names_by_id,
    orderable_gpus,
    orderable_servers,
    shared_storage,
    usable_storage,
    vendors,
)
from sizer.ui.session_catalog import catalog
from sizer.workload.request import FeedRedundancy, Loss, Site

LOSSES = {
    "server": "One GPU server",
    "storage-node": "One storage node",
    "switch": "One switch",
    "gateway": "One gateway",
    "feed": "One power feed",
    "head-node": "One head node",
}
TIERS = {"": "Any", "performance": "Performance", "capacity": "Capacity", "local": "Local"}
_ALL, _NO_LIMIT = "all that fit", "no limit"

PLATFORMS: Columns = (
    (
        FormField(
            ("platforms", "servers"),
            "Servers",
            "GPU servers that may be offered.",
            MultiSelect(orderable_servers),
            _ALL,
        ),
        FormField(
            ("platforms", "gpus"), "GPUs", "GPU models allowed in the servers.", MultiSelect(orderable_gpus), _ALL
        ),
        FormField(
            ("platforms", "generations"),
            "GPU generations",
            "Generations of the GPUs allowed. Default: those of the V100 systems, or today's for a language model.",
            MultiSelect(lambda: names_by_id(catalog().generations)),
            _ALL,
        ),
        FormField(("platforms", "gpus_per_server"), "GPUs used per server", "Default: all of them.", Count(64), "all"),
        FormField(
            ("platforms", "host_memory_bytes"),
            "Host memory per server, minimum",
            "The smallest published size that is enough. Default: the standard memory, or a larger one whose page "
            "cache holds a data set where that costs less.",
            Quantity(BYTES),
            "standard",
        ),
    ),
    (
        FormField(
            ("platforms", "storage"),
            "Storage",
            "Storage that may be offered, or that the customer already has.",
            MultiSelect(usable_storage),
            _ALL,
        ),
        FormField(
            ("platforms", "storage_tier"),
            "Storage tier",
            "Performance: shared flash. Capacity: shared disks, with or without a flash cache. Local: drives in the "
            "servers. Default: any.",
            Dropdown(TIERS),
            "any",
        ),
        FormField(("platforms", "fabrics"), "Fabrics", "Network for gradients and data.", MultiSelect(fabrics), _ALL),
    ),
    (
        FormField(
            ("platforms", "prefer_vendors"),
            "Preferred vendors",
            "Their servers and storage lead while they rank close behind the best design; others stay allowed. "
            "Default: none.",
            MultiSelect(vendors),
            "none",
        ),
        FormField(
            ("platforms", "prefer_within_percent"),
            "Worth of the preference, %",
            "How far a preferred design may rank behind the best one, in cost or in what platforms are ranked by. "
            "Default: 10.",
            PlainNumber(0.0, 100.0),
            "10",
            "Worth of the preference",
        ),
    ),
)
LIMITS: Columns = (
    (
        FormField(("limits", "racks"), "Racks", "Maximum number of 42 U racks in the room.", Count(), _NO_LIMIT),
        FormField(("limits", "rack_units"), "Rack units", "In all racks together.", Count(), _NO_LIMIT),
    ),
    (
        FormField(
            ("limits", "rack_power_w"),
            "Power per rack",
            "Maximum that the feeds and the cooling of one rack allow.",
            Quantity(WATTS),
            _NO_LIMIT,
        ),
        FormField(("limits", "power_w"), "Total power", "Maximum that the room allows.", Quantity(WATTS), _NO_LIMIT),
    ),
    (
        FormField(
            ("limits", "servers"),
            "GPU servers",
            "Default: as many as the targets take; for a maximum, up to 160.",
            Count(),
            _NO_LIMIT,
        ),
        FormField(("limits", "gpus"), "GPUs", "Of the whole cluster.", Count(), _NO_LIMIT),
        FormField(
            ("limits", "budget"),
            "Budget",
            "In the currency of the bill: 500,000 or 500k. Applies only where prices are known.",
            Quantity(AMOUNT),
            _NO_LIMIT,
        ),
    ),
)

EXISTING_RACK: Columns = (
    (
        FormField(
            ("existing", "racks", "name"),
            "Rack name",
            "Printed on labels; must be unique.",
            Text(40),
            "R1",
            name="Name",
        ),
        FormField(
            ("existing", "racks", "load_kg"),
            "Remaining load capacity, kg",
            "Default: in proportion to the free rack units.",
            PlainNumber(0.0, 5_000.0),
            "in proportion",
        ),
    ),
    (
        FormField(
            ("existing", "racks", "free_u"),
            "Free rack units, contiguous",
            "Of the rack, one above the other.",
            Count(60),
        ),
        FormField(
            ("existing", "racks", "outlets_c13"),
            "Free C13 outlets per feed",
            "Default: in proportion to the free rack units.",
            Count(200, 0),
            "in proportion",
        ),
    ),
    (
        FormField(
            ("existing", "racks", "first_free_u"),
            "Lowest free rack unit",
            "Units count from the floor.",
            Count(60),
            "1",
        ),
        FormField(
            ("existing", "racks", "outlets_c19"),
            "Free C19 outlets per feed",
            "Default: in proportion to the free rack units.",
            Count(200, 0),
            "in proportion",
        ),
    ),
    (
        FormField(
            ("existing", "racks", "power_w"), "Free power per feed", "With its unit: 5 kW.", Quantity(WATTS), "5 kW"
        ),
    ),
)

# What the customer or the vendor says of a storage system, in place of the catalogue's facts.
STATED_STORAGE: Columns = (
    (
        FormField(
            ("stated_storage", "storage"),
            "Storage system",
            "The stated values replace those of the catalogue.",
            Dropdown(shared_storage),
        ),
    ),
    (
        FormField(
            ("stated_storage", "node_read_bytes_per_s"),
            "Stated read rate",
            "Of one node, or of the whole system where it has no nodes, with its unit: 1.2 GB/s. "
            "Default: that of the catalogue.",
            Quantity(BYTES_PER_S),
            "as in the catalogue",
        ),
    ),
    (
        FormField(
            ("stated_storage", "node_write_bytes_per_s"),
            "Stated write rate",
            "Of one node, with its unit: 1.2 GB/s. Default: that of the catalogue.",
            Quantity(BYTES_PER_S),
            "as in the catalogue",
        ),
        FormField(
            ("stated_storage", "usable_bytes"),
            "Stated usable capacity",
            "Of the whole system, with its unit: 2 PB. Default: that of the catalogue.",
            Quantity(BYTES),
            "as in the catalogue",
        ),
    ),
)

FABRIC_AND_ROOM: Columns = (
    (
        FormField(
            ("fabric", "oversubscription"),
            "Oversubscription ratio",
            "Ports down to ports up of a leaf switch. Default: 1, non-blocking.",
            PlainNumber(1.0, 16.0),
            "1",
        ),
        FormField(
            ("fabric", "spare_servers"),
            "Servers to add later",
            "Ports, rack units and power are reserved for them. Default: none.",
            Count(10_000, 0),
            "none",
        ),
    ),
    (
        FormField(
            ("fabric", "rails_apart"),
            "Separate network for each rail",
            "Each port of a server is connected to its own network. Default: one network.",
            Checkbox(),
            name="Separate rails",
        ),
        FormField(
            ("fabric", "converged"),
            "Storage on the compute fabric",
            "Ethernet only: one fabric carries gradients and files. Default: today's servers have a storage fabric.",
            Checkbox(),
            name="Converged fabric",
        ),
        FormField(
            ("fabric", "directors"),
            "Director switches instead of another tier",
            "Where one switch is not enough. Default: leaves and spines.",
            Checkbox(),
            name="Director switches",
        ),
        FormField(("site", "racks_per_row"), "Racks per row", "Racks that stand side by side.", Count(100), "10"),
    ),
    (
        FormField(
            ("site", "rack"),
            "Rack model",
            "Racks that are added for the design.",
            Dropdown(lambda: names_by_id(catalog().racks), Site().rack),
        ),
        FormField(
            ("site", "pdu"),
            "Power distribution unit",
            "One or more on each of the feeds of a rack.",
            Dropdown(lambda: {"": "usual for the servers", **names_by_id(catalog().pdus)}),
        ),
        FormField(
            ("site", "feeds"),
            "Feeds of a rack",
            "2N: either of two feeds carries the rack. N+1: all feeds but one do. N: none is spare.",
            Dropdown(lambda: {rule: rule for rule in get_args(FeedRedundancy)}, Site().feeds),
        ),
        FormField(
            ("site", "network_racks"),
            "Separate network racks",
            "Switches, head nodes and storage do not share racks with servers. Default: they do.",
            Checkbox(),
        ),
        FormField(
            ("site", "pue_ratio"),
            "PUE of the room",
            "Total power of the room divided by the power of the equipment. Default: not known; the "
            "energy of the room is then not included.",
            PlainNumber(1.0, 5.0),
            "not known",
            name="PUE",
        ),
        FormField(
            ("site", "cooling"),
            "Cooling of the room",
            "Air alone, or air and water for liquid-cooled systems. Default: not stated; it excludes nothing.",
            Dropdown(lambda: {"": "not stated", "air": "air", "liquid": "air and liquid"}),
        ),
        FormField(
            ("site", "feed_volts"),
            "Voltage of the feeds, V",
            "Between phases where there are three. Default: not stated; it excludes nothing.",
            PlainNumber(100.0, 600.0),
            "not stated",
            name="Feed voltage",
        ),
        FormField(
            ("site", "feed_phases"),
            "Phases of the feeds",
            "1 or 3. Default: not stated.",
            Count(3),
            "not stated",
            name="Feed phases",
        ),
        FormField(
            ("site", "floor_kg_per_m2"),
            "Floor load, kg/m²",
            "What the floor carries under a rack. Default: not stated.",
            PlainNumber(100.0, 10_000.0),
            "not stated",
            name="Floor load",
        ),
    ),
)

RESILIENCE: Columns = (
    (
        FormField(
            ("resilience", "keeps_targets_without"),
            "Tolerate the loss of any one",
            "The design meets its targets after the loss of any one of these, one at a time. Default: no redundancy; "
            "the documents show the effect of each loss.",
            MultiSelect({loss: LOSSES[loss] for loss in get_args(Loss)}),
            "none",
        ),
    ),
    (
        FormField(
            ("resilience", "interruptions"),
            "Interruptions of a language model's training",
            "In 1,000 days of a server with 8 GPUs. Default: as published, 4 with a 90 % interval of 2 to 9.",
            PlainNumber(0.01, 1000.0),
            "4",
        ),
    ),
)

CLUSTER_FORMS = (PLATFORMS, LIMITS, EXISTING_RACK, STATED_STORAGE, FABRIC_AND_ROOM, RESILIENCE)
