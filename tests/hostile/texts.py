"""Control characters, marks that reverse text and endless names in every text field of every kind of file."""

import json
from typing import Any

from tests.hostile.harness import Entry, asked, command, fact, overlaid

# Name -> character that no text may hold; the fields that may have several lines still refuse them.
CHARACTERS = {
    "NUL": "\x00",
    "bell": "\x07",
    "escape": "\x1b",
    "delete": "\x7f",
    "C1": "\x9b",
    "reversal": "\u202e",
    "isolate": "\u2066",
    "noncharacter": "\ufffe",
    "noncharacter of plane 1": "\U0001ffff",
}
TARGET = {"gpus_busy": 8}
JOB = {"name": "Jobs", "gpus": 1, "jobs_a_day": 5, "duration_s": "2 h"}
LINE = {"description": "Rack mounting", "category": "service", "quantity": 1}
OVERRIDE = {"item": "dgx-1", "by_others": True}


def request(place: str, text: str) -> dict[str, Any]:
    """A request with a text at one place."""
    data: dict[str, Any] = {"workload": [{"name": "Training", "dnn": "resnet50", "target": TARGET}]}
    data["team"] = {"wait_s": "30 min", "job": [dict(JOB)]}
    data["existing"] = {"racks": [{"name": "R1", "free_u": 20, "power_w": "5 kW"}]}
    data["quote"] = {"line": [dict(LINE)], "override": [dict(OVERRIDE)]}
    data["rental"] = {"per_gpu_hour": "2.50"}
    here: Any = data
    *path, last = place.split(".")
    for key in path:
        here = here[int(key)] if key.isdigit() else here.setdefault(key, {})
    here[last] = text
    return data


FIELDS = (
    *("title", "customer", "workload.0.name", "team.job.0.name", "existing.racks.0.name", "rental.offer"),
    *("quote.number", "quote.revision", "quote.prepared_by", "quote.line.0.description"),
    *("quote.line.0.unit", "quote.line.0.manufacturer", "quote.line.0.sku", "quote.line.0.note"),
    *("quote.override.0.item", "quote.override.0.note"),
)


def _key(place: str) -> str:
    return place.split(".")[-1]


REQUESTS = (
    *(
        asked(f"{name} in {place}", request(place, f"a{character}b"), _key(place), "U+", "remove it")
        for number, place in enumerate(FIELDS)
        for name, character in list(CHARACTERS.items())[number % 3 :: 3]
    ),
    *(asked(f"100,000 letters in {place}", request(place, "x" * 100_000), _key(place), "at most") for place in FIELDS),
    *(
        asked(f"a line break in {place}", request(place, "a\nb"), _key(place), "single line")
        for place in FIELDS
        if not place.endswith("note")
    ),
    asked("half a character in the title", request("title", "a\ud800"), "title"),
    asked("bell in a key", {**request("title", "x"), "fla\x07vour": 1}, "unknown key", "fla"),
    asked("100,000 letters in a key", {**request("title", "x"), "x" * 100_000: 1}, "unknown key"),
    asked("escape in the id of a server", request("platforms", {"servers": ["dgx\x1b[2J"]}), "platforms.servers"),
    asked("reversal in a key of a table", request("existing.servers", {"a\u202eb": 1}), "existing.servers"),
)

SERVER = "servers/dgx-1.toml"


def _toml(character: str) -> str:
    return f"\\U{ord(character):08X}"


OVERLAYS = (
    *(
        overlaid(f"{name} in {key}", SERVER, f'id = "dgx-1"\n{key} = "a{_toml(character)}b"\n', key, "U+", "remove it")
        for key in ("name", "vendor", "description")
        for name, character in CHARACTERS.items()
    ),
    *(
        overlaid(
            f"{name} in the {key} of a fact",
            SERVER,
            fact("dgx-1", "height_u", 3, **{"note": "c", key: f"a{_toml(character)}"}),
            f"height_u.{key}",
            "U+",
        )
        for key in ("source", "where", "note")
        for name, character in list(CHARACTERS.items())[:4]
    ),
    *(
        overlaid(f"100,000 letters in {key}", SERVER, f'id = "dgx-1"\n{key} = "{"x" * 100_000}"\n', key, "at most")
        for key in ("name", "vendor", "description")
    ),
    overlaid(
        "bell in a part number",
        SERVER,
        'id = "dgx-1"\nskus = [{value = "a\\u0007", source = "a", where = "b"}]',
        "skus[0]",
    ),
    overlaid(
        "bell in the name of a feature",
        SERVER,
        'id = "dgx-1"\n[features."a\\u0007"]\nvalue = "x"\nbasis = "datasheet"\nsource = "a"\nwhere = "b"\n',
        "features",
    ),
)

BOOK = "prices/book.csv"


def _book(name: str, column: str, text: str, *says: str) -> Entry:
    cells = {
        "item": "dgx-1",
        "amount": "1",
        "currency": "USD",
        "date": "2026",
        "source": "q",
        "where": "p",
        "note": "n",
    }
    cells[column] = text
    content = ",".join(cells) + "\n" + ",".join(cells.values()) + "\n"
    return overlaid(name, BOOK, content, "line 2", column, *says)


PRICE_BOOKS = (
    *(
        _book(f"{name} in {column}", column, f"a{character}b", "U+")
        for column in ("source", "where", "note")
        for name, character in list(CHARACTERS.items())[1:7]
    ),
    *(
        _book(f"100,000 letters in {column}", column, "x" * 100_000, "at most")
        for column in ("source", "where", "note")
    ),
)


def _profile(name: str, text: str, *says: str) -> Entry:
    files: dict[str, str | bytes] = {"profile.toml": text, "request.json": json.dumps(request("title", "x"))}
    arguments = ("size", "request.json", "--out", "out", "--profile", "profile.toml")
    return Entry(name, command, arguments, files, 2, ("profile.toml", *says))


PROFILES = (
    *(
        _profile(f"{name} in {key}", f'{key} = "a{_toml(character)}b"\n', key, "U+", "remove it")
        for key in ("company", "legal", "confidentiality", "contact")
        for name, character in list(CHARACTERS.items())[1:6:2]
    ),
    *(
        _profile(f"5,000 letters in {key}", f'{key} = "{"x" * 5_000}"\n', key, "at most")
        for key in ("company", "legal")
    ),
    _profile("line break in the company", 'company = "a\\nb"\n', "company", "single line"),
    _profile("keys of 20,000 parts", "a." * 20_000 + "a = 1", "too many dots", "line 1"),
    _profile("6,000 unknown keys", "".join(f"key{number} = 1\n" for number in range(6_000)), "6000 entries", "at most"),
    _profile("a logo above the folder", 'logo = "../../etc/passwd"\n', "logo", "inside"),
    _profile("a colour with a rule of style", 'accent = "red;}body{display:none"\n', "accent", "colour"),
    _profile("an unknown locale", 'locale = "xx-XX"\n', "locale", "not one of"),
)
