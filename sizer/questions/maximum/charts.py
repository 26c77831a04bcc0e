"""The front of one limit as a chart."""

from sizer.catalog.labels import sample_unit
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import QUIET_OPACITY, Chart, ChartBar, bar_chart
from sizer.present.theme import LIGHT, Palette
from sizer.questions.maximum.tables import (
    LIMIT_NAMES,
    amount_text,
    front_steps,
    percent_more,
    point_name,
    rate_text,
)
from sizer.sizing.limits import SizeLimit
from sizer.sizing.maximum_result import LimitFront
from sizer.sizing.result import SizingResult

_NAME_PX = 250


def front_chart(
    front: LimitFront,
    result: SizingResult,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    *,
    with_amounts: bool = False,
) -> Chart | None:
    """Rate of the designs on the front of a limit, in the order of what they take; pale beyond the limit.

    Parameters
    ----------
    front : LimitFront
    result : SizingResult
        With that front.
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.
    with_amounts : bool
        Whether to state costs, which rest on price ranges: customers' documents do not.

    Returns
    -------
    Chart or None
        None below two designs.
    """
    maximum = result.maximum
    assert maximum is not None  # a front belongs to one
    if len(front.points) < 2:
        return None
    unit = sample_unit(result.design.workloads[maximum.workload].dnn)
    bars = []
    for step in front_steps(front, maximum):
        amount = step.point.amount(front.limit)
        is_told = amount is not None and (with_amounts or front.limit is not SizeLimit.BUDGET)
        taken = amount_text(front.limit, amount, result.request.currency) if is_told and amount is not None else ""
        rate = rate_text(step.point.samples_per_s, unit)
        bars.append(
            ChartBar(
                name=point_name(step.point),
                end=step.point.samples_per_s,
                text=f"{rate} · {taken}" if taken else rate,
                colour=palette.accent if step.is_described else palette.other,
                fill=1.0 if step.is_within else QUIET_OPACITY,
            )
        )
    return bar_chart(bars, front_finding(front, result), f"rate, {unit}", palette, width, name_px=_NAME_PX)


def front_finding(front: LimitFront, result: SizingResult) -> str:
    """Title of the chart: what the limit gives, and what the next step brings."""
    maximum = result.maximum
    assert maximum is not None  # a front belongs to one
    unit = sample_unit(result.design.workloads[maximum.workload].dnn)
    bound = amount_text(front.limit, front.bound, result.request.currency, is_exact=True)
    text = f"{bound} gives {rate_text(maximum.samples_per_s, unit)}"
    if front.following is None:
        return f"{text}; a higher limit of {LIMIT_NAMES[front.limit]} alone brings nothing"
    return (
        f"{text}; the next step brings {percent_more(front.following.samples_per_s, maximum.design.samples_per_s)} more"
    )
