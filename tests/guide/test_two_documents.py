"""The guide for the customer and the engineer's file: what stands in which, and what stands in neither."""

import re

from tests.factories.examples import sized
from tests.guide.test_guide import page, plain

EVIDENCE = (
    *("compute-node", "network-load", "subnets", "watch", "failures", "schedule", "addresses", "claims", "ruled-out"),
    *("all-assumptions", "calibration-1", "stages-1"),
)
STORY = (
    "options",
    "devices",
    "rejected-links",
    "references",
    "racks",
    "bill",
    "growth",
    "phases",
    "acceptance",
    "risks",
)


def test_each_document_has_its_own_tables():
    guide, engineer = (page("dgx1-f800-resnet50", form) for form in ("guide", "engineer"))
    for table in EVIDENCE:
        assert f'id="{table}"' in engineer, table
        assert f'id="{table}"' not in guide, table
    for table in STORY:
        assert f'id="{table}"' in guide, table
        assert f'id="{table}"' not in engineer, table


def test_a_cover_shows_what_is_bought_and_no_probability():
    design = sized("dgx1-f800-resnet50").design
    text = page("dgx1-f800-resnet50", "guide")
    cover = plain(re.sub("<[^>]+>", " ", text[text.index('<header class="cover">') : text.index("</header>")]))
    gpus, racks = f"{design.n_gpus} GPUs", f"{len(design.plan.racks)} racks"
    for shown in ("images/s", gpus, racks, "kW", "maximum power", "USD", "million", "need quotes"):
        assert shown in " ".join(cover.split()), shown
    assert "probability" not in cover
    assert "confidence" not in cover


def test_one_server_has_a_short_guide_and_a_language_model_no_formulas_of_samples():
    """A chapter of a cluster would repeat the summary; the engineer's file has the evidence."""
    short, long = (
        set(re.findall(r'id="chapter-([a-z-]+)"', page(name, "guide")))
        for name in ("llama-70b-adapters-b200", "llama-70b-dgx-h100")
    )
    assert short == {"summary", "requirements", "facility", "bill", "acceptance", "risks", "sources"}
    assert short < long
    chapters = re.findall(r'id="chapter-([a-z-]+)"', page("llama-70b-adapters-b200", "engineer"))
    assert "formulas" not in chapters
    assert "formulas" in re.findall(r'id="chapter-([a-z-]+)"', page("dgx1-f800-resnet50", "engineer"))


def test_documents_of_serving_have_no_words_of_training():
    """Nothing is trained: no epochs, no data set that stages read, no claims on its storage."""
    for form in ("guide", "engineer"):
        text = plain(re.sub("<svg.*?</svg>|<style.*?</style>", "", page("office-chat-70b-h200", form), flags=re.DOTALL))
        assert not re.search(r"\bepochs?\b", re.sub("<[^>]+>", " ", text), re.IGNORECASE), form
    chapters = re.findall(r'id="chapter-([a-z-]+)"', page("office-chat-70b-h200", "engineer"))
    assert not {"data", "formulas"} & {*chapters}
