"""Changes of the request are listed in the words and units of people."""

from sizer.ui import changes


def words(before: object, now: object, field: str) -> tuple[str, str]:
    change = changes.RequestChange(("limits", field), before, now)
    return changes.words_of(change, before), changes.words_of(change, now)


def test_numbers_have_units_and_links_their_names():
    assert words(8380.0, 12e3, "power_w") == ("8.380\u202fkW", "12.00\u202fkW")
    assert words(["edr"], ["100gbe"], "fabrics")[0] == "EDR InfiniBand"
    assert words(None, "22.2 TB", "dataset_bytes") == ("default", "22.2 TB")
    assert words(0.5, 0.9, "confidence") == ("50\u202f%", "90\u202f%")
    assert words(52274.0, "40000 images/s", "samples_per_s")[0] == "52\u202f270 samples/s"


def test_rates_and_large_counts_read_as_people_write_them():
    assert words(None, 5e5, "tokens_per_s")[1] == "500\u202f000 tokens/s"
    assert words(None, 12.5e9, "source_bytes_per_s")[1] == "12.50\u202fGB/s"
    assert words(1e11, 2.5e12, "tokens") == ("100 billion tokens", "2.50 trillion tokens")
    assert words(3.4e9, 1, "n_samples") == ("3\u202f400\u202f000\u202f000", "1")
    assert changes.RequestChange(("workload", 0, "sequence_tokens"), 1, 2).label == "Sequence"
