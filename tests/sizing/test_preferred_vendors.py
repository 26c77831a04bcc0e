"""Preferred vendors: who leads, by how much it may cost more, and what is said of it."""

from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from sizer import Catalog, SizingRequest, size
from sizer.base.errors import RequestError
from sizer.catalog.items import is_of_vendor
from sizer.catalog.model import vendors_of
from sizer.sizing.best_design import best_design
from sizer.sizing.reasons import PreferenceKind, RunnerUpKind, SelectionKind
from sizer.sizing.search.ranking import preferred_first, preferred_parts
from sizer.workload.sentence.reader import read_sentence
from tests.factories.prices import all_priced

# One of either is enough for 5,000 images/s of ResNet-50 from local drives.
SERVERS = {"dgx-1": 100_000, "apollo-6500": 105_000}


@cache
def catalog() -> Catalog:
    """Everything costs a cent but the two servers, 100,000 and 105,000 USD."""
    return all_priced(lambda item: Decimal(SERVERS.get(item, 0)) + Decimal("0.01"))


def request(vendors: list[str], percent: float | None = None, **more: Any) -> SizingRequest:
    work = {"dnn": "resnet50", "target": {"samples_per_s": 5_000}}
    storage = ["dgx1-ssd", "apollo-nvme", "local-ssd", "local-nvme"]
    asked: dict[str, Any] = {"servers": list(SERVERS), "storage": storage, "prefer_vendors": vendors}
    if percent is not None:
        asked["prefer_within_percent"] = percent
    return SizingRequest.from_dict({"workload": [work], "platforms": asked, **more})


@pytest.mark.laws
@pytest.mark.parametrize(
    ("vendors", "percent", "server", "kind"),
    [
        ([], None, "dgx-1", None),
        (["HPE"], None, "apollo-6500", PreferenceKind.LEADS),  # 5 % more, 10 % allowed
        (["hpe"], 5.1, "apollo-6500", PreferenceKind.LEADS),
        (["HPE"], 4.9, "dgx-1", PreferenceKind.TOO_FAR),
        (["HPE"], 0, "dgx-1", PreferenceKind.TOO_FAR),
        (["NVIDIA"], None, "dgx-1", PreferenceKind.LEADS_ANYWAY),
        (["WekaIO"], None, "dgx-1", PreferenceKind.NO_DESIGN),
        # Equally many parts are of a preferred vendor: the cheaper one leads.
        (["HPE", "NVIDIA"], None, "dgx-1", PreferenceKind.LEADS_ANYWAY),
    ],
)
def test_a_preferred_vendor_leads_within_its_worth(
    vendors: list[str], percent: float | None, server: str, kind: PreferenceKind | None
) -> None:
    """By hand: 105,000 / 100,000 USD = 5 % more, so the preference decides from a worth of 5 % on."""
    asked = request(vendors, percent)
    result = size(asked, catalog())
    assert result.design.platform.server.id == server
    assert best_design(asked, catalog()).design.platform.server.id == server
    preference = result.selection.preference
    assert (None if preference is None else preference.kind) == kind
    if preference is None or kind not in (PreferenceKind.LEADS, PreferenceKind.TOO_FAR):
        return
    assert preference.chosen_value is not None
    assert preference.other_value is not None
    # Support is a share of no price here but of a band, some tens of USD.
    assert abs(preference.chosen_value - preference.other_value) == pytest.approx(5_000, abs=50)
    assert preference.is_exact
    if kind is PreferenceKind.LEADS:
        assert result.selection.kind is SelectionKind.PREFERRED
        assert result.runner_up_reason.kind is RunnerUpKind.NOT_PREFERRED
        assert result.runner_up.server == "dgx-1"


def test_a_budget_comes_before_a_preference() -> None:
    """105,000 USD do not fit 102,000 USD, though 5 % are within the worth of the preference."""
    result = size(request(["HPE"], limits={"budget": 102_000}), catalog())
    assert result.design.platform.server.id == "dgx-1"
    assert result.selection.preference.kind in (PreferenceKind.OVER_BUDGET, PreferenceKind.NO_DESIGN)


def test_the_most_preferred_of_those_in_reach_leads() -> None:
    """Ranked rows 0 to 4 with 0, 1, 2, 2, 2 preferred parts; row 3 is out of reach, so row 2 leads."""
    parts = [0, 1, 2, 2, 2]
    found = preferred_first(iter(range(5)), parts.__getitem__, 2, lambda first, row: row - first < 3)
    assert list(found) == [2, 0, 1, 3, 4]
    near = preferred_first(iter(range(5)), parts.__getitem__, 2, lambda first, row: row - first < 2)
    assert list(near) == [1, 0, 2, 3, 4]


def test_names_of_vendors_are_words_of_theirs() -> None:
    assert is_of_vendor("Dell EMC Isilon", "Dell EMC")
    assert is_of_vendor("Dell EMC Isilon", "isilon")
    assert not is_of_vendor("HPE", "HP")
    assert not is_of_vendor("any", "any")
    assert {"Dell EMC", "HPE", "NVIDIA", "WekaIO"} <= set(vendors_of(catalog()))
    with pytest.raises(RequestError, match=r"prefer_vendors names 'Fujitsu'.*known: .*HPE"):
        best_design(request(["Fujitsu"]), catalog())


def test_a_gpu_server_of_a_preferred_vendor_weighs_more_than_storage() -> None:
    from sizer.physical.platforms import platforms

    asked = request(["Dell EMC"])
    asked = asked.model_copy(
        update={"platforms": asked.platforms.model_copy(update={"servers": ("dgx-1", "c4140"), "storage": ()})}
    )
    found = platforms(catalog(), asked)
    counted = preferred_parts(found, asked.platforms).tolist()
    parts = {(one.server.id, one.storage.id): n for one, n in zip(found, counted, strict=True)}
    assert parts["c4140", "wekaio"] > parts["dgx-1", "isilon-f800"] > parts["dgx-1", "wekaio"]


@pytest.mark.parametrize(
    ("words", "vendors"),
    [
        ("preferably Dell EMC", ["Dell EMC"]),
        ("we prefer HPE or Dell", ["HPE", "Dell"]),
        ("preferred vendor: hpe", ["HPE"]),
        ("preferred vendors are NVIDIA and Hitachi Vantara", ["NVIDIA", "Hitachi Vantara"]),
    ],
)
def test_a_sentence_names_the_preferred_vendors(words: str, vendors: list[str]) -> None:
    reading = read_sentence(f"Train ResNet-50 at 40000 images/s, {words}", catalog())
    assert reading.request["platforms"] == {"prefer_vendors": vendors}
    assert not reading.unread
