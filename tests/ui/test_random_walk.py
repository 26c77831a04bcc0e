"""A walk in random order over fields, buttons and pages: nothing crashes, and no page shows what it must not."""

import random
import re
from itertools import chain

import pytest
from streamlit.testing.v1 import AppTest

from tests.drawn_examples import SEED
from tests.ui.pages import BESIDE, PATH, opened, to_page
from tests.ui.test_raw_values import raw_values

STEPS = 20
# Walks that crashed once; of each run, one more by its seed.
WALKS = (11, 23, 47)
TYPED = (
    *("", "0", "-1", "1e400", "NaN", "12,5", "40.000", "5", "3 d", "200 TB", "113 kB", "512x512"),
    *("Train ResNet-50 on H200 in a day", "no AMD, Dell preferred", "<b>x</b> | `y` **z** $a$", "7" * 400),
)
CHOSEN = ("selectbox", "checkbox", "toggle", "multiselect", "segmented_control", "slider")
# What no reader should meet: values and paths of the program; durations above a million days, trillions of GPUs.
ABSURD = re.compile(
    r"\bnan\b|\binf\b|\bNone\b|\[\d\]\.[a-z]|\d{7,}(?:\.\d+)?\s?d\b|\d{1,3}(?:[\s\u202f\u00a0]\d{3}){4,}\s?(?:GPUs?|d|kW|images/s)\b"
)


def fields_of(app: AppTest) -> list:
    """Fields with something to type or choose."""
    return [
        one for one in chain(app.text_input, app.text_area, *(app.get(kind) for kind in CHOSEN)) if not one.disabled
    ]


def fill(field, chance: random.Random) -> str:
    """Type or choose something; nothing is sent before the next run, as while a field has the cursor."""
    if field.type in ("text_input", "text_area"):
        value = chance.choice(TYPED)[: field.proto.max_chars or None]
    elif field.type in ("checkbox", "toggle"):
        value = not field.value
    elif field.type == "multiselect":
        value = chance.sample(field.options, min(len(field.options), chance.randrange(3)))
    elif field.type == "slider":
        value = chance.choice((field.min, field.max))
    else:
        value = chance.choice(field.options)
        if field.type == "selectbox":
            field.select_index(field.options.index(value))
            return f"{field.label}: {value!r}"
    field.set_value(value)
    return f"{field.label}: {value!r}"


def walk(seed: int) -> None:
    chance, path = random.Random(seed), [f"seed {seed}"]
    app, page = opened(), PATH[0]
    for _ in range(STEPS):
        fields = fields_of(app)
        for field in chance.sample(fields, min(len(fields), chance.randrange(3))):
            path += [fill(field, chance)]
        # Files of the whole answer take longer than all other steps; their tests stand elsewhere.
        buttons = [one for one in app.button if not one.disabled and not one.label.startswith("Make")]
        if buttons and chance.random() < 0.6:
            button = chance.choice(buttons)
            path.append(f"[{button.label}]")
            app = button.click().run()
        elif chance.random() < 0.5:
            page = chance.choice((*PATH, *BESIDE))
            path.append(f"page {page}")
            app = to_page(app, page)
        else:
            app = app.run()
        told = "\n".join(path)
        assert not app.exception, f"{told}\n{[one.message for one in app.exception]}"
        assert not [one.value for one in app.error if "error of the program" in one.value], told
        assert not ABSURD.findall(" ".join(one.value for one in (*app.markdown, *app.caption))), told
        if page in PATH:  # sources and the catalogue quote programs and ids
            assert [one for one in raw_values(app) if "1e400" not in one] == [], told


@pytest.mark.parametrize("seed", [*WALKS, 1000 + SEED])
def test_a_walk_in_random_order_crashes_nowhere(seed: int) -> None:
    walk(seed)
