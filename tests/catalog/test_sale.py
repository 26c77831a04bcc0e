"""Which parts can be ordered on a day, by published ends of sale."""

import datetime

from sizer.catalog.loader import shipped_catalog
from sizer.catalog.sale import Sale, of_generation, orderable_on, sale_on, usable_gpus

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


def test_which_gpus_can_be_ordered_follows_from_their_dates_and_successors():
    """Ends by the generation after the successor: Turing by Hopper, Ampere by Blackwell, CDNA 2 by CDNA 4.

    Rubin and MI455X were announced for the second half of 2026; H800 and H20 were made for a market that is closed.
    """
    day = datetime.date(2026, 11, 28)
    ended = {name for name in CATALOG.gpus if sale_on(CATALOG, CATALOG.gpus[name], day) is Sale.ENDED}
    assert ended >= {"t4-16gb", "a10-24gb", "a30-24gb", "a40-48gb", "rtx-a6000-48gb", "mi250x-128gb"}
    assert ended >= {"h800-sxm-80gb", "h20-sxm-96gb"}
    assert not ended & {"gh200-96gb", "gh200-144gb", "l4-24gb", "l40-48gb", "rtx-6000-ada-48gb", "mi300a-128gb"}
    for name in ("rubin-288gb", "mi455x-432gb"):
        assert sale_on(CATALOG, CATALOG.gpus[name], day) is Sale.NOT_YET
    assert sale_on(CATALOG, CATALOG.servers["r750xa"], day) is Sale.ENDED


def test_no_server_takes_what_is_announced_or_has_no_published_rates():
    assert not {"rubin-288gb", "mi455x-432gb", "gaudi3-128gb"} & set(usable_gpus(CATALOG))
    assert {"mi250x-128gb", "t4-16gb", "gh200-96gb"} <= set(usable_gpus(CATALOG))
