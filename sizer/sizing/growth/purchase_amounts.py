"""What purchases cost by the prices that rank designs: known prices, and price bands where there is none."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats
from sizer.bom.unit_prices import UnitPrices
from sizer.physical.platform import Platform

# Decimals that prices of a piece, and shares of support, are rounded to before they are added up. Sums over the same
# pieces are then the same whole number of units, whatever the order of the purchases: ties are ties.
_PRICE_DECIMALS, _SHARE_DECIMALS = 2, 4
UNITS_PER_CURRENCY = 10 ** (_PRICE_DECIMALS + _SHARE_DECIMALS)


@dataclass(frozen=True)
class PurchaseAmounts:
    """Prices of the items of one platform. Arrays over the heights of ``prices``."""

    prices: UnitPrices
    unit: Mapping[str, Floats]  # of one piece; of support that costs a percentage its share
    supported: Mapping[str, frozenset[str]]  # support that costs a percentage -> items that it is for

    @classmethod
    def of(cls, items: tuple[str, ...], platform: Platform, prices: UnitPrices) -> "PurchaseAmounts":
        """Prices of some items as a platform uses them."""
        shares = {item for item in items if prices.is_percentage(item)}
        plain = [item for item in items if item not in shares]
        return cls(
            prices,
            {
                item: np.round(prices.of(item, platform), _SHARE_DECIMALS if item in shares else _PRICE_DECIMALS)
                for item in items
            },
            {share: frozenset(item for item in plain if prices.supports(share, item)) for share in shares},
        )

    @property
    def are_bounded(self) -> bool:
        """Whether every item has a price or a band."""
        return all(bool(np.isfinite(amount).all()) for amount in self.unit.values())

    def by_item(self, bought: Mapping[str, int]) -> dict[str, Floats]:
        """Item -> cost of what is bought of it. Support of a percentage is that share of what is bought with it."""
        found = {item: count * self.unit[item] for item, count in bought.items() if item not in self.supported}
        nothing = np.zeros(self.prices.heights.size)
        for item in bought:
            if item in self.supported:
                base = [amount for name, amount in found.items() if name in self.supported[item]]
                found[item] = self.unit[item] * np.sum(base, axis=0) if base else nothing
        return found

    def total(self, bought: Mapping[str, int]) -> Floats:
        """Cost of all that is bought."""
        amounts = list(self.by_item(bought).values())
        return np.asarray(np.sum(amounts, axis=0)) if amounts else np.zeros(self.prices.heights.size)
