"""Fields of the request: team and its jobs, growth and the quote."""

from sizer.base.quantities import SECONDS
from sizer.ui.request_form.data import DATA
from sizer.ui.request_form.field import (
    Checkbox,
    Columns,
    Count,
    Dropdown,
    FormField,
    Percentage,
    PlainNumber,
    Quantity,
    Segments,
    Text,
)
from sizer.workload.team import Team, TeamJob

DEFAULT_JOB_DURATION = "8 h"

TEAM: Columns = (
    (
        FormField(
            ("team", "data_scientists"),
            "Data scientists",
            "People who start jobs. Required where jobs are given per person.",
            Count(),
            "not given",
        ),
        FormField(
            ("team", "hours_a_day"),
            "Working hours per day",
            "Jobs are submitted in these hours and also run at night. Default: 10.",
            PlainNumber(0.5, 24.0),
            "10",
        ),
        FormField(("team", "days_a_week"), "Working days per week", "Days on which jobs are submitted.", Count(7), "5"),
    ),
    (
        FormField(
            ("team", "wait_s"),
            "Maximum queue wait",
            "From submission to start. The target applies to each job type separately.",
            Quantity(SECONDS),
            "1 h",
        ),
        FormField(
            ("team", "wait_probability"),
            "Share of jobs within the maximum wait",
            "This share of the jobs of each type starts within the maximum queue wait. Default: 90 %.",
            Percentage((0.5, 0.8, 0.9, 0.95, 0.99), Team.model_fields["wait_probability"].default),
        ),
    ),
    (
        FormField(
            ("team", "order"),
            "Queue order",
            "First come, first served: a large job that does not fit yet blocks all jobs behind it. Backfill: a later "
            "job may start first if it delays no other. Default: first come.",
            Segments({"first-come": "First come, first served", "backfill": "Backfill"}, "first-come"),
        ),
        FormField(
            ("team", "demand_percentile"),
            "Demand percentile",
            "Storage and network are sized for the combined read rate of all running jobs at this percentile of time; "
            "100 % is the peak. Default: 95 %.",
            Percentage((0.5, 0.8, 0.9, 0.95, 0.99, 1.0), Team.model_fields["demand_percentile"].default),
        ),
    ),
)

JOB_WHO = (
    FormField(("team", "job", "name"), "Job name", "Name in pages and documents; must be unique.", Text(), name="Name"),
    FormField(
        ("team", "job", "kind"),
        "Job type",
        "Category of the job. Default: training.",
        Dropdown({"training": "Training", "validation": "Validation", "notebook": "Notebook"}, "training"),
    ),
    FormField(
        ("team", "job", "priority"),
        "Priority",
        "Jobs of a higher priority stand first in the queue; no job that runs is stopped. Default: normal.",
        Dropdown({"high": "High", "normal": "Normal", "low": "Low"}, "normal"),
    ),
)
JOB_SIZE = (
    FormField(
        ("team", "job", "gpus"),
        "GPUs per job",
        "A job larger than one server takes whole servers.",
        Count(),
        "1",
    ),
    FormField(
        ("team", "job", "whole_servers"),
        "Whole servers only",
        "The job takes whole servers even if it uses only some of their GPUs. Default: no.",
        Checkbox(),
        name="Whole servers",
    ),
    FormField(
        ("team", "job", "sessions_per_gpu"),
        "Sessions per GPU",
        "Notebook sessions that take turns on one GPU; for notebooks of one GPU without a workload. "
        "Default: 1, each has its own GPU.",
        Count(16),
        "1",
    ),
)
FREQUENCIES = {
    "jobs_a_day": "Per day, whole team",
    "jobs_a_day_each": "Per day and person",
    "always_running": "Always running",
}
FREQUENCY_FIELDS = {
    "jobs_a_day": FormField(
        ("team", "job", "jobs_a_day"),
        "Jobs per working day",
        "Jobs of this type that the whole team starts per working day, on average. "
        "Default: none; one frequency is required.",
        PlainNumber(0.001, 100_000.0),
    ),
    "jobs_a_day_each": FormField(
        ("team", "job", "jobs_a_day_each"),
        "Jobs per working day",
        "Jobs of this type that one person starts per working day, on average; 0.2 is one per week. "
        "Default: none; one frequency is required.",
        PlainNumber(0.001, 100_000.0),
        name="Jobs per day and person",
    ),
    "always_running": FormField(
        ("team", "job", "always_running"),
        "Jobs always running",
        "Number that runs at any time. Default: none; one frequency is required.",
        Count(),
    ),
}
JOB_WORKLOAD = FormField(
    ("team", "job", "workload"),
    "Workload of the job",
    "Sets what the job reads. If the workload has a training length, it also sets the job duration. "
    "Default: none; the job then reads nothing.",
    Dropdown({}),
)
JOB_DURATION = FormField(
    ("team", "job", "duration_s"),
    "Job duration",
    "Mean time from start to end. Default: that of the workload.",
    Quantity(SECONDS),
)
JOB_LENGTHS = (
    FormField(
        ("team", "job", "durations"),
        "Duration distribution",
        "Exponential: many short jobs and few long ones around the mean. Default: exponential.",
        Dropdown(
            {"exponential": "Exponential", "fixed": "All the same"},
            TeamJob.model_fields["durations"].default,
        ),
    ),
    FormField(
        ("team", "job", "wait_s"),
        "Maximum queue wait of this job",
        "Default: that of the team.",
        Quantity(SECONDS),
        "as the team",
        name="Maximum queue wait",
    ),
)

_FACTOR = PlainNumber(0.1, 20.0)
GROWTH_PERIOD: Columns = (
    (FormField(("growth", "years"), "Years", "Year 1 is the request as it is.", Count(10, 2), "3"),),
    (
        FormField(
            ("growth", "save"),
            "Minimize",
            "What the purchase plan minimizes over the years.",
            Dropdown({"cost": "Cost", "watts": "Energy"}, "cost"),
        ),
    ),
)
GROWTH_FACTORS = (
    FormField(
        ("growth", "data"),
        "Data, yearly factor",
        "Samples of every data set compared with the year before; 2 doubles them.",
        _FACTOR,
        "1",
        "Data",
    ),
    FormField(
        ("growth", "sample_size"),
        "Sample size, yearly factor",
        "Stored size of a sample, for example larger images.",
        _FACTOR,
        "1",
        "Sample size",
    ),
    FormField(
        ("growth", "dnn_size"),
        "Neural networks, yearly factor",
        "Operations and parameters of every network; the GPU efficiency stays the same.",
        _FACTOR,
        "1",
        "Neural networks",
    ),
    FormField(
        ("growth", "target"),
        "Targets, yearly factor",
        "Rates and numbers of fully utilized GPUs; a time to train is divided by it.",
        _FACTOR,
        "1",
        "Targets",
    ),
    FormField(
        ("growth", "team"),
        "Team, yearly factor",
        "Jobs per day, and jobs that always run.",
        _FACTOR,
        "1",
        "Team",
    ),
    FormField(
        ("growth", "price"),
        "Prices, yearly factor",
        "Of everything that is bought: 0.9 is 10 % less each year. At least one other factor must differ from 1.",
        _FACTOR,
        "1",
        "Prices",
    ),
)

QUOTE_TEXTS = (
    FormField(("quote", "number"), "Quote number", "As your company numbers its quotes.", Text()),
    FormField(("quote", "revision"), "Revision", "Also part of the file names.", Text()),
    FormField(("quote", "prepared_by"), "Prepared by", "Person or team.", Text()),
)
# Typed as text, so that a wrong entry can be named as it was typed.
QUOTE_TERMS = (
    FormField(
        ("quote", "valid_days"),
        "Validity, days",
        "From 1 to 365. 30 is usual; 14 where memory or GPUs drive the prices.",
        Text(6),
        "30",
        "Validity",
    ),
    FormField(
        ("quote", "discount_percent"),
        "Deal discount, %",
        "From 0 to 100, on the sum of the net prices after line discounts.",
        Text(8),
        "0",
        "Discount",
    ),
)

JOB_FIELDS = (*JOB_WHO, *JOB_SIZE, *FREQUENCY_FIELDS.values(), JOB_WORKLOAD, JOB_DURATION, *JOB_LENGTHS)
USAGE_FORMS = (
    TEAM,
    (JOB_FIELDS,),
    DATA,
    GROWTH_PERIOD,
    (GROWTH_FACTORS,),
    (QUOTE_TEXTS, QUOTE_TERMS),
)
