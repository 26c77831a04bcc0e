"""Chart of compared designs: what each costs, as a range."""

import math
from collections.abc import Sequence

from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.present.charting import Chart, ChartBar, bar_chart, money_unit
from sizer.present.text.money import price_range_text
from sizer.questions.compare.designs import Compared


def price_chart(
    designs: Sequence[Compared], baseline: int, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Expected price of each design with its range; None where a price is missing or they are in several currencies."""
    costs = [one.result.design.cost for one in designs]
    known = [cost for cost in costs if cost is not None and math.isfinite(cost.high)]
    if len(known) < len(designs) or len({cost.currency for cost in known}) > 1:
        return None
    unit, name = money_unit(max(cost.high for cost in known), known[0].currency)
    bars = [
        ChartBar(
            one.name,
            cost.expected / unit,
            price_range_text(one.result.design),
            palette.accent if place == baseline else palette.other,
            interval=(cost.low / unit, cost.high / unit),
            fill=0.35,
        )
        for place, (one, cost) in enumerate(zip(designs, known, strict=True))
    ]
    least = min(zip(known, designs, strict=True), key=lambda pair: pair[0].expected)
    others = [cost for cost in known if cost is not least[0]]
    finding = f"{least[1].name} is expected to cost least"
    if any(cost.low < least[0].high for cost in others):
        finding += "; the ranges overlap"
    return bar_chart(bars, finding, f"price, {name}", palette, width)
