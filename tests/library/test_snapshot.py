"""What a revision remembers of its answer, and what is told when catalogue, prices or calibration are others."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.library.compare import ComparedAnswer, Differences, Snapshot, differences, read_snapshot, snapshot_of
from sizer.library.library import Library, content_of
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from sizer.workload.table import FieldChange, field_changes
from tests.factories.examples import EXAMPLES, ROOT, catalog, sized
from tests.library.samples import at

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

NINE = "dgx1-f800-resnet50"


def request(name: str = NINE) -> SizingRequest:
    return SizingRequest.from_file(ROOT / "examples" / f"{name}.toml")


def compared(before: Snapshot, now: Snapshot | None) -> Differences:
    """Differences of two answers to one request."""
    return differences(*(ComparedAnswer(NINE, request(), snapshot) for snapshot in (before, now)))


def overlaid(tmp_path, files: dict[str, str]):
    """The catalogue with other files laid over it."""
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return load_catalog(overlay=tmp_path)


def file_of(item: str, old: str, new: str) -> dict[str, str]:
    """File of the catalogue with one thing in it changed."""
    text = (ROOT / "catalog" / item).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {item}"
    return {item: text.replace(old, new)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_snapshot_survives_being_stored_and_nothing_has_changed_since(name):
    snapshot = snapshot_of(sized(name))
    assert read_snapshot(snapshot.model_dump_json()) == snapshot
    since = compared(snapshot, snapshot)
    assert since.is_same_answer
    assert [since.is_other_catalog, since.is_other_calibration, since.is_other_version] == [False] * 3


@pytest.mark.parametrize("name", EXAMPLES)
def test_figures_and_lines_are_those_of_the_answer(name):
    design = sized(name).design
    snapshot = snapshot_of(sized(name))
    figures = {figure.key: figure for figure in snapshot.figures}
    assert figures["gpus"].value == design.n_gpus
    assert figures["rate-0"].value == pytest.approx(float(design.workloads[0].throughput.value))
    assert figures["power"].is_at_least == bool(design.quantities.unknown_power)
    assert len(snapshot.lines) == len(design.bill.lines)
    known = [Decimal(line.net) for line in snapshot.lines if line.is_bought and line.net is not None]
    assert sum(known, Decimal(0)) == design.bill.net_total.amount


def test_a_changed_fact_moves_the_figures_that_depend_on_it(tmp_path):
    parts = overlaid(tmp_path, file_of("servers/dgx-1.toml", "value = 3500", "value = 9500"))
    since = compared(snapshot_of(sized(NINE)), snapshot_of(size(request(), parts)))
    assert (since.is_other_catalog, since.is_same_answer) == (True, False)
    (power,) = [change for change in since.figures if change.now is not None and change.now.key == "power"]
    # Nine servers, each by 6000 W; PDUs and cords follow, and management switches of 150 W with the ports of the PDUs.
    assert power.now.value - power.before.value == pytest.approx(9 * 6000 + 3 * 150)


def test_a_changed_price_moves_the_bill(tmp_path):
    book = "item,amount,currency,date,source\ndgx-1,150000,USD,2026-01-05,quote\ns5232f-on,1000,USD,2026-01-05,quote"
    parts = overlaid(tmp_path, {"prices/own.csv": book})
    since = compared(snapshot_of(sized(NINE)), snapshot_of(size(request(), parts)))
    more = {change.now.name.partition(":")[0]: change.more for change in since.lines if change.now is not None}
    assert more["GPU server"] == Decimal(9_000)  # nine, each by 1000
    assert [value for name, value in more.items() if "switch" in name] == [None]  # was to be quoted


def test_another_calibration_is_told_and_moves_the_rate():
    fitted = stored_calibration()
    moved = fitted.fit.values.copy()
    moved[[name.startswith("gpu:v100") for name in fitted.names]] += 0.05
    other = replace(fitted, fit=replace(fitted.fit, values=moved), digest="0" * 64)
    since = compared(snapshot_of(sized(NINE)), snapshot_of(size(request(), catalog(), other)))
    assert (since.is_other_calibration, since.is_other_catalog) == (True, False)
    assert "rate-0" in {change.now.key for change in since.figures if change.now is not None}


@pytest.mark.parametrize("text", ["", "null", "{}", "[1]", '{"version": 2}', "{"])
def test_a_snapshot_of_another_version_is_none(text):
    assert read_snapshot(text) is None


# --- between two revisions


def revisions_of(tmp_path, *drafts: dict) -> tuple:
    """Revisions of one design, each of a request as typed."""
    library = Library(str(tmp_path / "designs.sqlite"))
    for number, draft in enumerate(drafts):
        result = size(SizingRequest.from_dict(draft), catalog())
        content = content_of(draft, "", result, catalog())
        if number:
            library.save("design-0001", number, content, author="", comment="", now=at(number))
        else:
            library.create("design-0001", "x", content, author="", comment="", now=at(0))
    found = tuple(library.revision("design-0001", number + 1) for number in range(len(drafts)))
    library.close()
    return found


def draft(rate: str = "10000 images/s", **more: object) -> dict:
    work = {"dnn": "resnet50", "target": {"samples_per_s": rate}}
    return {"title": "x", "workload": [work], "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]}, **more}


def test_two_revisions_differ_in_request_answer_and_bill(tmp_path):
    old, new = revisions_of(tmp_path, draft(), draft("40000 images/s", limits={"racks": 9}))
    found = differences(old, new)
    assert found.request == (
        FieldChange(("workload", 0, "target", "samples_per_s"), "10000 images/s", "40000 images/s"),
        FieldChange(("limits", "racks"), None, 9),
    )
    gpus = next(change for change in found.figures if change.now is not None and change.now.key == "gpus")
    assert gpus.before is not None
    assert gpus.now.value > gpus.before.value
    server = next(
        change for change in found.lines if change.now is not None and change.now.name.startswith("GPU server")
    )
    assert server.before is not None
    # The shipped price of a DGX-1: 149 000 USD (catalog/prices).
    assert server.more == 149_000 * (server.now.quantity - server.before.quantity)
    assert server.now.quantity * 8 == gpus.now.value
    back = differences(new, old)
    assert {change.more for change in back.lines} == {None if c.more is None else -c.more for c in found.lines}
    assert differences(old, old).are_none


def test_entries_are_matched_by_their_names_whatever_their_order():
    old = {"quote": {"override": [{"item": "a", "quantity": 1}, {"item": "b", "quantity": 2}]}}
    new = {"quote": {"override": [{"item": "b", "quantity": 3}, {"item": "c", "quantity": 4}]}}
    here = ("quote", "override")
    assert field_changes(old, new) == [
        FieldChange((*here, 0, "quantity"), 2, 3),
        FieldChange((*here, 1), None, {"item": "c", "quantity": 4}),
        FieldChange((*here, 0), {"item": "a", "quantity": 1}, None),
    ]


DATA = st.recursive(
    st.one_of(st.integers(0, 3), st.sampled_from(["a", "b"]), st.booleans()),
    lambda inner: st.one_of(
        st.lists(st.dictionaries(st.sampled_from(["name", "x", "y"]), inner, max_size=2), max_size=3),
        st.dictionaries(st.sampled_from(["name", "p", "q"]), inner, max_size=3),
    ),
    max_leaves=8,
)
TABLES = st.dictionaries(st.sampled_from(["a", "b", "c"]), DATA, max_size=3)


@given(TABLES, TABLES)
def test_differences_read_backwards_are_the_same_with_sides_changed(old, new):
    def sides(changes: list[FieldChange], back: bool) -> list[str]:
        return sorted(repr((one.now, one.before) if back else (one.before, one.now)) for one in changes)

    assert sides(field_changes(old, new), False) == sides(field_changes(new, old), True)
