"""A need in one sentence: what is read, what is told, what is refused."""

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import EXAMPLE, MAX_CHARACTERS, read_sentence
from sizer.workload.sentence.reading import Reading
from tests.factories.examples import catalog


def work(sentence: str) -> dict:
    """The workload that a sentence is read as; the whole is a valid request."""
    request = read_sentence(sentence, catalog()).request
    SizingRequest.from_dict(request)
    return request["workload"][0]


def test_the_example_is_read_to_its_last_word():
    reading = read_sentence(EXAMPLE, catalog())
    (found,) = reading.request["workload"]
    assert reading.unread == ()
    assert found["dnn"] == "resnet50"
    assert found["dataset_bytes"] == "22 TB"
    assert found["sample_bytes"] == "113 kB"
    assert found["target"] == {"samples_per_s": "40000 images/s"}
    assert reading.request["platforms"] == {"servers": ["dgx-1"], "storage": ["isilon-f800"]}


@pytest.mark.parametrize(
    ("sentence", "target"),
    [
        ("resnet 50 overnight", {"time_to_train_s": "12 h"}),
        ("train ResNet50 within an hour", {"time_to_train_s": "1 h"}),
        ("resnet-50 in two days", {"time_to_train_s": "2 d"}),
        ("resnet-50 at 30k images per second", {"samples_per_s": "30000 images/s"}),
        ("keep 64 V100 GPUs busy with ResNet-50", {"gpus_busy": 64}),
        ("keep 16 GPUs busy with VGG-16 on DGX-1 and F800", {"gpus_busy": 16}),
        ("ResNet-50 in 90 minutes on 16 GPUs", {"time_to_train_s": "90 min"}),
    ],
)
def test_targets(sentence, target):
    assert work(sentence)["target"] == target


@pytest.mark.parametrize(
    ("sentence", "sizes"),
    [
        ("resnet-50, 8 GPUs, 5 MB images, 100 TB", ("5 MB", "100 TB")),
        ("resnet-50, 8 GPUs, 100 TB of images of about 5 MB", ("5 MB", "100 TB")),
        ("resnet-50, 8 GPUs, 100 TiB", (None, "100 TiB")),
        ("resnet-50, 8 GPUs, files of 250 kB", ("250 kB", None)),
    ],
)
def test_a_size_is_that_of_one_sample_where_the_words_around_it_say_so(sentence, sizes):
    found = work(sentence)
    assert (found.get("sample_bytes"), found.get("dataset_bytes")) == sizes


def test_a_number_of_samples_with_their_size_is_a_data_set():
    found = work("inception v4, 20 million images of 5 MB, 5000 images/s")
    assert found["dataset"]["n_samples"] == 20_000_000
    assert found["dataset"]["sample_bytes"] == "5 MB"


def test_a_number_of_samples_in_a_known_volume_gives_their_size():
    found = work("inception v4, 2 million images in 10 TB, 5000 images/s")
    assert found["dataset"]["sample_bytes"] == pytest.approx(5e6)


def test_other_tasks_other_data_and_certainty():
    reading = read_sentence("validate GoogLeNet at 30000 images/s, 95 % sure", catalog())
    assert reading.request["confidence"] == pytest.approx(0.95)
    assert reading.request["workload"][0]["task"] == "validation-inference"
    assert work("BERT in 3 days, 40 epochs")["dataset"] == "wikipedia-bert"


def test_what_the_sentence_leaves_open_and_what_is_not_understood_is_told():
    reading = read_sentence("Train ResNet-50 overnight in Frankfurt <script>", catalog())
    assert [phrase.words for phrase in reading.phrases].count("") == 1
    assert set(reading.unread) == {"Frankfurt", "<script>"}


def question(sentence: str) -> str:
    """What is asked about a sentence, and why."""
    asked = read_sentence(sentence, catalog()).question
    return f"{asked.about}: {asked.words} {asked.reason}" if asked else ""


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("a cluster for 64 GPUs", "network:"),
        ("train ResNet-50", "target:"),
        ("train ResNet-50 at 5.000 images/s", "number: 5.000 images/s"),
        ("ResNet-50 on 8 GPUs with 10 Tb", "bits"),
        ("ResNet-50 on 8 GPUs with 10 TB and 20 TB", "could both be the size"),
        ("train AlexNet in 3 hours", "length:  AlexNet"),
        ("as fast as possible with 10 users on ResNet-50 within 500,000 USD", "cannot be combined with [team]"),
        ("x" * (MAX_CHARACTERS + 1), "2,001 characters"),
    ],
)
def test_what_is_missing_or_refused_is_asked(sentence, named):
    assert named in question(sentence)


def test_words_of_a_phrase_can_be_removed_and_replaced():
    reading = read_sentence("Train ResNet-50 at 40,000 images/s on DGX-1", catalog())
    rate = next(phrase for phrase in reading.phrases if "rate" in phrase.meaning)
    assert rate.words == "40,000 images/s"
    assert reading.with_words(rate, "in a day") == "Train ResNet-50 at in a day on DGX-1"
    assert question(reading.without(rate)).startswith("target")


PIECES = (
    *EXAMPLE.split(),
    *("40.000", "1e9", "between", "and", "16 V100", "64 H100", "3D U-Net", "10 data scientists", "not", "no more than"),
    *(
        "in a day",
        "-",
        "$",
        "kEUR",
        "500k",
        "%",
        "as cheap as possible",
        "Dell",
        "existing",
        "2 racks",
        "0",
        "½",
        "\u202f",
    ),
)


def check(reading: Reading) -> None:
    """A reading is a valid request or a question, and its phrases are words of the sentence."""
    if reading.is_complete:
        SizingRequest.from_dict(reading.request)
    for phrase in reading.phrases:
        assert reading.sentence[phrase.start : phrase.end] == phrase.words


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
@example("9" * MAX_CHARACTERS)
@example("one " * 500)
@example("1-" * 1000)
@example("between 1 and " * 140)
@example("16 V100 " * 250)
@example("\x00\ue000\ue003 16 \ue002 GPUs")
def test_any_text_is_a_valid_request_or_a_question(text):
    check(read_sentence(text, catalog()))


@pytest.mark.parametrize(
    "piece", ["10 TB ", "no DGX-1, ", "ResNet-50 and ", "USD 5k ", "a ", "16 V100 ", "1.000 ", "5 images "]
)
def test_a_text_twice_as_long_takes_at_most_about_twice_the_steps(piece):
    def steps(text: str) -> int:
        count = 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(note)
        try:
            read_sentence(text, catalog())
        finally:
            sys.setprofile(None)
        return count

    once, twice = (steps((piece * MAX_CHARACTERS)[:length]) for length in (MAX_CHARACTERS // 2, MAX_CHARACTERS))
    assert twice < 2.5 * once


@pytest.mark.parametrize(
    ("words", "memory"),
    [
        ("1.5 TB of RAM per server", "1.5 TB"),
        ("768 GB memory per server", "768 GB"),
        ("host memory of at least 1 TB", "1 TB"),
        ("768 GB of host memory", "768 GB"),
    ],
)
def test_memory_of_the_servers_is_not_the_size_of_the_data(words, memory):
    reading = read_sentence(f"ResNet-50 on 140 GB at 3000 images/s with {words}", catalog())
    assert reading.request["platforms"] == {"host_memory_bytes": memory}
    assert reading.request["workload"][0]["dataset_bytes"] == "140 GB"
    assert reading.unread == ()


@pytest.mark.parametrize(
    "words",
    ["500 TB usable", "at least 500 TB of usable storage", "a capacity of 500 TB", "storage of at least 500 TB"],
)
def test_a_capacity_is_not_the_size_of_the_data(words):
    reading = read_sentence(f"ResNet-50 on 20 TB of images at 3000 images/s, {words}", catalog())
    assert reading.request["data"] == {"minimum_capacity_bytes": "500 TB"}
    assert reading.request["workload"][0]["dataset_bytes"] == "20 TB"
    assert reading.unread == ()


@pytest.mark.parametrize(
    ("words", "rates"),
    [
        ("20 GB/s of reads", ("20 GB/s", None)),
        ("20 GB/s read and 10 GB/s write", ("20 GB/s", "10 GB/s")),
        ("storage that delivers 40 GB/s and 20 GB/s of writes", ("40 GB/s", "20 GB/s")),
        ("storage must read at least 8 GB/s", ("8 GB/s", None)),
        ("aggregate read throughput of 60GBps, writes 30GBps", ("60 GB/s", "30 GB/s")),
        ("100 GB/s storage bandwidth", ("100 GB/s", None)),
        ("a filer with 30-40 GB/s", ("40 GB/s", None)),
        ("1.5 TB/s of read bandwidth", ("1.5 TB/s", None)),
        ("writing at 12 GB per second", (None, "12 GB/s")),
    ],
)
def test_rates_of_the_storage_are_read(words, rates):
    reading = read_sentence(f"Fine-tune Llama 3 70B on 64 H100, {words}", catalog())
    names = ("minimum_read_bytes_per_s", "minimum_write_bytes_per_s")
    assert reading.request["data"] == {name: rate for name, rate in zip(names, rates, strict=True) if rate}
    assert reading.unread == ()


@pytest.mark.parametrize("words", ["2 GB/s per GPU of storage throughput", "20 GB/s"])
def test_a_rate_of_something_else_is_left_unread(words):
    reading = read_sentence(f"Fine-tune Llama 3 70B on 64 H100, {words}", catalog())
    assert "data" not in reading.request
    assert reading.unread != ()


def test_bits_are_not_taken_for_bytes():
    reading = read_sentence("Fine-tune Llama 3 70B on 64 H100, 20 Gb/s of reads", catalog())
    assert reading.question is not None
    assert "write GB/s for bytes" in (reading.question.reason or "")


@pytest.mark.parametrize(
    ("words", "tier"),
    [
        ("all-flash storage", "performance"),
        ("flash storage", "performance"),
        ("hybrid storage", "capacity"),
        ("NL-SAS storage", "capacity"),
        ("the local NVMe drives", "local"),
    ],
)
def test_media_name_a_storage_tier(words, tier):
    reading = read_sentence(f"ResNet-50 on 20 TB of images at 3000 images/s from {words}", catalog())
    assert reading.request["platforms"] == {"storage_tier": tier}
    assert reading.unread == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "over five years at 0.25 EUR/kWh",
            {"ownership": {"years": 5, "electricity_per_kwh": 0.25}, "currency": "EUR"},
        ),
        ("5-year TCO, $0.12 per kWh", {"ownership": {"years": 5, "electricity_per_kwh": 0.12}}),
        ("25 cents per kWh and a PUE of 1.4", {"ownership": {"electricity_per_kwh": 0.25}, "site": {"pue_ratio": 1.4}}),
        ("with the lowest total cost of ownership", {"ownership": {}, "rank_by": "ownership"}),
        ("cheapest to own for 7 years", {"ownership": {"years": 7}, "rank_by": "ownership"}),
    ],
)
def test_the_cost_of_ownership(words: str, expected: dict[str, object]) -> None:
    read = read_sentence(f"Train ResNet-50 at 20000 images/s {words}", catalog())
    assert {key: value for key, value in read.request.items() if key not in ("title", "workload")} == expected
    assert not read.unread


def test_amounts_in_two_currencies_are_refused() -> None:
    asked = question("ResNet-50 at 3000 images/s within 500,000 USD, over 5 years at 0.25 EUR/kWh")
    assert "amounts in EUR and in USD; write one currency" in asked
