"""Goodput of a job as plain text."""

from sizer.base.quantities import duration, grouped, si, significant
from sizer.present.availability import share_text
from sizer.present.plain_table import table_text
from sizer.present.tables import Field, Table, record_table
from sizer.questions.failures.goodput import GoodputAnswer, OtherWriteRate


def goodput_text(found: GoodputAnswer) -> str:
    """The plan in lines, and a table of write rates."""
    asked, plan = found.question, found.plan
    how = "while training goes on" if asked.copy_s is not None else "while training waits"
    best = "best interval" if asked.interval_s is None else "interval"
    share, low, high = plan.goodput
    lines = [
        f"{grouped(asked.gpus)} GPUs, {significant(asked.parameters / 1e9)} G parameters: checkpoints of "
        f"{significant(plan.checkpoint_bytes / 1e12)} TB, written {how} in {duration(plan.write_s)}",
        f"interruptions       {significant(plan.interruptions_per_day)} a day, one every {duration(plan.between_s[0])} "
        f"({duration(plan.between_s[2])} to {duration(plan.between_s[1])})",
        f"{best:19} {duration(plan.interval_s)}; training stops for {duration(plan.blocked_s)} each time",
        f"restart             {duration(plan.restart_s)}, of which loading {duration(plan.load_s)}",
        f"goodput             {share:.1%} (90 % interval {low:.1%} to {high:.1%})",
        f"lost                {significant(plan.lost_hours_per_week)} h a week, "
        f"{grouped(round(plan.lost_hours_per_week * asked.gpus))} GPU-hours",
        f"storage writes      {plan.write_share:.0%} of the time",
        f"published level     {found.level or 'below good'} (NVIDIA DGX SuperPOD, storage by number of servers)",
    ]
    if found.spare_servers is not None:
        lines.append(f"spare servers       {found.spare_servers}: the job has all its servers 99 % of the time")
    return "\n".join([*lines, "", table_text(write_rates_table(found))])


def write_rates_table(found: GoodputAnswer) -> Table:
    """Goodput at other write rates of the storage."""

    def gained(one: OtherWriteRate) -> str:
        if one.write_bytes_per_s == found.question.write_bytes_per_s:
            return "as asked"
        hours = round(one.gpu_hours_per_week)
        sign = "+" if hours > 0 else "\u2212" if hours < 0 else ""
        return f"{sign}{grouped(abs(hours))}"

    return record_table(
        "write-rates",
        "Other write rates of the storage",
        found.others,
        [
            Field("Write rate", lambda one: si(one.write_bytes_per_s, "B/s"), "right", 25),
            Field("Checkpoint interval", lambda one: duration(one.interval_s), "right", 25),
            Field("Goodput", lambda one: share_text(one.goodput), "right", 20),
            Field("GPU-hours a week", gained, "right", 30),
        ],
    )
