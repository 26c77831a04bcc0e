"""The examples in the docstrings of the package print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def _modules() -> list[str]:
    """Dotted names of the modules under ``sizer/`` that hold an example."""
    paths = (path for path in sorted((ROOT / "sizer").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]


@pytest.mark.parametrize("name", _modules())
def test_docstring_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # examples name files as a reader in the checkout types them
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in doctest.DocTestFinder().find(import_module(name)):
        runner.run(test, out=report.append)
    outcome = runner.summarize(verbose=False)
    assert outcome.attempted > 0, f"{name}: no example runs; delete >>> from what is no example"
    assert outcome.failed == 0, "".join(report)
