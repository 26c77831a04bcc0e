"""Sentences about networks of MLPerf Training on today's GPUs."""

import pytest

from sizer import SizingRequest
from sizer.catalog.loader import shipped_catalog
from sizer.workload.sentence.reader import read_sentence

CATALOG = shipped_catalog()


@pytest.mark.parametrize(
    ("sentence", "dnn", "dataset", "target", "more"),
    [
        ("Stable Diffusion on 16 H200", "stable-diffusion-v2", "laion-400m-moments", {"gpus_busy": 16}, {}),
        (
            "train RetinaNet in an hour on B200",
            "retinanet",
            "openimages-mlperf",
            {"time_to_train_s": "1 h"},
            {"recipe": "retinanet-mlperf-v5.0"},
        ),
        ("speech recognition with RNN-T on 8 A100", "rnn-t", "librispeech", {"gpus_busy": 8}, {}),
        ("DLRM-DCNv2 at 20 million samples/s", "dlrm-dcnv2", "criteo-4tb", {"samples_per_s": "20000000 samples/s"}, {}),
        ("train DLRM on 8 H100", "dlrm", "criteo-1tb", {"gpus_busy": 8}, {}),
        ("a graph neural network on 64 H100", "r-gat", "igbh-full", {"gpus_busy": 64}, {}),
        (
            "BERT in 10 minutes on H100",
            "bert-large",
            "wikipedia-bert",
            {"time_to_train_s": "10 min"},
            {"recipe": "bert-large-mlperf-v5.0"},
        ),
        (
            "3D U-Net in 20 minutes on DGX H100",
            "unet3d",
            "kits19",
            {"time_to_train_s": "20 min"},
            {"recipe": "unet3d-mlperf-v4.0"},
        ),
        ("train Mask R-CNN on 8 B200", "mask-rcnn", "coco", {"gpus_busy": 8}, {}),
        ("diffusion model on LAION-400M, 32 B200", "stable-diffusion-v2", "laion-400m-moments", {"gpus_busy": 32}, {}),
        ("train FLUX on 16 B200", "flux-1", "cc12m-flux-encodings", {"gpus_busy": 16}, {"recipe": None}),
        ("FLUX.1 [dev] on 8 H100", "flux-1", "cc12m-flux-encodings", {"gpus_busy": 8}, {}),
        (
            "FLUX.1 on 64 H100 within 24 hours",
            "flux-1",
            "cc12m-flux-encodings",
            {"time_to_train_s": "24 h"},
            {"recipe": "flux-1-mlperf-v5.1"},
        ),
        (
            "how long does MLPerf FLUX take on 72 GB200",
            "flux-1",
            "cc12m-flux-encodings",
            {"gpus_busy": 72},
            {"recipe": "flux-1-mlperf-v5.1", "stack": "mlperf-training"},
        ),
        (
            "we have 4 DGX H100; how long does Stable Diffusion take?",
            "stable-diffusion-v2",
            "laion-400m-moments",
            {"gpus_busy": 32},
            {"recipe": "stable-diffusion-v2-mlperf-v5.0"},
        ),
    ],
)
def test_a_sentence_is_read(sentence, dnn, dataset, target, more):
    reading = read_sentence(sentence, CATALOG)
    assert reading.question is None
    assert reading.unread == ()
    [work] = reading.request["workload"]
    assert work["dnn"] == dnn
    assert work.get("dataset") == dataset
    assert work["target"] == target
    assert {key: work.get(key) for key in more} == more
    SizingRequest.from_dict(reading.request)


def test_how_long_of_a_network_without_a_recipe_is_no_question():
    """The answer is the rate, as before; nobody publishes how long VGG-16 trains to a quality."""
    reading = read_sentence("how long does VGG16 take on 16 V100", CATALOG)
    assert reading.question is None
    [work] = reading.request["workload"]
    assert work["target"] == {"gpus_busy": 16}
    assert "recipe" not in work


def test_on_v100_a_time_still_asks_for_the_length():
    """The recipes of these rounds are those of newer systems; nothing was published of them on V100."""
    reading = read_sentence("3D U-Net in a day on DGX-1", CATALOG)
    assert reading.question is not None
    assert reading.question.about == "length"
