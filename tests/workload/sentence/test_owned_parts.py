"""Parts that are owned or added."""

from pathlib import Path

import pytest

from sizer.catalog.loader import load_catalog, shipped_catalog
from sizer.catalog.model import Catalog
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import ROOT


@pytest.mark.parametrize("name", ["Gaudi 3", "MI455X", "Vera Rubin NVL72"])
def test_what_no_server_or_system_can_be_ordered_with_is_asked_about(name: str) -> None:
    question = read_sentence(f"ResNet-50 on 8 H200 and {name}", shipped_catalog()).question
    assert question is not None
    assert (question.about, question.words) == ("unavailable", name)


def test_storage_that_is_not_held_is_told_and_any_is_taken() -> None:
    reading = read_sentence("ResNet-50 on 8 H200 and FlashBlade//EXA", shipped_catalog())
    assert reading.is_complete
    assert "platforms" not in reading.request or "storage" not in reading.request["platforms"]
    assert any(one.startswith("FlashBlade//EXA: not in the catalogue") for one in reading.assumptions)


SENTENCE = "16 Zeus Z9000 in Thunder P4 boxes from Acme for OlympNet-7 at 9000 images/s"


def made_up(folder: Path, like: str, changes: dict[str, str]) -> None:
    """A file of an overlay, made of a shipped one with other texts."""
    text = (ROOT / "catalog" / like).read_text(encoding="utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    name = next(line for line in text.splitlines() if line.startswith("id = ")).split('"')[1]
    place = folder / Path(like).parent / f"{name}.toml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def larger_catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalogue with a GPU, a server, a storage system and a network that nobody sells."""
    folder = tmp_path_factory.mktemp("overlay")
    gpu = {'id = "v100-sxm2-32gb"': 'id = "z9000"', "Tesla V100 SXM2 32 GB": "Zeus Z9000 64 GB"}
    made_up(folder, "gpus/v100-sxm2-32gb.toml", gpu)
    server = {
        'id = "dgx-1"': 'id = "thunder-p4"',
        'name = "DGX-1"': 'name = "Thunder P4"',
        'aliases = ["DGX-1V"]': 'aliases = ["Big Bolt"]',
        'vendor = "NVIDIA"': 'vendor = "Acme"',
        'gpus = ["v100-sxm2-16gb", "v100-sxm2-32gb"]': 'gpus = ["z9000"]',
    }
    made_up(folder, "servers/dgx-1.toml", server)
    network = {'id = "vgg16"': 'id = "olympnet7"', 'name = "VGG-16"': 'name = "OlympNet-7"'}
    made_up(folder, "dnns/vgg16.toml", network)
    return load_catalog(overlay=folder)


def test_an_added_network_is_read(larger_catalog: Catalog) -> None:
    reading = read_sentence("train olympnet 7 at 9k images/s", larger_catalog)
    assert reading.request["workload"][0]["dnn"] == "olympnet7"
    assert reading.unread == ()


@pytest.mark.parametrize("name", ["Z9000", "zeus z-9000", "Zeus Z9000 64 GB", "Z9000s"])
def test_an_added_gpu_is_read(larger_catalog: Catalog, name: str) -> None:
    reading = read_sentence(f"16 {name} for ResNet-50", larger_catalog)
    assert reading.request["platforms"] == {"gpus": ["z9000"]}
    assert reading.request["workload"][0]["target"] == {"gpus_busy": 16}
    assert reading.unread == ()


def test_a_v100_is_no_other_gpu_once_there_is_one(larger_catalog: Catalog) -> None:
    reading = read_sentence("16 V100 for ResNet-50", larger_catalog)
    assert "z9000" not in reading.request["platforms"]["gpus"]
    assert "v100-sxm2-16gb" in reading.request["platforms"]["gpus"]


@pytest.mark.parametrize("name", ["Thunder P4", "thunder-p4", "Big Bolt", "Acme Thunder P4"])
def test_an_added_server_is_read_by_all_its_names(larger_catalog: Catalog, name: str) -> None:
    reading = read_sentence(f"two {name} for ResNet-50", larger_catalog)
    assert reading.request["platforms"]["servers"] == ["thunder-p4"]
    assert reading.request["workload"][0]["target"] == {"gpus_busy": 16}
    assert reading.unread == ()


def test_an_added_vendor_is_read(larger_catalog: Catalog) -> None:
    reading = read_sentence("ResNet-50, 16 GPUs, Acme servers", larger_catalog)
    assert reading.request["platforms"]["servers"] == ["thunder-p4"]
    assert "Acme" in read_sentence("Acme", shipped_catalog()).unread


def test_everything_at_once(larger_catalog: Catalog) -> None:
    reading = read_sentence(SENTENCE, larger_catalog)
    (work,) = reading.request["workload"]
    assert work["dnn"] == "olympnet7"
    assert reading.request["platforms"]["gpus"] == ["z9000"]
    assert reading.request["platforms"]["servers"] == ["thunder-p4"]


def test_without_them_they_are_asked_for() -> None:
    reading = read_sentence(SENTENCE, shipped_catalog())
    assert reading.question is not None
    assert reading.question.about == "unavailable"
