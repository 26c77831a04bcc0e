"""Words that a reader of sentences may take for others: whose they are, and what a quantity is a quantity of."""

import pytest

from sizer.catalog.vendors import is_of_vendor
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
    told = {name for name in ("Dell", "HPE", "Lenovo", "Supermicro") for key in found.get("forbidden_servers", ())
            if is_of_vendor(servers[key].vendor, name)}  # fmt: skip
    assert told == set(excluded)
    assert found["gpus"] == ["h100-sxm-80gb"]


def value(request: dict, path: str) -> object:
    """A value of a request by its path; None where it is not there."""
    found: object = {**request, "w": request.get("workload", [{}])[0]}
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


TIME = "w.target.time_to_train_s"


@pytest.mark.parametrize(
    ("sentence", "path", "expected", "unread"),
    [
        # hours of recordings are data, hours of work are time
        ("RNN-T on 4,500 hours of call recordings within 6 days", TIME, "6 d", "4,500 hours of call"),
        ("ResNet-50 from 80 h of dashcam footage, done in 1 day", TIME, "1 d", "80 h of dashcam"),
        ("RNN-T on 900 hours of speech", "w.target", None, "900 hours of speech"),
        ("RetinaNet in 20 hours of training", TIME, "20 h", None),
        # a number of things is no money
        ("ResNet-50 at 9,000 images/s for 3 million parcels", "limits", None, "million"),
        ("ResNet-50 at 9,000 images/s within 2 million", "limits.budget", 2e6, None),
        ("ResNet-50 at 9,000 images/s for 400k in two racks", "limits.budget", 4e5, None),
        # a size for each period is no size of a sample or of the set
        ("ResNet-50 at 9,000 images/s on 40 TB, plus 2 TB per month", "w.sample_bytes", None, "2 TB per month"),
        ("ResNet-50 at 9,000 images/s, 500 GB of new data every day", "w.dataset_bytes", None, "500 GB of new"),
        ("ResNet-50 at 9,000 images/s, 120 kB per image", "w.sample_bytes", "120 kB", None),
        ("ResNet-50 at 9,000 images/s, 30 TB, 150 kB pro Bild", "w.sample_bytes", "150 kB", None),
        # so many in each rack are no limit of the cluster
        ("Llama 3 8B on 32 H100, four nodes in each rack", "limits", None, "four nodes in each rack"),
        ("Llama 3 8B on 32 H100, at most three servers", "limits.servers", 3, None),
        # points of an image, and versions, are no parts
        ("ResNet-50 at 900 images/s of 1024x1024", "platforms", None, "1024x1024"),
        ("3D U-Net at 9 volumes/s, patches of 96x96x96", "platforms", None, "96x96x96"),
        ("ResNet-50 v3 at 900 images/s", "platforms", None, "v3"),
        ("ResNet-50 at 900 images/s on 2 x 8 V100", "platforms.gpus", True, None),
        # a fabric that is the only one, and one that is excluded
        ("ResNet-50 at 9,000 images/s, we can only use 40 GbE", "platforms.fabrics", ["40gbe"], None),
        ("ResNet-50 at 9,000 images/s, no InfiniBand, 25 GbE", "platforms.fabrics", ["25gbe"], None),
        ("ResNet-50 at 9,000 images/s, filer on 40 GbE", "platforms", None, "on 40 GbE"),
    ],
)
def test_a_quantity_is_of_what_it_counts_or_is_told_as_not_understood(sentence, path, expected, unread):
    reading = read_sentence(sentence, catalog())
    found = value(reading.request, path)
    assert bool(found) is True if expected is True else found == expected
    assert unread is None or any(unread in words for words in reading.unread), reading.unread


@pytest.mark.parametrize(
    ("words", "currency", "rate"),
    [
        ("within EUR 70k, 1 EUR = 1.12 USD", "EUR", 1.12),
        ("budget of 70,000 pounds at 1.31 dollars per pound", "GBP", 1.31),
        ("for 9 million yen (JPY/USD 0.0066)", "JPY", 0.0066),
        ("at most CHF 70,000, one franc is $1.2", "CHF", 1.2),
    ],
)
def test_an_exchange_rate_is_no_second_budget(words, currency, rate):
    reading = read_sentence(f"ResNet-50 at 900 images/s {words}", catalog())
    assert reading.is_complete, reading.question
    assert (reading.request["currency"], reading.request["exchange_rate_usd"]) == (currency, rate)
    assert reading.request["limits"]["budget"] > 1000


@pytest.mark.parametrize(
    ("sentence", "about", "words"),
    [
        ("a recommender at 2 million samples/s", "network", "recommender"),
        ("click prediction with 900 GB of embedding tables, 2M samples/s", "refused", "900 GB of embedding tables"),
        ("DLRM-DCNv2, embeddings take 3 TB, 2M samples/s", "refused", "3 TB"),
        ("Llama 3 8B on 72 Vera Rubin in 9 days, 1T tokens", "unavailable", "Vera Rubin"),
        ("OpenFold in a week on 64 H100", "unavailable", "OpenFold"),
        ("ResNet-50 at 900 images/s, only 50 GbE", "unavailable", "50 GbE"),
        ("ResNet-50 at 900 images/s for at most 90,000 CHF", "currency", "90,000 CHF"),
    ],
)
def test_what_decides_the_design_and_cannot_be_said_is_asked(sentence, about, words):
    question = read_sentence(sentence, catalog()).question
    assert (question.about, question.words) == (about, words)
