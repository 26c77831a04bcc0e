"""Unknown is never good news: taking facts away never improves an answer."""

from dataclasses import replace
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import InfeasibleError
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog, Items
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.property.law_examples import law

# A sizing of two platforms takes 0.2 s: data in memory, on one chassis and on many.
EXAMPLES = law()
RATES = st.sampled_from([500.0, 4_000.0, 20_000.0])
DATA = st.sampled_from([1e11, 5e12, 3e14, 2e15])
READ_RATES = ("node_read_low_bytes_per_s", "node_read_high_bytes_per_s")


@cache
def _without(folder: str, item: str, *fields: str) -> Catalog:
    """The catalogue without some facts of an item."""
    shipped = shipped_catalog()
    items = dict(shipped.folder(folder))
    items[item] = items[item].model_copy(update=dict.fromkeys(fields, () if fields == ("capacity_options",) else None))
    return replace(shipped, **{folder: Items(folder, items)}, digest=f"without {item} {fields}")


def _request(rate: float, data_bytes: float, storage: list[str], **limits: float) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset_bytes": data_bytes, "target": {"samples_per_s": rate}}
    chosen = {"servers": ["dgx-1"], "storage": storage, "fabrics": ["100gbe"]}
    return SizingRequest.from_dict({"workload": [work], "platforms": chosen, "limits": limits})


def _sized(request: SizingRequest, catalog: Catalog) -> SizingResult | None:
    try:
        return size(request, catalog)
    except InfeasibleError:
        return None


@EXAMPLES
@given(rate=RATES, data_bytes=DATA, fields=st.sampled_from([READ_RATES, ("capacity_options",)]))
def test_a_storage_without_facts_never_wins_against_one_with_facts(
    rate: float, data_bytes: float, fields: tuple[str, ...]
) -> None:
    """Without the F800's rate or capacity the other system is described, exactly as if the F800 were not allowed."""
    known = _sized(_request(rate, data_bytes, ["isilon-h600"]), shipped_catalog())
    mixed = _sized(
        _request(rate, data_bytes, ["isilon-f800", "isilon-h600"]), _without("storage", "isilon-f800", *fields)
    )
    if known is None or mixed is None:
        assert known is None
        assert mixed is None or mixed.design.probability is None
        return
    if mixed.design.platform.storage.id == "isilon-f800":
        # Only data that stay in memory need no rate; what it holds is needed always.
        assert fields == READ_RATES
        assert mixed.design.workloads[0].cache_hit_fraction == 1
        return
    assert mixed.design.name == known.design.name
    assert mixed.design.probability == known.design.probability


@EXAMPLES
@given(rate=RATES, data_bytes=DATA, fields=st.sampled_from([READ_RATES, ("capacity_options",)]))
def test_a_missing_fact_never_raises_a_probability(rate: float, data_bytes: float, fields: tuple[str, ...]) -> None:
    request = _request(rate, data_bytes, ["isilon-f800"])
    known, open_ = _sized(request, shipped_catalog()), _sized(request, _without("storage", "isilon-f800", *fields))
    if open_ is None or known is None:
        return
    if open_.design.conditional_on:
        assert open_.design.probability is None
        assert open_.design.target_check is not CheckResult.MET
    else:
        assert open_.design.probability is not None
        assert known.design.probability is not None
        assert open_.design.probability <= known.design.probability


@EXAMPLES
@given(rate=RATES, power_w=st.sampled_from([5e3, 30e3, 100e3, 1e6]))
def test_an_unknown_draw_never_keeps_a_limit(rate: float, power_w: float) -> None:
    """Without the draw of the server the check of the limit is never met, and the design is conditional."""
    request = _request(rate, 1e11, ["isilon-f800"], power_w=power_w)
    facts = ("power_max_w", "power_typical_w", "power_low_w", "power_high_w")
    result = _sized(request, _without("servers", "dgx-1", *facts))
    if result is None:
        return
    check = next(check for check in result.design.checks if check.kind is CheckKind.POWER)
    assert check.result is CheckResult.OPEN
    assert "dgx-1" in [fact.item for fact in check.missing]
    assert result.design.probability is None
