"""Ends of sale and service of the main parts stand next to the answer, with the successor that the catalogue knows."""

from sizer import SizingRequest, size
from sizer.bom.bill import BillWarning, BillWarningKind
from sizer.catalog.loader import shipped_catalog
from sizer.present.text.bill_warnings import life_cycle_sentences
from sizer.present.text.verdict import proposal_text, verdict_text


def _sized(server, storage):
    work = {"dnn": "resnet50", "target": {"gpus_busy": 16}}
    platforms = {"servers": [server], "storage": [storage]}
    request = {"workload": [work], "platforms": platforms, "date": "2026-11-26", "confidence": 0.5}
    return size(SizingRequest.from_dict(request), shipped_catalog())


def test_an_ended_sale_is_said_with_the_successor():
    """A reseller's alert ("rackula", source 17): DGX H100, end of sale 2025-01-25."""
    result = _sized("dgx-h100", "ai400x2")
    ended = BillWarning(BillWarningKind.SALE_ENDED, ("DGX H100", "2025-01-25", "DGX H200"))
    assert ended in result.design.bill.warnings
    (sentence,) = life_cycle_sentences(result.design)
    assert "2025-01-25" in sentence
    assert "DGX H200" in sentence
    assert sentence in verdict_text(result)
    assert sentence in proposal_text(result)


def test_a_published_end_of_service_of_the_storage_is_said():
    """Platform note of the vendor ("ps-hw-concepts"): service of the Isilon F800 ends in May 2029."""
    (sentence,) = life_cycle_sentences(_sized("dgx-1", "isilon-f800").design)
    assert "2029-05" in sentence
