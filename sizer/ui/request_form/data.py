"""Fields of the request: data on the storage."""

from sizer.base.quantities import BYTES, BYTES_PER_S, SECONDS
from sizer.ui.request_form.field import (
    Checkbox,
    Columns,
    Count,
    Dropdown,
    FormField,
    MultiSelect,
    PlainNumber,
    Quantity,
)
from sizer.ui.request_form.options import capacity_tiers

INGEST_PATHS = {
    "": "Shortest path of the design",
    "gateway": "Through the gateway",
    "front-end": "Through the storage front end",
    "head-node": "Through the head node",
}
CHECKPOINT_BUFFERS = {"host-memory": "Memory of the servers", "local-drives": "Drives of the servers"}
LEVELS = {"": "Default", "good": "Good", "better": "Better", "best": "Best", "none": "None"}
RESTART_READS = {"shared": "Replicas share what they read", "each-replica": "Each replica for itself"}


STREAMS = {
    "training": "training",
    "checkpoints": "checkpoints",
    "ingest": "new data",
    "snapshots": "copies of snapshots",
}
DATA: Columns = (
    (
        FormField(
            ("data", "ingest"), "Ingest path", "Path by which the data reach the storage.", Dropdown(INGEST_PATHS)
        ),
        FormField(
            ("data", "source_bytes_per_s"),
            "Source rate",
            "Rate at which the customer's archive and its network deliver the data.",
            Quantity(BYTES_PER_S),
            "not given",
        ),
        FormField(
            ("data", "copy_to_local"),
            "Copy to local drives first",
            "Compare a copy on the local drives of each server with reading shared storage in every epoch.",
            Checkbox(),
        ),
    ),
    (
        FormField(
            ("data", "snapshot_share"),
            "Snapshot space, share of the data",
            "0.2 is 20 % of the data.",
            PlainNumber(0.0, 1.0),
            "0",
        ),
        FormField(
            ("data", "reserve_share"),
            "Capacity reserve, share of the data",
            "Free space for future data; 0.5 is 50 % of the data.",
            PlainNumber(0.0, 20.0),
            "0",
        ),
        FormField(
            ("data", "minimum_capacity_bytes"),
            "Minimum usable capacity",
            "The storage has at least this capacity, whatever the data need.",
            Quantity(BYTES),
            "as the data need",
        ),
        FormField(
            ("data", "transform_core_s"),
            "CPU time to transform a sample, core-seconds",
            "Preparation of one sample before training. Default: the time to decode a sample.",
            PlainNumber(1e-9, 1e6),
            "not transformed",
        ),
        FormField(
            ("data", "raw_sample_bytes"),
            "Raw sample size",
            "Size of a sample before it is prepared. The raw data set stays on the storage too.",
            Quantity(BYTES),
            "as prepared",
        ),
    ),
    (
        FormField(
            ("data", "checkpoint_every_s"),
            "Checkpoint interval",
            "Default: none; for a language model the interval that loses the least time.",
            Quantity(SECONDS),
            "none",
        ),
        FormField(("data", "checkpoints_kept"), "Checkpoints retained", "For each training.", Count(), "2"),
        FormField(
            ("data", "checkpoint_bytes_per_parameter"),
            "Checkpoint bytes per parameter",
            "Default: 8, weights and momentum in single precision; 14 for a language model.",
            PlainNumber(1.0, 64.0),
            "8, or 14",
        ),
        FormField(
            ("data", "checkpoint_waits"),
            "Training waits for the checkpoint",
            "Of a language model: until it is written, instead of for its copy into host memory only.",
            Checkbox(),
        ),
        FormField(
            ("data", "checkpoint_buffer"),
            "Checkpoint buffer",
            "Of a language model: where a checkpoint waits while the storage takes it.",
            Dropdown(CHECKPOINT_BUFFERS, "host-memory"),
        ),
        FormField(
            ("data", "restart_reads"),
            "Reads at a restart",
            "Replicas of a language model share what they read, or each reads its weights for itself.",
            Dropdown(RESTART_READS, "shared"),
        ),
    ),
    (
        FormField(
            ("data", "storage_level"),
            "Storage level",
            "Of NVIDIA's DGX SuperPOD: read and write rates by the number of servers. Default: none; for a number of "
            "today's GPUs that of the data, “good” for language models.",
            Dropdown(LEVELS),
        ),
        FormField(
            ("data", "minimum_read_bytes_per_s"),
            "Minimum read rate",
            "The whole storage reads at least this, whatever the workloads need.",
            Quantity(BYTES_PER_S),
            "as the workloads need",
        ),
        FormField(
            ("data", "minimum_write_bytes_per_s"),
            "Minimum write rate",
            "The whole storage writes at least this, whatever the workloads need.",
            Quantity(BYTES_PER_S),
            "as the workloads need",
        ),
        FormField(
            ("data", "daily_ingest_bytes"),
            "New data a day",
            "Written while training goes on.",
            Quantity(BYTES),
            "none",
        ),
        FormField(
            ("data", "daily_snapshot_bytes"),
            "Snapshot data copied a day",
            "Changed data that copies of snapshots read.",
            Quantity(BYTES),
            "none",
        ),
        FormField(
            ("data", "daily_window_s"),
            "Daily window",
            "Time of a day for new data and copies of snapshots.",
            Quantity(SECONDS),
            "all day",
        ),
        FormField(
            ("data", "never_together"),
            "Never at the same time",
            "Two or more of these of which one at a time runs. Default: everything may overlap.",
            MultiSelect(STREAMS),
            "everything may overlap",
        ),
        FormField(
            ("data", "working_set_bytes"),
            "Working set",
            "Data that trainings read for some days. With it two tiers of storage are considered.",
            Quantity(BYTES),
            "one tier",
        ),
        FormField(
            ("data", "staging_s"),
            "Staging time",
            "In which the next working set reaches the fast tier.",
            Quantity(SECONDS),
            "7 d",
        ),
        FormField(
            ("data", "capacity_tier"),
            "Capacity tier",
            "Storage for everything behind the fast tier.",
            Dropdown(capacity_tiers),
        ),
    ),
)
