"""The quote of a request: what it may say, and what it changes in a bill."""

import datetime
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from sizer import SizingRequest, size
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.bom.lines import bill, row_cost
from sizer.bom.prices import PriceBook
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.price_books import Price
from sizer.physical.components import Component
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.present.text.bill_warnings import change_text, note_text
from sizer.workload.resolve import resolve
from sizer.workload.stack_choice import FEW_RATES, StackEvidence, choose_stack
from tests.factories.requests import CATALOG
from tests.factories.rows import every

DAY = datetime.date(2026, 11, 21)
WORKLOAD = [{"dnn": "resnet50", "target": {"gpus_busy": 8}}]


@pytest.fixture(scope="module")
def catalog():
    return shipped_catalog()


def component(item, category, quantity, role="part", note="", status="computed"):
    notes = (PlanNote(PlanNoteKind.STATED, (note,)),) if note else ()
    return Component(role, category, item, np.array([quantity]), notes, status)


PARTS = (
    component("dgx-1", "compute", 9, "GPU server", "with 8 GPUs"),
    component("dgx-1", "compute", 1, "GPU server", "existing", "existing"),
    component("r740xd", "head node", 1, "head node"),
    component("r740xd", "storage", 2, "storage server"),
    component("cat6", "cable and optic", 17, "management cable", "planned 3 m"),
    component("cat6", "cable and optic", 14, "console cable", "planned 10 m"),
    component("ap8886", "rack and power", 6, "rack PDU"),
    component("smartconnect-advanced", "software", 1, "software", "per cluster", "optional"),
)
BOOK = PriceBook(
    [
        Price(
            item="dgx-1",
            amount="149000",
            currency="USD",
            date="2026-10",
            source="offer",
            where="1",
            discount_percent="10",
        ),
        Price(item="cat6", amount="4.05", currency="USD", date="2026-10", source="offer", where="2"),
        Price(item="smartconnect-advanced", amount="2500", currency="USD", date="2026-10", source="offer", where="3"),
    ]
)


def quoted(catalog, is_documented=True, **quote):
    request = SizingRequest.from_dict({"workload": WORKLOAD, "quote": quote})
    return bill(PARTS, catalog, BOOK, "USD", DAY, request.quote, is_documented=is_documented)


def line_of(made, item):
    (found,) = [line for line in made.lines if line.item == item and line.status != "existing"]
    return found


def test_a_changed_number_keeps_the_computed_one_in_sight(catalog):
    made = quoted(catalog, override=[{"item": "dgx-1", "quantity": 12, "note": "three to spare"}])
    line = line_of(made, "dgx-1")
    assert (line.quantity, line.status) == (12, "overridden")
    assert note_text(line).endswith("computed: 9; three to spare")
    assert change_text(line) == "quantity 12 instead of 9"
    assert line.extended_net == Decimal("1609200.00")  # 12 x 134,100
    there = [line.quantity for line in made.lines if line.status == "existing"]
    assert there == [1]


def test_none_of_an_item_needs_no_price(catalog):
    made = quoted(catalog, override=[{"item": "ap8886", "quantity": 0}])
    line = line_of(made, "ap8886")
    assert (line.extended_list, line.extended_net) == (Decimal("0.00"), Decimal("0.00"))
    assert "ap8886" not in made.unpriced


def test_a_price_of_the_quote_stands_for_that_of_the_book(catalog):
    override = {"item": "dgx-1", "unit_price": "140000.50", "discount_percent": 12.5}
    line = line_of(quoted(catalog, override=[override]), "dgx-1")
    # 140000.50 x 0.875 = 122500.4375
    assert (line.unit_price, line.unit_net_price) == (Decimal("140000.50"), Decimal("122500.44"))
    assert (line.price_source, line.price_date) == ("request", "2026-11-21")
    assert "list price of the price book: USD 149\u202f000; discount of the price book: 10 %" in note_text(line)
    assert change_text(line).split("; ") == [
        "list price USD 140\u202f000.50 instead of USD 149\u202f000",
        "discount 12.5 % instead of 10 %",
    ]


def test_options_and_parts_of_others_leave_the_total(catalog):
    full = quoted(catalog).total
    assert full == Decimal("1207025.55")  # 9 x 134,100 + 31 x 4.05
    made = quoted(catalog, override=[{"item": "dgx-1", "optional": True}, {"item": "cat6", "by_others": True}])
    assert made.total == 0
    assert line_of(made, "dgx-1").status == "optional"
    cables = [line for line in made.lines if line.item == "cat6"]
    assert {line.status for line in cables} == {"by others"}
    assert {line.unit_price for line in cables} == {None}
    assert "cat6" not in made.unpriced


def test_an_option_can_be_taken(catalog):
    made = quoted(catalog, override=[{"item": "smartconnect-advanced", "optional": False}])
    line = line_of(made, "smartconnect-advanced")
    assert (line.status, change_text(line)) == ("overridden", "taken into the total")
    assert made.total == Decimal("1209525.55")
    # Another price alone leaves it an option.
    priced = quoted(catalog, override=[{"item": "smartconnect-advanced", "unit_price": 1}])
    assert line_of(priced, "smartconnect-advanced").status == "optional"
    assert priced.total == Decimal("1207025.55")


def test_lines_of_the_quote_stand_in_their_category(catalog):
    # Compute, head node, storage, cables, racks, software, services.
    made = quoted(
        catalog,
        line=[
            {"description": "Installation", "category": "service", "quantity": 1, "unit_price": 18000},
            {"description": "Rails", "category": "rack and power", "quantity": 4},
            {"description": "Training", "category": "service", "quantity": 2, "unit_price": 900, "status": "optional"},
            {"description": "Crane", "category": "service", "quantity": 1, "status": "by others"},
        ],
    )
    added = {line.description: (line.line, line.status) for line in made.lines if not line.item}
    assert added == {
        "Rails": ("5.2", "added"),
        "Installation": ("7.1", "added"),
        "Training": ("7.2", "optional"),
        "Crane": ("7.3", "by others"),
    }
    assert made.total == Decimal("1225025.55")
    # Rails are to be quoted, and no catalogue item.
    assert (made.n_unpriced, len(made.unpriced)) == (quoted(catalog).n_unpriced + 1, len(quoted(catalog).unpriced))


def test_the_discount_of_the_deal_comes_last(catalog):
    made = quoted(catalog, discount_percent="3.3")
    assert made.deal_reduction == Decimal("39831.84")  # 1207025.55 x 0.033 = 39831.84315
    assert made.total == Decimal("1167193.71")
    assert made.net_total.amount == Decimal("1207025.55")


def test_an_override_of_what_is_not_there_names_what_is(catalog):
    with pytest.raises(RequestError) as caught:
        quoted(catalog, override=[{"item": "cat6", "quantity": 3}, {"item": "dgx-2", "quantity": 3}])
    assert str(caught.value) == (
        "quote.override[1].item = 'dgx-2' is not in the bill; items of the bill are "
        "dgx-1, r740xd, cat6, ap8886, smartconnect-advanced"
    )
    # A design beside the one described may well not have it.
    assert quoted(catalog, is_documented=False, override=[{"item": "dgx-2", "quantity": 3}]) == quoted(catalog)


def test_what_is_at_hand_cannot_be_changed(catalog):
    request = SizingRequest.from_dict({"workload": WORKLOAD, "quote": {"override": [{"item": "dgx-1", "quantity": 3}]}})
    with pytest.raises(RequestError, match=r"quote.override\[0\].item = 'dgx-1' is at hand already"):
        bill(PARTS[1:2], catalog, BOOK, "USD", DAY, request.quote)


def test_a_number_of_an_item_in_two_categories_names_one(catalog):
    with pytest.raises(RequestError, match=r"stands under 'head node' and 'storage'; say which with category"):
        quoted(catalog, override=[{"item": "r740xd", "quantity": 3}])
    made = quoted(catalog, override=[{"item": "r740xd", "category": "storage", "quantity": 3}])
    assert [line.quantity for line in made.lines if line.item == "r740xd"] == [1, 3]
    with pytest.raises(RequestError, match="'r740xd' is not in the bill under 'network'"):
        quoted(catalog, override=[{"item": "r740xd", "category": "network", "quantity": 3}])


def test_the_search_never_sees_the_quote(catalog):
    """Same design and same costs of the search with and without it."""
    path = data_dir("examples") / "small-team.toml"
    plain = SizingRequest.from_file(path)
    changed = plain.model_dump()
    changed["quote"] = {
        "discount_percent": 50,
        "override": [{"item": "v225g", "quantity": 40, "unit_price": 9}],
        "line": [{"description": "Installation", "category": "service", "quantity": 1, "unit_price": 10**6}],
    }
    before, after = size(plain, catalog), size(SizingRequest.from_dict(changed), catalog)
    assert after.design.name == before.design.name
    assert after.pareto == before.pareto
    assert line_of(after.design.bill, "v225g").quantity == 40
    assert after.design.bill.total == Decimal("500180.00")  # (40 x 9 + 1,000,000) / 2
    assert row_cost(PARTS, catalog, BOOK, "USD")[0] == [1207025.55]


def test_a_quote_survives_the_design_file(catalog):
    text = """
        [[workload]]
        dnn = "resnet50"
        target = { gpus_busy = 8 }
        [quote]
        number = "Q-17"
        revision = "B"
        discount_percent = 2.5
        [[quote.override]]
        item = "dgx-1"
        unit_price = 149000.10
        [[quote.line]]
        description = "Installation"
        category = "service"
        quantity = 1
    """
    request = SizingRequest.from_text(text, "toml")
    assert request.quote.override[0].unit_price == Decimal("149000.10")
    assert SizingRequest.from_dict(request.model_dump(mode="json", exclude_none=True)) == request


MEASURED = stored_calibration().measured
TASKS = ("training", "inference")
PRECISIONS = ("mixed", "fp32")


@pytest.mark.parametrize(
    ("dnn", "precision", "task", "stack"),
    [
        # NVIDIA's deep-learning examples of MXNet 20.12 print nine V100 rates of ResNet-50 with their batch; those of
        # PyTorch 21.03 print none, and TensorFlow 2.3 is older.
        ("resnet50", "mixed", "training", "mxnet-ngc20.12-dali"),
        ("resnet50", "fp32", "training", "mxnet-ngc20.12-dali"),
        # One rate of ResNet-101 is published with each of two stacks; its family was measured well with newer ones.
        ("resnet101", "mixed", "training", "mxnet-ngc20.12-dali"),
        # MLPerf v0.7 (2020): three rates of BERT, five of GNMT, Mask R-CNN and Transformer, four of SSD.
        ("bert-large", "mixed", "training", "pytorch-ngc20.06"),
        ("gnmt", "mixed", "training", "pytorch-ngc20.06"),
        ("mask-rcnn", "mixed", "training", "pytorch-ngc20.06"),
        ("transformer-big", "mixed", "training", "pytorch-ngc20.06"),
        ("ssd-resnet34", "mixed", "training", "pytorch-ngc20.06"),
        # The rates of TensorFlow 2017.05 for these networks are of P100, which no server of the catalogue takes.
        ("vgg16", "fp32", "training", "tf-cnn-benchmarks-2.2"),
        ("inception-v3", "fp32", "training", "mxnet-1.2"),
        ("resnet50", "mixed", "inference", "pytorch-ngc21.03"),
        # Nobody printed rates of BERT in inference or in fp32: newest PyTorch, which ran it in MLPerf v0.7.
        ("bert-large", "mixed", "inference", "pytorch-ngc21.03"),
        ("bert-large", "fp32", "training", "pytorch-1.6-examples"),
    ],
)
def test_newest_stack_with_published_rates(dnn: str, precision: str, task: str, stack: str) -> None:
    choice = choose_stack(dnn, precision, task, CATALOG, MEASURED)
    assert choice is not None
    assert choice.stack.id == stack


@every(list(product([*CATALOG.dnns, "never-measured"], PRECISIONS, TASKS)))
def test_every_network_gets_a_measured_stack_and_no_older_one(dnn: str, precision: str, task: str) -> None:
    """Written out as a second rule: no stack with as many rates of the network itself is newer."""
    choice = choose_stack(dnn, precision, task, CATALOG, MEASURED)
    assert choice is not None
    chosen = choice.stack
    assert chosen.task in (task, "both")
    assert precision in chosen.precisions
    rates = {
        stack: sum(count for key, count in MEASURED.items() if key[0] == stack and key[2:] == (precision, task))
        for stack in CATALOG.stacks
    }
    assert rates[chosen.id] >= FEW_RATES
    for stack in CATALOG.stacks.values():
        if MEASURED.get((stack.id, dnn, precision, task), 0) >= FEW_RATES:
            assert stack.released.value <= chosen.released.value
    assert all(other.released.value <= chosen.released.value for other in choice.others)
    assert chosen not in choice.others


@pytest.mark.parametrize(
    "dnn",
    [
        dnn.id
        for dnn in CATALOG.dnns.values()
        # Those with a kind have no runs of their own: trainings of that kind tell their rate.
        if not (dnn.transformer or dnn.era or dnn.kind) and dnn.family not in ("segmentation", "recommender")
    ],
)
def test_the_framework_has_run_the_network_or_its_family(dnn: str) -> None:
    choice = choose_stack(dnn, "mixed", "training", CATALOG, MEASURED)
    assert choice is not None
    family = CATALOG.dnns[dnn].family
    ran = {CATALOG.stacks[key[0]].framework for key in MEASURED if CATALOG.dnns[key[1]].family == family}
    assert choice.stack.framework in ran
    assert choice.evidence not in (StackEvidence.SEVERAL_FAMILIES, StackEvidence.NONE)


def test_a_stray_rate_is_no_basis_for_a_default() -> None:
    """Made-up counts: two rates of a newer stack are fewer than three of an older one."""
    measured = {
        ("mxnet-ngc19.07-dali", "resnet50", "mixed", "training"): 3,
        ("mxnet-ngc20.12-dali", "resnet50", "mixed", "training"): 2,
        ("mxnet-ngc18.12-dali", "resnet50", "mixed", "training"): 9,
    }
    choice = choose_stack("resnet50", "mixed", "training", CATALOG, measured)
    assert choice is not None
    assert choice.stack.id == "mxnet-ngc19.07-dali"
    assert [other.id for other in choice.others] == ["mxnet-ngc18.12-dali"]
    assert choice.evidence is StackEvidence.NETWORK


def test_of_one_release_date_the_stack_with_more_rates_of_the_network_leads() -> None:
    """PyTorch and MXNet 20.06 both ran SSD in MLPerf v0.7: four rates against one."""
    measured = {
        ("mxnet-ngc20.06-dali", "ssd-resnet34", "mixed", "training"): 3,
        ("pytorch-ngc20.06", "ssd-resnet34", "mixed", "training"): 4,
    }
    choice = choose_stack("ssd-resnet34", "mixed", "training", CATALOG, measured)
    assert choice is not None
    assert choice.stack.id == "pytorch-ngc20.06"


def test_a_stack_of_the_request_is_kept() -> None:
    work = {"dnn": "resnet50", "stack": "mxnet-ngc18.12-dali", "target": {"samples_per_s": "5000 images/s"}}
    (found,) = resolve(SizingRequest.from_dict({"workload": [work]}), CATALOG, MEASURED)
    assert found.stack.id == "mxnet-ngc18.12-dali"
    assert found.stack_choice is None
