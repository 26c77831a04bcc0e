"""Words that a reader of sentences may take for others: whose they are, and what a quantity is a quantity of."""

import pytest

from sizer.catalog.items import is_of_vendor
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog


def platforms(words: str) -> dict[str, object]:
    reading = read_sentence(f"ResNet-50 at 20,000 images/s on H100, {words}", catalog())
    assert reading.is_complete, reading.question
    return reading.request["platforms"]


@pytest.mark.parametrize(
    ("words", "preferred", "excluded"),
    [
        ("no AMD, Lenovo preferred", ["Lenovo"], []),
        ("without Supermicro, Dell or HPE preferred", ["Dell", "HPE"], ["Supermicro"]),
        ("no Supermicro or HPE, Dell if possible", ["Dell"], ["Supermicro", "HPE"]),
        ("not Dell, HPE or Lenovo", [], ["Dell", "HPE", "Lenovo"]),
        ("no AMD or HPE", [], ["HPE"]),
        ("not HPE, rather Lenovo", ["Lenovo"], ["HPE"]),
        ("rather Dell than Lenovo", ["Dell"], []),
        ("Dell preferably, but not Lenovo", ["Dell"], ["Lenovo"]),
        ("HPE is out of the question, Dell is preferred", ["Dell"], ["HPE"]),
        ("kein Lenovo, HPE bevorzugt", ["HPE"], ["Lenovo"]),
    ],
)
def test_an_exclusion_ends_at_its_own_vendors(words, preferred, excluded):
    found = platforms(words)
    servers = catalog().servers
    assert found.get("prefer_vendors", []) == preferred
    told = {
        name
        for name in ("Dell", "HPE", "Lenovo", "Supermicro")
        for key in found.get("forbidden_servers", ())
        if is_of_vendor(servers[key].vendor, name)
    }
    assert told == set(excluded)
    assert found["gpus"] == ["h100-sxm-80gb"]
