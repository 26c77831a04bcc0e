"""Which parts can be ordered on a day, by published ends of sale."""

import datetime

from sizer.catalog.loader import shipped_catalog
from sizer.catalog.sale import Sale, of_generation, orderable_on, sale_on

CATALOG = shipped_catalog()


def test_sale_of_dgx_h100_ended_in_january_2025():
    """ "rackula", source 17: end of sale on 25 January 2025."""
    server = CATALOG.servers["dgx-h100"]
    assert sale_on(CATALOG, server, datetime.date(2025, 1, 25)) is Sale.ENDS_LATER
    assert sale_on(CATALOG, server, datetime.date(2025, 1, 26)) is Sale.ENDED
    assert server not in orderable_on(CATALOG, CATALOG.servers.values(), datetime.date(2026, 11, 25))


def test_an_end_that_nobody_published_stays_unknown():
    server = CATALOG.servers["gb200-nvl72"]
    assert sale_on(CATALOG, server, datetime.date(2026, 11, 25)) is Sale.NOT_KNOWN
    assert server in orderable_on(CATALOG, [server], datetime.date(2026, 11, 25))


def test_servers_of_a_generation_take_its_gpus():
    found = {item.id for item in of_generation(CATALOG.servers.values(), "cdna4", dict(CATALOG.gpus))}
    assert found == {"xe9785l", "cisco-c885a-mi350x"}
