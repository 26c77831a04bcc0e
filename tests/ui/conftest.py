"""Set-up of the tests of the app: none of them touches the designs of whoever runs them."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: drawing hundreds of pages takes longer than all other tests should."""
    for item in items:
        if item.path.is_relative_to(HERE) and not item.get_closest_marker("browser"):
            item.add_marker("app")


@pytest.fixture(autouse=True)
def designs_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File in which the app of a test keeps its designs; empty at the start."""
    path = tmp_path / "designs.sqlite"
    monkeypatch.setenv("SIZER_LIBRARY", str(path))
    for name in ("SIZER_USER", "SIZER_USER_HEADER"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture(autouse=True)
def known_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests of pages start from the example of V100 whose numbers they know."""
    monkeypatch.setattr("sizer.ui.state.FIRST_EXAMPLE", "dgx1-f800-resnet50")
