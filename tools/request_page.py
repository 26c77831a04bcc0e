"""Writes docs/request.md from the JSON schema of a request: ``python -m tools.request_page``."""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sizer import SizingRequest

PAGE = Path(__file__).parents[1] / "docs" / "request.md"
_TEXT = """# All keys of a request

Every table of a request file (TOML or JSON) with its keys: what a value is, what is allowed, and what holds where the
key is absent. Numbers are in the unit that ends the key, seconds, bytes, watts; where a key has such a unit a text with
another one is read too: "30 d", "2 TB", "12 kW", "1200 images/s". Names of parts are ids of the catalogue:
`sizer catalog show`.

This page is written by `python -m tools.request_page`, from the code.
"""
# Units by the end of a key.
_UNITS = {
    "_bytes_per_s": "B/s",
    "_bytes": "B",
    "_tokens_per_s": "tokens/s",
    "_samples_per_s": "samples/s",
    "_requests_per_s": "requests/s",
    "_flop": "FLOP",
    "_per_kwh": "currency/kWh",
    "_core_s": "s",
    "_s": "s",
    "_w": "W",
    "_u": "rack units",
    "_kg": "kg",
    "_kg_per_m2": "kg/m²",
    "_percent": "%",
    "_rate_usd": "US dollars for one unit of `currency`",
    "_volts": "V",
    "_fraction": "share, 0 to 1",
    "_share": "share, 0 to 1",
}
_BOUNDS = (
    ("minimum", "at least"),
    ("exclusiveMinimum", "above"),
    ("maximum", "at most"),
    ("maxItems", "entries at most"),
)


def _unit(key: str) -> str:
    return next((unit for end, unit in _UNITS.items() if f"_{key}".endswith(end)), "")


def _number(value: float) -> str:
    return f"{round(value):,}".replace(",", " ") if value == round(value) and value < 1e7 else f"{value:g}"


def _kinds(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    """What a value may be; a table by its name."""
    if "$ref" in field:
        of = definitions[field["$ref"].rsplit("/", 1)[-1]]
        yield from ["table"] if "properties" in of else _kinds(of, definitions)
    elif "anyOf" in field:
        for one in field["anyOf"]:
            if one.get("type") != "null":
                yield from _kinds(one, definitions)
    elif "enum" in field or "const" in field:
        values = field.get("enum", [field.get("const")])
        yield " or ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)
    else:
        kind = {
            "integer": "whole number",
            "array": "list",
            "object": "table",
            "boolean": "true or false",
            "string": "text",
        }
        limits = ", ".join(f"{word} {_number(field[key])}" for key, word in _BOUNDS if key in field)
        # A value without a type is read by its form: the id of an item, or a table that describes one.
        name = kind.get(field.get("type", ""), field.get("type", "text or table"))
        name = "day, as 2026-11-30" if field.get("format") == "date" else name
        items = field.get("items")
        if isinstance(items, dict):
            name = f"list of {' or '.join(dict.fromkeys(_kinds(items, definitions)))}"
        if counts := field.get("patternProperties"):
            name = f"id = {' or '.join(one for each in counts.values() for one in _kinds(each, definitions))}"
        yield f"{name}, {limits}" if limits else name


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    if value is None or value in ([], {}) or isinstance(value, dict):
        return ""
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _tables(field: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Names of the tables that a field holds, and whether it is a list of them."""
    if "$ref" in field:
        yield field["$ref"].rsplit("/", 1)[-1], False
    for one in field.get("anyOf", ()):
        yield from _tables(one)
    if isinstance(field.get("items"), dict):
        yield from ((name, True) for name, _ in _tables(field["items"]))


def _section(title: str, schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[str]:
    """One table of the page, and then those inside it."""
    text = inspect.cleandoc(schema.get("description", "")).split("\n\n")[0].replace("\n", " ").replace("``", "`")
    yield f"\n## {title}\n\n{text}\n\n| key | value | unit | absent |\n|---|---|---|---|"
    inside: list[tuple[str, str, bool]] = []
    needed = schema.get("required", ())
    for key, field in schema["properties"].items():
        inside += [(key, name, is_list) for name, is_list in _tables(field) if "properties" in definitions[name]]
        value = " or ".join(dict.fromkeys(_kinds(field, definitions))).replace("|", "\\|")
        absent = "must be given" if key in needed else _default(field)
        yield f"| `{key}` | {value} | {_unit(key)} | {absent} |"
    for key, name, is_list in inside:
        below = f"{path}.{key}" if path else key
        yield from _section(f"[[{below}]]" if is_list else f"[{below}]", definitions[name], definitions, below)


def page() -> str:
    """The page."""
    schema = SizingRequest.model_json_schema()
    definitions = schema["$defs"]
    sections = [*_section("The request", schema, definitions, "")]
    # Tables that stand in place of an id.
    for name, path in (("CustomDnn", "workload.dnn"), ("CustomTransformer", "workload.dnn")):
        about = "of a language model" if name == "CustomTransformer" else "of any other network"
        sections += _section(f"[{path}] {about}", definitions[name], definitions, path)
    return _TEXT + "\n".join(" ".join(line.split(" ")).rstrip() for line in sections) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
