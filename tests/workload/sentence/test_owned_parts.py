"""Parts that are owned or added."""

from pathlib import Path

import pytest

from sizer.catalog.loader import load_catalog, shipped_catalog
from sizer.catalog.model import Catalog
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import ROOT
from tests.workload.sentence.test_presales import values

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


ADDED = {
    "train olympnet 7 at 9k images/s": {"w.dnn": "olympnet7"},
    **{f"16 {name} for ResNet-50": {"platforms.gpus": ["z9000"]} for name in ("Z9000", "zeus z-9000", "Z9000s")},
    "16 Zeus Z9000 64 GB for ResNet-50": {"platforms.gpus": ["z9000"], "w.target.gpus_busy": 16},
    **{
        f"two {name} for ResNet-50": {"platforms.servers": ["thunder-p4"], "w.target.gpus_busy": 16}
        for name in ("Thunder P4", "thunder-p4", "Big Bolt", "Acme Thunder P4")
    },
    "ResNet-50, 16 GPUs, Acme servers": {"platforms.servers": ["thunder-p4"]},
    SENTENCE: {"w.dnn": "olympnet7", "platforms.gpus": ["z9000"], "platforms.servers": ["thunder-p4"]},
}


@pytest.mark.parametrize("sentence", ADDED)
def test_what_was_added_is_read_by_all_its_names(larger_catalog: Catalog, sentence: str) -> None:
    reading = read_sentence(sentence, larger_catalog)
    assert ADDED[sentence].items() <= values(reading).items()
    assert sentence == SENTENCE or reading.unread == ()


def test_a_v100_is_no_other_gpu_once_there_is_one(larger_catalog: Catalog) -> None:
    reading = read_sentence("16 V100 for ResNet-50", larger_catalog)
    assert "z9000" not in reading.request["platforms"]["gpus"]
    assert "v100-sxm2-16gb" in reading.request["platforms"]["gpus"]


def test_without_them_they_are_asked_for() -> None:
    reading = read_sentence(SENTENCE, shipped_catalog())
    assert reading.question is not None
    assert reading.question.about == "unavailable"
    assert "Acme" in read_sentence("Acme", shipped_catalog()).unread
