"""Goodput of a job as plain text."""

from sizer.base.quantities import duration, grouped, significant
from sizer.questions.failures.goodput import GoodputAnswer


def goodput_text(found: GoodputAnswer) -> str:
    """The plan in sentences, and a table of write rates."""
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
        lines.append(f"spare servers       {found.spare_servers}: one is free at 99 % of all failures")
    lines += ["", f"{'write GB/s':>12} {'goodput':>8} {'interval':>10} {'GPU-hours a week':>17}"]
    for one in found.others:
        gained = f"{one.gpu_hours_per_week:+,.0f}".replace(",", " ")
        lines.append(
            f"{significant(one.write_bytes_per_s / 1e9):>12} {one.goodput:8.1%} {duration(one.interval_s):>10} "
            f"{gained if one.gpu_hours_per_week else 'as asked':>17}"
        )
    return "\n".join(lines)
