"""Docstrings of public functions agree with the code: parameters by name and order, numbers by the unit of their name.

That public names have a docstring is ruff's to check.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted((ROOT / "sizer").rglob("*.py"))
# Last words of a name -> how a docstring writes the unit. "core s" is time of one processor core.
UNITS = dict.fromkeys(("fraction", "ratio", "probability", "log_sd"), "-")
UNITS |= {"core_s": "core s", "s": "s", "hours": "h", "bytes": "B", "byte": "B", "flop": "FLOP", "samples": "samples"}
UNITS |= {"sample": "sample", "w": "W", "j": "J", "m": "m", "kg": "kg", "usd": "USD", "u": "U"}
ARRAY = re.compile(r"Array|ndarray|Floats|Ints|Bools")
NUMERIC = re.compile(rf"{ARRAY.pattern}|\b(float|int)\b")


def units_of(name: str) -> set[str]:
    """Units that a docstring may print for a value of this name; empty where the name ends in none."""
    above, _, below = name.partition("_per_")
    numerator = next((unit for end, unit in UNITS.items() if above == end or above.endswith(f"_{end}")), None)
    if numerator is None:
        return set()
    if not below:
        return {numerator}
    if below in UNITS:
        return {f"{numerator}/{UNITS[below]}"} | ({numerator} if below == "sample" else set())
    return {numerator, f"{numerator}/{below.replace('_', ' ')}"}  # bytes_per_value: [B] or [B/value]


# What a docstring says of parameters: their names, their shape, and a text up to the next ones or a blank line.
ENTRY = re.compile(
    r"^(``[*\w]+``(?:, ``[*\w]+``)*)(?: \([^:\n]*)?:(.*?)(?=^``[*\w]+``|^Returns|^Raises|^$|\Z)", flags=re.M | re.S
)


def parameters(doc: str) -> list[tuple[list[str], str]]:
    """Names and text of what a docstring says of parameters, one a line or in a numpydoc section."""
    match = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", doc, flags=re.M | re.S)
    entries = re.split(r"^(?=\S)", match[1], flags=re.M)[1:] if match else []
    listed = [(re.split(r",\s*", entry.split("\n")[0].partition(" : ")[0].strip()), entry) for entry in entries]
    return listed + [(re.findall(r"``([*\w]+)``", names), text) for names, text in ENTRY.findall(doc)]


def has_unit(text: str, allowed: set[str]) -> bool:
    """Whether the last square brackets of a text hold one of the units, or the text refers elsewhere."""
    found = re.findall(r"(?<!\w)\[([^\]]+)\](?=\W|$)", text)
    refers = re.search(r"\b[Aa]s (for|in|of)\b|:func:|:class:", text) is not None
    return found[-1] in allowed if found else refers


def public_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Public functions of a module and public methods of its public classes, with their dotted names."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    for prefix, body in [("", tree.body), *((f"{node.name}.", node.body) for node in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield prefix + node.name, node


def faults_of(path: Path) -> Iterator[str]:
    """Everything in a module that its docstrings say otherwise than the code."""
    for name, function in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
        where, doc = f"{path.relative_to(ROOT)}:{function.lineno} {name}", ast.get_docstring(function) or ""
        arguments = function.args
        plain = [one for one in (*arguments.posonlyargs, *arguments.args) if one.arg not in ("self", "cls")]
        ordered = [one.arg for one in plain]
        given = {
            one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in (*plain, *arguments.kwonlyargs)
        }
        given |= {f"*{one.arg}": "" for one in (arguments.vararg,) if one}
        given |= {f"**{one.arg}": "" for one in (arguments.kwarg,) if one}
        entries = parameters(doc)
        documented = [one for names, _ in entries for one in names]
        if set(documented) - set(given) or [one for one in documented if one in ordered] != [
            one for one in ordered if one in documented
        ]:
            yield f"{where}: the docstring lists {', '.join(documented)}; the signature has {', '.join(given)}"
        is_perf = "perf" in path.parts
        numbers = (
            [one for one, kind in given.items() if ARRAY.search(kind)] if "." not in name and len(given) > 1 else []
        )
        if is_perf and set(numbers) - set(documented):
            yield f"{where}: say shape and unit of {', '.join(set(numbers) - set(documented))}"
        for names, text in entries:
            for one in names:
                allowed = units_of(one) - {"-"} if is_perf and NUMERIC.search(given.get(one, "")) else set()
                if allowed and not has_unit(text, allowed):
                    yield f"{where}: end the text of {one} with the unit of its name, [{'] or ['.join(allowed)}]"
        returned, units = re.search(r"^Returns\b.*?(?=^Raises|^$|\Z)", doc, flags=re.M | re.S), units_of(function.name)
        is_number = function.returns is not None and NUMERIC.search(ast.unparse(function.returns))
        if is_perf and returned and units - {"-"} and is_number and not has_unit(returned[0], units):
            yield f"{where}: end the text of Returns with [{'] or ['.join(units)}]"


def test_docstrings_agree_with_signatures() -> None:
    faults = [fault for path in MODULES for fault in faults_of(path)]
    assert not faults, "\n" + "\n".join(faults)
