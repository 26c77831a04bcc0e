"""The guide for the customer and the engineer's file: what stands in which, and what stands in neither."""

import re

from sizer.guide.pdf.render import guide_html
from sizer.sizing.size import size
from sizer.workload.request import Target
from tests.factories.examples import catalog, sized
from tests.guide.test_guide import page, plain, text_of

EVIDENCE = (
    *("compute-node", "network-load", "subnets", "phases", "failures", "schedule", "addresses", "claims", "ruled-out"),
    *("all-assumptions", "calibration-1", "stages-1"),
)
STORY = ("principles", "devices", "rejected-links", "reference-1", "racks", "bill", "growth", "acceptance", "risks")


def test_each_document_has_its_own_tables():
    guide, engineer = (page("dgx1-f800-resnet50", form) for form in ("guide", "engineer"))
    for table in EVIDENCE:
        assert f'id="{table}"' in engineer, table
        assert f'id="{table}"' not in guide, table
    for table in STORY:
        assert f'id="{table}"' in guide, table
        assert f'id="{table}"' not in engineer, table


def test_the_guide_draws_each_network():
    text = page("dgx1-f800-resnet50", "guide")
    for network in ("compute-fabric", "storage-back-end", "management"):
        assert f'id="network-{network}"' in text


def test_a_cover_shows_what_is_bought_and_no_probability():
    design = sized("dgx1-f800-resnet50").design
    text = page("dgx1-f800-resnet50", "guide")
    cover = plain(re.sub("<[^>]+>", " ", text[text.index('<header class="cover">') : text.index("</header>")]))
    gpus, racks = f"{design.n_gpus} GPUs", f"{len(design.plan.racks)} racks"
    for shown in ("images/s", gpus, racks, "kW", "maximum power", "USD", "await a quote"):
        assert shown in " ".join(cover.split()), shown
    assert "probability" not in cover
    assert "confidence" not in cover


# How the tool works is no matter of a customer.
INTERNAL = (
    *("catalogue digest", "digest", "designs evaluated", "were evaluated", "inputs are assumptions"),
    *("posterior", "log file", "Pareto", "DGX-2", "excluded by the request", "/tmp", "claims"),
)


def test_a_guide_says_nothing_of_the_tool_and_of_what_the_request_excluded():
    # The request allows the DGX-1 only; without the limit, DGX-2 would be simpler.
    text = text_of(page("dgx1-f800-resnet50", "guide"))
    body = text[: text.index("Documents that the numbers come from")]
    assert [word for word in INTERNAL if word in body] == []


def test_a_low_confidence_is_said_in_plain_words_beside_the_next_larger_design():
    # The target is 0.5 % below the expected rate of the design, and an even chance is asked.
    result = sized("dgx1-f800-resnet50")
    (work,) = result.request.workload
    target = Target(samples_per_s=0.995 * float(result.design.workloads[0].throughput.value))
    asked = {"workload": (work.model_copy(update={"target": target}),), "confidence": 0.5}
    even = size(result.request.model_copy(update=asked), catalog())
    text = text_of(guide_html(even, catalog()))
    assert "a miss is as likely as a hit" in text
    assert re.search(
        r"The next larger option, \d+ × DGX-1 \+ \d+ × Isilon F800 nodes, raises the confidence to 9", text
    )
