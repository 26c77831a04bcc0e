"""Random requests, links, price books and sentences: ``python -m tests.hostile.fuzz [SECONDS_EACH]``, or ``make fuzz``.

Each surface may refuse what it is given with a :class:`SizerError` whose sentence can be shown, and nothing else. It
draws other inputs each time; ``make hostile`` tries some that follow from the commit. What fails is kept in
``tests/counterexamples`` and tried again in every run.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any
from unicodedata import category

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sizer import SizerError, SizingRequest
from sizer.export.price_book import read_book
from sizer.workload.sentence.reader import read_sentence
from tests import drawn_examples  # noqa: F401 -- the profile of what is drawn
from tests.hostile.links import opened, packed
from tests.hostile.requests import PLAIN
from tests.hostile.warm import CATALOG

_SECONDS_EACH = 150.0
_EXAMPLES_AT_ONCE = 500
_LONGEST_MESSAGE = 6_000

_TEXT = st.text(max_size=60)
_NUMBER = st.one_of(st.integers(), st.floats(), st.sampled_from((0, -1, 1e308, 1e-308, 2**63, float("nan"))))
_KEYS = st.sampled_from(sorted(SizingRequest.model_fields)) | _TEXT
_DATA: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBER, _TEXT, st.dates()),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=30,
)
_PLAIN = SizingRequest.from_text(PLAIN, "toml").model_dump(mode="json", exclude_unset=True)
_SENTENCE = (
    "train ResNet-50 on at with TB GB images images/s of days GPUs DGX-1 F800 % confident under kW USD million hours "
    "epochs 3 10 9e99 -1 0 ,, . / per each in year 2031 racks cheapest most"
)
_WORDS = st.sampled_from(_SENTENCE.split())
_ROWS = st.lists(st.lists(_TEXT | st.sampled_from(("dgx-1", "USD", "2026-11-01", "149000", "each")), max_size=8))


def _changed(path_and_value: tuple[list[Any], Any]) -> dict[str, Any]:
    """The plain request with one value replaced, wherever a random path leads."""
    path, value = path_and_value
    data: Any = json.loads(json.dumps(_PLAIN))
    place: Any = {"": data}
    key: Any = ""
    for choice in path:
        inside = place[key]
        if not isinstance(inside, dict | list) or not inside:
            break
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        place, key = inside, keys[choice % len(keys)]
    place[key] = value
    changed: dict[str, Any] = data
    return changed


_REQUESTS = st.tuples(st.lists(st.integers(0, 50), min_size=1, max_size=4), _DATA | _TEXT).map(_changed) | _DATA


def _request(data: object) -> None:
    SizingRequest.from_dict(data, "request")


def _link(data: object) -> None:
    opened(data if isinstance(data, str) else packed(data))


def _book(rows: Any) -> None:
    text = rows if isinstance(rows, bytes) else "\n".join(",".join(row) for row in rows).encode("utf-8", "replace")
    read_book(text, CATALOG)


def _sentence(text: object) -> None:
    read_sentence(str(text), CATALOG)


SURFACES: dict[str, tuple[Callable[[Any], None], st.SearchStrategy[Any]]] = {
    "requests": (_request, _REQUESTS),
    "links": (_link, _TEXT | _REQUESTS.filter(lambda data: not isinstance(data, str))),
    "price books": (_book, st.binary(max_size=500) | _ROWS),
    "sentences": (_sentence, st.lists(_WORDS | _TEXT, max_size=20).map(" ".join)),
}


def refused_or_taken(call: Callable[[Any], None], value: object) -> None:
    """Call with a value: a refusal must be a sentence that can be shown."""
    try:
        call(value)
    except SizerError as error:
        message = str(error)
        assert message.strip(), "no message"
        assert len(message) <= _LONGEST_MESSAGE, f"{len(message)} characters: {message[:200]}"
        harmful = [letter for letter in message if letter != "\n" and category(letter) in ("Cc", "Cs")]
        assert not harmful, f"the message holds {harmful!r}"


def draw(surface: str, number: int, examples: int = _EXAMPLES_AT_ONCE) -> None:
    """Try random inputs of a surface that follow from a number, after those that failed before."""
    call, values = SURFACES[surface]

    def drawn(value: object) -> None:
        refused_or_taken(call, value)

    drawn.__name__ = f"drawn_{surface.replace(' ', '_')}"  # part of the key of what failed
    kept = settings(
        settings.get_profile("drawn"),
        max_examples=examples,
        phases=[Phase.reuse, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    kept(seed(number)(given(value=values)(drawn)))()  # a seed leaves the database out, settings above it do not


def main() -> None:
    """Draw inputs for every surface until its time is over; end at the first that fails."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else _SECONDS_EACH
    for name in SURFACES:
        end, rounds = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            rounds += 1
            draw(name, time.time_ns())
        sys.stdout.write(f"{name}: {rounds * _EXAMPLES_AT_ONCE} inputs, each taken or refused with a sentence\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
