"""Names of GPUs and storage that people own, tender or ask for: the part that each of them means."""

import pytest

from sizer.catalog.loader import shipped_catalog
from sizer.workload.sentence.reader import read_sentence

GPUS = {
    "GH200": {"gh200-96gb", "gh200-144gb"},
    "GH200 144 GB": {"gh200-144gb"},
    "H20": {"h20-sxm-96gb"},
    "H800": {"h800-sxm-80gb"},
    "L4": {"l4-24gb"},
    "L40S": {"l40s-48gb"},
    "A10": {"a10-24gb"},
    "A30": {"a30-24gb"},
    "A40": {"a40-48gb"},
    "T4": {"t4-16gb"},
    "RTX A6000": {"rtx-a6000-48gb"},
    "RTX 6000 Ada": {"rtx-6000-ada-48gb"},
    "MI250X": {"mi250x-128gb"},
    "mi300a": {"mi300a-128gb"},
}
STORAGE = {
    "VAST": "vast",
    "VAST Data": "vast",
    "FlashBlade": "flashblade-s",
    "FlashBlade//S500": "flashblade-s",
    "Qumulo": "qumulo",
    "NetApp A90": "netapp-a90",
    "ESS 3500": "ibm-sss3500",
    "ClusterStor E1000": "clusterstor-e1000",
    "Ceph": "ceph-nvme",
}


@pytest.mark.parametrize("name", GPUS)
def test_a_gpu_is_found_by_its_name(name: str) -> None:
    reading = read_sentence(f"ResNet-50 on 16 {name} at 900 images/s", shipped_catalog())
    assert set(reading.request["platforms"]["gpus"]) == GPUS[name]
    assert (reading.question, reading.unread) == (None, ())


@pytest.mark.parametrize("name", STORAGE)
def test_storage_is_found_by_its_name_and_names_no_vendor(name: str) -> None:
    """ "Storage" and "Data" of Pure Storage and VAST Data are words, no vendors."""
    reading = read_sentence(f"ResNet-50 on 8 H200 with {name} storage and 2 TB of data", shipped_catalog())
    assert reading.request["platforms"]["storage"] == [STORAGE[name]]
    assert set(reading.request["platforms"].get("prefer_vendors", [])) <= {"NetApp", "IBM"}
    assert reading.question is None


@pytest.mark.parametrize("name", ["Gaudi 3", "MI455X", "Vera Rubin NVL72", "FlashBlade//EXA"])
def test_what_no_server_or_system_can_be_ordered_with_is_asked_about(name: str) -> None:
    question = read_sentence(f"ResNet-50 on 8 H200 and {name}", shipped_catalog()).question
    assert question is not None
    assert (question.about, question.words) == ("unavailable", name)
