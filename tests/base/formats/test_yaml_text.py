"""YAML as plain data: what scalars mean, where values stand, what a hostile text gets."""

import pytest

from sizer.base.errors import RequestError
from sizer.base.formats.yaml_text import MAX_CHARACTERS, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    # YAML 1.2.2, section 10.3.2: core schema. Plain PyYAML reads False, True, "1e3", 750 and 12.
    [
        ("no", "no"),
        ("on", "on"),
        ("1e3", 1000.0),
        ("12:30", "12:30"),
        ("014", 14),
        ("0o14", 12),
        ("0xC", 12),
        ("'1'", "1"),
        ("~", None),
        ("", None),
        ("True", True),
        ("tRUE", "tRUE"),
        ("-.inf", float("-inf")),
        (".5", 0.5),
        ("+12", 12),
        ("1_000", "1_000"),
        ("2018-01-01", "2018-01-01"),
        ("<<", "<<"),
        ("=", "="),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text, value):
    read = read_yaml(f"a: {text}\n", "f").data["a"]
    assert (read, type(read)) == (value, type(value))


def test_every_value_knows_its_place():
    read = read_yaml("a: 1\nb:\n  - x\n  - {c: 2}\n", "f.yaml")
    assert read.data == {"a": 1, "b": ["x", {"c": 2}]}
    assert read.place(("b", 1, "c")) == "f.yaml:4:9"
    assert read.place(("b", 1, "missing")) == "f.yaml:4:5"  # the table that lacks it
    assert read_yaml("", "f.yaml").place(("a",)) == "f.yaml:1:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [1, 1]\nb: [*x, *x]\n", r"f.yaml:2:5: alias \*x"),
        ("a: [1, 2\n", "f.yaml:2:1: is not valid YAML"),
        ("a: \x07\n", "f.yaml:1:4: is not valid YAML: control characters"),
        ("? {a: 1}\n: 2\n", "f.yaml:1:3: a key is plain text"),
        ("[" * 100_000, "f.yaml:1:22: nested deeper"),
        ("- \n" * 110_000, "more values than are read"),
        ("a: " + "9" * 5000, "f.yaml:1:4: .* has more digits"),
        ("a" * (MAX_CHARACTERS + 1), "characters are more than is read"),
        ("\ud800", "f.yaml:1:1: is not valid YAML: surrogates"),
        ("a: !!python/object/apply:os.system [x]\n", r"f.yaml:1:4: tag 'tag:yaml.org,2002:python"),
        ("a: ! 1\n", r"f.yaml:1:4: tag '!'"),
        ("a: 1\nb: 2\na: 3\n", r"f.yaml:3:1: key 'a' stands here a second time"),
        ("a: 1\n---\nb: 2\n", r"f.yaml:2:1: a second document"),
        ("&a [&b [*a, *a], *b]", r"f.yaml:1:9: alias"),
    ],
)
def test_what_is_not_plain_data_is_refused_with_its_place(text, message):
    with pytest.raises(RequestError, match=message):
        read_yaml(text, "f.yaml")
