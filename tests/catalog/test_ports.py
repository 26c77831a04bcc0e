"""Which links a port runs: those of its file, and slower ones where it is one of an adapter."""

from sizer.catalog.links import LinkType
from sizer.catalog.schema import Port
from tests.factories.examples import catalog

WHERE = {"basis": "assumed", "source": "assumption", "where": ""}


def port(kind: LinkType, use: str) -> Port:
    return Port.model_validate({"kind": kind, "count": 1, "use": use, **WHERE})


def test_slower_links_run_on_ports_of_adapters_alone():
    links = catalog().links
    kind = next(link for link in links.values() if link.adapter_links is not None and link.adapter_links.value)
    slower = links[kind.adapter_links.value[0]]
    assert port(kind, "compute").runs(slower)
    assert port(kind, "storage-network").runs(slower)
    assert not port(kind, "any").runs(slower)  # of a switch or of storage: its file says which it runs
    assert port(kind, "any").runs(kind)
