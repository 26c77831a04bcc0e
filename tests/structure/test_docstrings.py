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


def section(doc: str, title: str) -> list[tuple[list[str], str]]:
    """Names and text of each entry of a numpydoc section; empty where the docstring does not have it."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", doc, flags=re.M | re.S)
    entries = re.split(r"^(?=\S)", match[1], flags=re.M)[1:] if match else []
    return [(re.split(r",\s*", entry.split("\n")[0].partition(" : ")[0].strip()), entry) for entry in entries]


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
        entries = section(doc, "Parameters")
        documented = [one for names, _ in entries for one in names]
        if documented and (set(documented) != set(given) or [one for one in documented if one in ordered] != ordered):
            yield f"{where}: Parameters lists {', '.join(documented)}; the signature has {', '.join(given)}"
        is_array_function = "." not in name and len(given) > 1 and any(ARRAY.search(one) for one in given.values())
        if "perf" in path.parts and is_array_function and not documented:
            yield f"{where}: an array function in perf needs a section Parameters with shapes and units"
        for names, text in entries:
            for one in names:
                allowed = units_of(one) if NUMERIC.search(given.get(one, "")) else set()
                if allowed and not has_unit(text, allowed):
                    yield f"{where}: end the text of {one} with the unit of its name, [{'] or ['.join(allowed)}]"
        returned, units = section(doc, "Returns"), units_of(function.name)
        is_number = function.returns is not None and NUMERIC.search(ast.unparse(function.returns))
        if returned and units and is_number and not any(has_unit(text, units) for _, text in returned):
            yield f"{where}: end the text of Returns with [{'] or ['.join(units)}]"


def test_docstrings_agree_with_signatures() -> None:
    faults = [fault for path in MODULES for fault in faults_of(path)]
    assert not faults, "\n" + "\n".join(faults)
