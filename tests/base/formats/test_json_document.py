"""The form of each kind of value in a JSON document."""

import datetime
import json
import math
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from pydantic import BaseModel

from sizer.base.estimate import Estimate
from sizer.base.formats.json_document import DIGEST, fields_of, json_document, json_text, sealed, to_plain


class _Colour(Enum):
    RED = "red"


class _Model(BaseModel):
    day: datetime.date


@dataclass(frozen=True)
class _Record:
    rate: Estimate
    amounts: tuple[Decimal | None, ...]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (math.inf, None),
        (-math.inf, None),
        (math.nan, None),
        (np.float64("inf"), None),
        (np.array([1.5, np.nan]), [1.5, None]),
        (np.array(2), 2),
        (np.bool_(True), True),
        (True, True),
        (Decimal("149000"), "149000.00"),
        (Decimal("2.345"), "2.35"),
        (Decimal("1E+3"), "1000.00"),
        (Fraction(1, 4), 0.25),
        (_Colour.RED, "red"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (_Model(day=datetime.date(2024, 2, 29)), {"day": "2024-02-29"}),
        (Estimate.exact(np.inf), {"value": None, "low": None, "high": None}),
        (
            _Record(Estimate.exact(2.0), (Decimal(1), None)),
            {"rate": {"value": 2.0, "low": 2.0, "high": 2.0}, "amounts": ["1.00", None]},
        ),
    ],
)
def test_each_value_has_one_form(value, form):
    plain = to_plain(value)
    assert plain == form
    assert type(plain) is type(form)
    json.dumps(plain, allow_nan=False)


def test_a_value_without_a_form_is_refused():
    with pytest.raises(TypeError, match="object"):
        to_plain({"a": [object()]})


def test_every_document_says_what_it_is():
    document = json_document("rates", rate=Estimate.exact(1.0))
    assert list(document) == ["kind", "schema_version", "tool_version", "rate"]
    assert json.loads(json_text(document)) == document


def test_a_field_that_does_not_exist_is_an_error():
    with pytest.raises(AttributeError):
        fields_of(Estimate.exact(1.0), "value", "middle")


def test_the_seal_of_a_document_is_the_same_on_every_processor():
    """Wider vectors add in another order, which moves the last bits of a sum."""
    terms = [1 / (3 + place) for place in range(1_000)]
    forwards, backwards, exact = sum(terms), sum(reversed(terms)), math.fsum(terms)
    assert len({forwards, backwards, exact}) > 1
    seals = {sealed(json_document("test", sums=[one, -1e9 * one]))[DIGEST] for one in (forwards, backwards, exact)}
    assert len(seals) == 1
