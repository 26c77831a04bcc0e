"""Public names have docstrings that agree with the code: parameters and attributes by name, order and unit."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted((ROOT / "sizer").rglob("*.py"))

# Last words of a name -> how a docstring writes the unit. "core s" is time of one processor core.
UNITS = {
    "core_s": "core s",
    "s": "s",
    "hours": "h",
    "bytes": "B",
    "byte": "B",
    "flop": "FLOP",
    "samples": "samples",
    "sample": "sample",
    "w": "W",
    "j": "J",
    "m": "m",
    "kg": "kg",
    "usd": "USD",
    "u": "U",
    "fraction": "-",
    "ratio": "-",
    "probability": "-",
    "log_sd": "-",
}
ARRAY = re.compile(r"Array|ndarray|Floats|Ints|Bools")
NUMERIC = re.compile(rf"{ARRAY.pattern}|\b(float|int)\b")


def unit_of(name: str) -> set[str]:
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


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("message_bytes", {"B"}),
        ("link_bytes_per_s", {"B/s"}),
        ("core_s_per_sample", {"core s", "core s/sample"}),
        ("core_s_per_byte", {"core s/B"}),
        ("bytes_per_value", {"B", "B/value"}),
        ("hit_fraction", {"-"}),
        ("n_servers", set()),
        ("status", set()),
    ],
)
def test_units_are_read_from_names(name: str, units: set[str]) -> None:
    assert unit_of(name) == units


@dataclass(frozen=True)
class Entry:
    """One entry of a section: the names before the colon, and all text with the type."""

    names: list[str]
    text: str

    @property
    def unit(self) -> str | None:
        """What the last square brackets at the end of a sentence hold; None where there are none."""
        found = re.findall(r"(?<!\w)\[([^\]]+)\](?=\W|$)", self.text)
        return found[-1] if found else None


def section(doc: str, title: str) -> list[Entry]:
    """Entries of a numpydoc section, in their order; empty where the docstring does not have it."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", doc, flags=re.M | re.S)
    entries = re.split(r"^(?=\S)", match[1], flags=re.M)[1:] if match else []
    return [Entry(re.split(r",\s*", entry.split("\n")[0].partition(" : ")[0].strip()), entry) for entry in entries]


def public_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Public functions of a module and public methods of its public classes, with their dotted names."""
    scopes = [("", tree.body)]
    scopes += [
        (f"{node.name}.", node.body)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    for prefix, body in scopes:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield prefix + node.name, node


def annotation(node: ast.expr | None) -> str:
    """Source text of an annotation; "" without one."""
    return "" if node is None else ast.unparse(node)


def parameters(function: ast.FunctionDef) -> dict[str, str]:
    """Annotation by name of each parameter, without ``self`` and ``cls``; variable ones with their stars."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    pairs = [(one.arg, one) for one in plain]
    pairs += [(f"*{given.vararg.arg}", given.vararg)] if given.vararg else []
    pairs += [(one.arg, one) for one in given.kwonlyargs]
    pairs += [(f"**{given.kwarg.arg}", given.kwarg)] if given.kwarg else []
    return {name: annotation(one.annotation) for name, one in pairs if name not in ("self", "cls")}


def in_order(documented: list[str], function: ast.FunctionDef) -> bool:
    """Whether a section lists what the signature has; the order of parameters given by keyword alone is free."""
    known = list(parameters(function))
    by_keyword = {one.arg for one in function.args.kwonlyargs}
    return set(documented) == set(known) and [one for one in documented if one not in by_keyword] == [
        one for one in known if one not in by_keyword
    ]


def fields(node: ast.ClassDef) -> dict[str, str]:
    """Annotation by name of each public field that a class body declares."""
    return {
        one.target.id: annotation(one.annotation)
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and not one.target.id.startswith("_")
        and "ClassVar" not in annotation(one.annotation)
    }


def unit_faults(entries: list[Entry], annotations: dict[str, str]) -> Iterator[str]:
    """Entries whose unit is missing or is not the one that the name ends in; entries that refer elsewhere are free."""
    for entry in entries:
        for name in entry.names:
            allowed = unit_of(name)
            refers = re.search(r"\b[Aa]s (for|in|of)\b|:func:|:class:", entry.text) is not None and entry.unit is None
            if not allowed or refers or not NUMERIC.search(annotations.get(name, "")):
                continue
            if entry.unit not in allowed:
                wanted = " or ".join(f"[{unit}]" for unit in sorted(allowed))
                shown = "no unit" if entry.unit is None else f"[{entry.unit}]"
                yield f"{name} has {shown}; end its text with {wanted}, or rename it"


def faults_of(path: Path) -> Iterator[str]:
    """Everything in a module that its docstrings say otherwise than the code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if tree.body and not ast.get_docstring(tree):
        yield f"{path.relative_to(ROOT)}: the module has no docstring"
    for node in tree.body:
        is_public = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if is_public and not ast.get_docstring(node):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has no docstring"
    for name, function in public_functions(tree):
        doc = ast.get_docstring(function) or ""
        known = parameters(function)
        entries = section(doc, "Parameters")
        documented = [one for entry in entries for one in entry.names]
        where = f"{path.relative_to(ROOT)}:{function.lineno} {name}"
        if documented and not in_order(documented, function):
            yield f"{where}: Parameters lists {', '.join(documented)}; the signature has {', '.join(known)}"
        is_array_function = "." not in name and len(known) > 1 and any(ARRAY.search(one) for one in known.values())
        if "perf" in path.parts and is_array_function and not documented:
            yield f"{where}: an array function in perf needs a section Parameters with shapes and units"
        yield from (f"{where}: {fault}" for fault in unit_faults(entries, known))
        returned = section(doc, "Returns")
        units = unit_of(function.name) if NUMERIC.search(annotation(function.returns)) else set()
        if returned and units and not any(entry.unit in units for entry in returned):
            yield f"{where}: end the text of Returns with {' or '.join(f'[{unit}]' for unit in sorted(units))}"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            entries = section(ast.get_docstring(node) or "", "Attributes")
            documented = [one for entry in entries for one in entry.names]
            known = fields(node)
            where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            if documented and known and documented != [one for one in known if one in documented]:
                yield f"{where}: Attributes lists {', '.join(documented)}; the class has {', '.join(known)}"
            yield from (f"{where}: {fault}" for fault in unit_faults(entries, known))


@pytest.mark.parametrize("package", sorted({path.relative_to(ROOT / "sizer").parts[0] for path in MODULES}))
def test_docstrings_agree_with_signatures(package: str) -> None:
    faults = [
        fault for path in MODULES if path.relative_to(ROOT / "sizer").parts[0] == package for fault in faults_of(path)
    ]
    assert not faults, "\n" + "\n".join(faults)
