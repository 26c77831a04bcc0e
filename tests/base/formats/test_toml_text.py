"""Plain data as TOML text: the standard library's parser reads back the same data."""

import tomllib
from datetime import date

import pytest

from sizer.base.formats.toml_text import to_toml


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": 0.1, "c": True, "d": date(2026, 11, 22), "e": [], "f": {}},
        {"text": 'quotes " and \\, lines\nand\ttabs, delete \x7f, letters Zürich 東京', "key with blanks": 1, "": 2},
        {
            "workload": [{"dnn": "resnet50", "target": {"samples_per_s": 12000.0}}, {"dnn": "bert"}],
            "limits": {"w": 1e30},
        },
        {"a": {"b": {"c": {"d": [1, 2], "e": [{"f": 1}, {"g": [[1], [2]]}]}}}},
    ],
)
def test_the_text_of_data_is_read_as_the_data(data):
    assert tomllib.loads(to_toml(data)) == data
