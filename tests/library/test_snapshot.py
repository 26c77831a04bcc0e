"""What a revision remembers of its answer, and what is told when catalogue, prices or calibration are others."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.library.compare import changes_since, differences
from sizer.library.library import Library
from sizer.library.records import content_of
from sizer.library.snapshot import read_snapshot, saved_prices, snapshot_of
from sizer.sizing.size import size
from sizer.workload.changes import FieldChange, field_changes
from sizer.workload.request import SizingRequest
from tests.factories.examples import EXAMPLES, ROOT, catalog, sized
from tests.library.samples import at

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

NINE = "dgx1-f800-resnet50"
DIGEST = stored_calibration().digest


def request(name: str = NINE) -> SizingRequest:
    return SizingRequest.from_file(ROOT / "examples" / f"{name}.toml")


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
    result = sized(name)
    snapshot = snapshot_of(result, catalog())
    assert read_snapshot(snapshot.model_dump_json()) == snapshot
    since = changes_since(snapshot, result.request, catalog(), DIGEST, result)
    assert since.is_same_answer
    assert (since.facts, since.prices, since.rates, since.removed_parts) == ((), (), (), ())
    assert [since.is_other_catalog, since.is_other_calibration, since.is_other_version] == [False] * 3


@pytest.mark.parametrize("name", EXAMPLES)
def test_figures_and_lines_are_those_of_the_answer(name):
    design = sized(name).design
    snapshot = snapshot_of(sized(name), catalog())
    figures = {figure.key: figure for figure in snapshot.figures}
    assert figures["gpus"].value == design.n_gpus
    assert figures["rate-0"].value == pytest.approx(float(design.workloads[0].throughput.value))
    assert figures["power"].is_at_least == bool(design.quantities.unknown_power)
    assert len(snapshot.lines) == len(design.bill.lines)
    known = [Decimal(line.net) for line in snapshot.lines if line.is_bought and line.net is not None]
    assert sum(known, Decimal(0)) == design.bill.net_total.amount
    assert {line.item for line in design.bill.lines if line.item} <= set(snapshot.parts)


def test_a_changed_fact_is_named_with_both_values(tmp_path):
    snapshot = snapshot_of(sized(NINE), catalog())
    parts = overlaid(tmp_path, file_of("servers/dgx-1.toml", "value = 3500", "value = 9500"))
    since = changes_since(snapshot, request(), parts, DIGEST, size(request(), parts))
    assert [(one.part, one.field, one.before, one.now) for one in since.facts] == [
        ("NVIDIA DGX-1", "power_max_w", 3500, 9500)
    ]
    assert since.facts[0].source == "dgx1-guide-cited"
    assert since.is_other_catalog
    changed = {change.now.key for change in since.figures if change.now is not None}
    assert "power" in changed
    assert not since.is_same_answer
    (power,) = [change for change in since.figures if change.now is not None and change.now.key == "power"]
    assert power.before is not None
    # Nine servers, each by 6000 W; PDUs and cords may follow, switches and storage do not.
    assert power.now.value - power.before.value == pytest.approx(9 * 6000)


def test_a_changed_catalogue_elsewhere_leaves_the_answer(tmp_path):
    snapshot = snapshot_of(sized(NINE), catalog())
    parts = overlaid(tmp_path, file_of("servers/v225g.toml", 'name = "UCP RS V225G"', 'name = "another name"'))
    since = changes_since(snapshot, request(), parts, DIGEST, size(request(), parts))
    assert since.is_other_catalog
    assert since.is_same_answer
    assert not since.facts


def test_a_changed_price_is_named_and_moves_the_bill(tmp_path):
    snapshot = snapshot_of(sized(NINE), catalog())
    rows = (
        "item,amount,currency,date,source",
        "dgx-1,150000,USD,2026-01-05,quote",
        "s5232f-on,1000,USD,2026-01-05,quote",
    )
    book = "\n".join(rows)
    parts = overlaid(tmp_path, {"prices/own.csv": book})
    since = changes_since(snapshot, request(), parts, DIGEST, size(request(), parts))
    found = {one.part: (one.before and one.before.amount, one.now and one.now.amount) for one in since.prices}
    (switch,) = [part for part in found if "S5232F" in part]
    assert found == {"NVIDIA DGX-1": ("149000", "150000"), switch: (None, "1000")}
    more = {change.now.name.partition(":")[0]: change.more for change in since.lines if change.now is not None}
    assert more["GPU server"] == Decimal(9_000)  # nine, each by 1000
    assert [value for name, value in more.items() if "switch" in name] == [None]  # was to be quoted


def test_an_item_that_is_gone_is_named_and_there_may_be_no_answer():
    snapshot = snapshot_of(sized(NINE), catalog())
    parts = catalog()
    without = replace(
        parts, servers=type(parts.servers)("servers", {k: v for k, v in parts.servers.items() if k != "dgx-1"})
    )
    since = changes_since(snapshot, request(), without, DIGEST, None)
    assert since.removed_parts == ("NVIDIA DGX-1",)
    assert not since.has_answer
    assert not since.is_same_answer


def test_another_calibration_shows_rates_before_and_now():
    fitted = stored_calibration()
    snapshot = snapshot_of(sized(NINE), catalog())
    moved = fitted.fit.values.copy()
    moved[[name.startswith("gpu:v100") for name in fitted.names]] += 0.05
    other = replace(fitted, fit=replace(fitted.fit, values=moved), digest="0" * 64)
    result = size(request(), catalog(), other)
    since = changes_since(snapshot, request(), catalog(), other.digest, result)
    assert since.is_other_calibration
    assert not since.is_other_catalog
    (rate,) = since.rates
    answer = sized(NINE).design
    gpu = next(stage for stage in answer.workloads[0].stages if stage.key == "gpu")
    assert rate.before.per_gpu == pytest.approx(float(gpu.capacity.value) / 72)  # nine DGX-1
    assert rate.now is not None
    assert rate.now.per_gpu != pytest.approx(rate.before.per_gpu, rel=1e-3)
    assert "rate-0" in {change.now.key for change in since.figures if change.now is not None}


@pytest.mark.parametrize("text", ["", "null", "{}", "[1]", '{"version": 2}', "{"])
def test_a_snapshot_of_another_version_is_none(text):
    assert read_snapshot(text) is None


def test_a_later_version_of_a_snapshot_is_not_compared():
    snapshot = snapshot_of(sized(NINE), catalog())
    assert read_snapshot(snapshot.model_copy(update={"version": 2}).model_dump_json()) is None


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


def test_a_request_keeps_what_was_typed_and_equal_requests_are_equal(tmp_path):
    first = content_of(draft("10000 images/s"), "", size(SizingRequest.from_dict(draft()), catalog()), catalog())
    again = content_of(
        draft("10 ksamples/s"), "", size(SizingRequest.from_dict(draft("10 ksamples/s")), catalog()), catalog()
    )
    assert again.request["workload"][0]["target"] == {"samples_per_s": "10 ksamples/s"}
    assert first.digest == again.digest
    other = content_of(draft(), "item\n", size(SizingRequest.from_dict(draft()), catalog()), catalog())
    assert other.digest != first.digest


def test_entries_are_matched_by_their_names_whatever_their_order():
    old = {"quote": {"override": [{"item": "a", "quantity": 1}, {"item": "b", "quantity": 2}]}}
    new = {"quote": {"override": [{"item": "b", "quantity": 3}, {"item": "c", "quantity": 4}]}}
    here = ("quote", "override")
    assert field_changes(old, new) == [
        FieldChange((*here, 0, "quantity"), 2, 3),
        FieldChange((*here, 1), None, {"item": "c", "quantity": 4}),
        FieldChange((*here, 0), {"item": "a", "quantity": 1}, None),
    ]


def test_workloads_without_names_are_matched_by_their_order():
    old = {"workload": [{"dnn": "resnet50"}, {"dnn": "vgg16"}]}
    new = {"workload": [{"dnn": "resnet50"}, {"dnn": "alexnet"}, {"dnn": "vgg16"}]}
    assert field_changes(old, new) == [
        FieldChange(("workload", 1, "dnn"), "vgg16", "alexnet"),
        FieldChange(("workload", 2), None, {"dnn": "vgg16"}),
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


def test_prices_are_saved_in_the_currency_of_the_request():
    """149,000 USD at 1.25 USD for a euro are 119,200 EUR."""
    result = sized(NINE)
    euro = result.request.model_copy(update={"currency": "EUR", "exchange_rate_usd": 1.25})
    saved = saved_prices(["dgx-1"], "EUR", prices_for(euro, catalog()))
    assert saved["dgx-1"].amount == "119200.00"
    snapshot = snapshot_of(sized(NINE), catalog())
    assert snapshot.prices["dgx-1"].amount == "149000"
    in_euro = snapshot.model_copy(update={"currency": "EUR", "prices": saved})
    assert changes_since(in_euro, euro, catalog(), DIGEST, None).prices == ()
