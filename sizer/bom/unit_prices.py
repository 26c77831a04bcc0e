"""What one piece costs: exactly where a price is known, else between the two ends of a price band.

A *height* says where in its band an unknown price lies: 0 is the low end, 1 the high end.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sizer.base import units
from sizer.base.arrays import Floats
from sizer.bom.lines import is_free
from sizer.bom.prices import PriceBook
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import PriceBand
from sizer.catalog.schema import Gateway, MemoryOption, Server, Support, Switch
from sizer.physical.capacity import counts_nodes
from sizer.physical.platform import Platform

# Ratio of the ends of a band beyond which its lower part is stretched: a band from 0 has a middle, too.
_WIDEST_RATIO = 20.0
# What no source gives the capacity of: raw TB of one unit, that of a chassis of 60 drives of 1.6 TB.
_UNKNOWN_RAW_TB = 96.0
# Of the band of a server with all its GPUs, the least that a chassis with fewer costs.
_CHASSIS_FRACTION = 0.25
# Of the high end of a band by the terabyte, the share of the chassis with its smallest drives (assumed).
_CHASSIS_OF_SMALLEST = 0.5
# Prices that are remembered: several times those of a catalogue. Drives of storage that requests describe may be many.
_MOST_FOUND = 8192
# Row of the bands by the terabyte for drives in a server.
_DRIVES = "NVMe SSD"
# Folders whose parts never decide between designs, so that their prices, known or not, leave the order as it is.
SMALL = ("cables", "accessories")


def amount_at(low: float, high: float, heights: Floats) -> Floats:
    """Amount in a band at some heights.

    ``low``, ``high``: ends of the band, 0 <= low <= high [any currency]. ``heights`` (heights,): 0 at the low end, 1 at
    the high end. Returns (heights,): amounts, ``low`` at 0 and ``high`` at 1 [currency of the band].

    p(u) = low + (high - low) (r^u - 1)/(r - 1) with r = min(high/low, 20). Up to a ratio of 20 this is low r^u: a price
    is as likely to be off by a factor upwards as downwards, and its median is the geometric mean. From 0 a factor means
    nothing; there the same curve starts at the low end itself.

    Examples
    --------
    >>> amount_at(84_000, 190_000, np.array([0.0, 0.5, 1.0])).round()   # sqrt(84 * 190) = 126.3
    array([ 84000., 126333., 190000.])
    """
    if high <= low:
        return np.full(heights.shape, float(low))
    ratio = min(high / low, _WIDEST_RATIO) if low > 0 else _WIDEST_RATIO
    return np.asarray(low + (high - low) * (ratio**heights - 1) / (ratio - 1))


class UnitPrices:
    """Prices of one piece at some heights of the bands.

    ``catalog``: parts and bands. ``book``: known prices: a price book's, then those of published sources. They go
    before bands. ``currency``: ISO 4217 of the known prices that count. ``heights``: where in their bands unknown
    prices lie. ``bands_only``: folders of the catalogue whose known prices are left aside.
    """

    def __init__(
        self,
        catalog: Catalog,
        book: PriceBook,
        currency: str,
        heights: Sequence[float],
        bands_only: Sequence[str] = (),
    ) -> None:
        self.heights = np.asarray(heights, dtype=float)
        self.catalog, self.book, self.currency = catalog, book, currency
        self._bands_only = frozenset(bands_only)
        # Where nobody says what a unit is worth, bands fill in for small parts only, and at par.
        self._per_usd = book.per_usd(currency) or 1.0
        self._found: dict[tuple[str, int, str, float, float], Floats] = {}
        self._fitted: dict[PriceBook, UnitPrices] = {}
        self._known: dict[str, bool] = {}
        self._percentages: dict[str, bool] = {}
        self._supported: dict[tuple[str, str], bool] = {}

    def fitted(self, platform: Platform) -> "UnitPrices":
        """The same with the book for a platform's designs: the same object where no price names their GPUs."""
        book = self.book.fitted(platform)
        if book is self.book:
            return self
        if book not in self._fitted:
            heights = self.heights.tolist()
            self._fitted[book] = UnitPrices(self.catalog, book, self.currency, heights, tuple(self._bands_only))
        return self._fitted[book]

    def is_known(self, item_id: str) -> bool:
        """Whether a part has a price, not a band, or is free by its source."""
        known = self._known.get(item_id)
        if known is None:
            part, folder = self.catalog.item(item_id), self.catalog.category_of(item_id)
            is_priced = folder not in self._bands_only and self.book.net(item_id, self.currency) is not None
            known = self._known[item_id] = is_free(part) or is_priced
        return known

    def is_percentage(self, item_id: str) -> bool:
        """Whether a part costs a share of what it supports, so that it has no price of its own."""
        is_share = self._percentages.get(item_id)
        if is_share is None:
            band = self.catalog.bands.band(self.catalog.category_of(item_id), item_id)
            is_share = not self.is_known(item_id) and band is not None and band.unit.startswith("percent")
            self._percentages[item_id] = is_share
        return is_share

    def supports(self, support_id: str, item_id: str) -> bool:
        """Whether a support item is for a part."""
        key = (support_id, item_id)
        if key not in self._supported:
            names: Sequence[str] = getattr(self.catalog.item(support_id), "applies_to", ())
            vendor, folder = self.catalog.item(item_id).vendor, self.catalog.category_of(item_id)
            is_meant = any(name in names for name in (item_id, vendor, "any", "cluster"))
            self._supported[key] = folder not in ("software", "support") and is_meant
        return self._supported[key]

    def is_yearly(self, item_id: str) -> bool:
        """Whether the band of a part is that of one year, so that it is paid again every year."""
        band = self.catalog.bands.band(self.catalog.category_of(item_id), item_id)
        return band is not None and band.unit.endswith("year")

    def band_date(self, item_id: str) -> str:
        """Year of the band of a part; "" without one."""
        band = self.catalog.bands.band(self.catalog.category_of(item_id), item_id) if item_id else None
        return "" if band is None else band.date

    def of(self, item_id: str, platform: Platform) -> Floats:
        """Price of one piece as a platform uses it, shape (heights,); inf where there is neither price nor band.

        A part that costs a percentage gives the share, for one year where it is paid by the year.
        """
        if (own := self.fitted(platform)) is not self:
            return own.of(item_id, platform)
        if (tier := platform.second_tier) is not None and tier.storage is not None and item_id == tier.storage.id:
            platform = replace(platform, storage=tier.storage, capacity_option=tier.capacity_option)
        key = _, gpus, gpu, raw_tb, least_tb = piece_of(item_id, platform)
        known = self._found.get(key)
        if known is None:
            price = self._price(item_id, raw_tb, least_tb, gpus, gpu)
            if _is_storage_server(item_id, platform) and not self.is_known(item_id):
                # The band of the server holds its smallest drives; that of the storage goes by the terabyte.
                price = np.maximum(price, self._price(platform.storage.id, raw_tb, least_tb))
            if len(self._found) >= _MOST_FOUND:
                self._found.clear()
            known = self._found[key] = price
        return known

    def of_share(self, item_id: str) -> Floats:
        """Share of what it supports that a part costs, shape (heights,)."""
        return self._price(item_id, 0.0, 0.0)

    @staticmethod
    def raw_tb(platform: Platform) -> float:
        """Raw terabytes of one unit of a platform's storage: what a line of its bill counts."""
        storage = platform.storage
        if not storage.capacity_options or not counts_nodes(storage):
            return _UNKNOWN_RAW_TB
        return storage.capacity_options[platform.capacity_option].raw_bytes.value / 1e12

    def _price(self, item_id: str, raw_tb: float, least_tb: float, gpus: int = 0, gpu: str = "") -> Floats:
        folder, part = self.catalog.category_of(item_id), self.catalog.item(item_id)
        if self.is_known(item_id):
            net = None if is_free(part) else self.book.net(item_id, self.currency)
            return np.full(self.heights.shape, 0.0 if net is None else float(net))
        band = self.catalog.bands.band(folder, item_id, gpu)
        if band is None:
            # Unknown without bounds: it cannot win, and it cannot be shown to keep a budget.
            return np.where(self.heights > 0, np.inf, 0.0)
        if band.unit == "raw-terabyte" and folder == "storage":
            # The chassis costs the same whatever drives it holds, so that a terabyte costs less in larger ones.
            share = 1 - _CHASSIS_OF_SMALLEST + _CHASSIS_OF_SMALLEST * least_tb / raw_tb
            return self._per_usd * raw_tb * amount_at(band.low, max(band.high * share, band.low), self.heights)
        each = amount_at(band.low, band.high, self.heights)
        if band.currency:  # a percentage has none
            each = self._per_usd * each
        match part:
            case Server():
                return self._server(part, band, each, gpus, gpu, raw_tb)
            case MemoryOption() if band.unit == "gigabyte":
                standard = self.catalog.servers[part.server].memory_bytes
                return each * ((part.memory_bytes.value - (0.0 if standard is None else standard.value)) / units.GIB)
            case Switch() | Gateway() if band.unit == "port":
                return each * sum(port.count for port in part.ports)
            case Support() if band.unit.startswith("percent"):
                return each / 100
        return each

    def _server(self, server: Server, band: PriceBand, each: Floats, gpus: int, gpu: str, held_tb: float) -> Floats:
        if held_tb and has_boot_drives_only(band):
            drives = self.catalog.bands.band("storage", _DRIVES)
            assert drives is not None  # the row of the category stands for it
            each = each + self._per_usd * held_tb * amount_at(drives.low, drives.high, self.heights)
        card = self.catalog.bands.band("gpus", gpu) if gpus else None
        if card is None:
            return each
        cards = self._per_usd * amount_at(card.low, card.high, self.heights)
        if band.unit == "server-without-gpus":
            return each + gpus * cards
        most = max([gpus, *server.n_gpus_choices, server.n_gpus.value if server.n_gpus is not None else 0])
        return np.maximum(each - (most - gpus) * cards, each * _CHASSIS_FRACTION)


def has_boot_drives_only(band: PriceBand | None) -> bool:
    """Whether a server costs what its band says without drives for data."""
    return band is not None and band.unit == "server-without-gpus"


def unit_prices(
    catalog: Catalog, book: PriceBook, currency: str, heights: Sequence[float], bands_only: Sequence[str] = ()
) -> UnitPrices:
    """Prices at some heights, the same object for the same question; arguments as of :class:`UnitPrices`."""
    return _unit_prices(catalog, book, currency, tuple(heights), tuple(bands_only))


@lru_cache(maxsize=32)  # requests of a batch ask for a few confidences
def _unit_prices(
    catalog: Catalog, book: PriceBook, currency: str, heights: tuple[float, ...], bands_only: tuple[str, ...]
) -> UnitPrices:
    return UnitPrices(catalog, book, currency, heights, bands_only)


def piece_of(item_id: str, platform: Platform) -> tuple[str, int, str, float, float]:
    """What the price of a part depends on as a platform uses it: its id, GPUs and their kind, raw and least raw TB."""
    gpus, gpu = (platform.gpus_per_server, platform.gpu.id) if item_id == platform.server.id else (0, "")
    holds_data = item_id == platform.storage.id or _is_storage_server(item_id, platform)
    raw_tb = UnitPrices.raw_tb(platform) if holds_data else platform.stored_bytes / 1e12 if gpus else 0.0
    return item_id, gpus, gpu, raw_tb, _least_raw_tb(platform) if holds_data else 0.0


def _least_raw_tb(platform: Platform) -> float:
    """Raw terabytes of one unit with the smallest drives that it is sold with."""
    storage = platform.storage
    if not storage.capacity_options or not counts_nodes(storage):
        return _UNKNOWN_RAW_TB
    return min(option.raw_bytes.value for option in storage.capacity_options) / 1e12


def _is_storage_server(item_id: str, platform: Platform) -> bool:
    return platform.storage_server is not None and item_id == platform.storage_server.id
