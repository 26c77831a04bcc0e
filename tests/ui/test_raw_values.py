"""No page of any example shows an id of the catalogue, a field of a request, or a number as a machine prints it."""

import html
import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from sizer.catalog.loader import shipped_catalog
from sizer.ui.requirements.conversation import TEMPLATES
from sizer.workload.request import SizingRequest
from tests.factories.examples import ROOT
from tests.ui.pages import PATH, load, opened, said, to_page, unfold, widget

FOLDS = ("more",)
# Published architectures, common workloads and questions, as the app offers them.
EXAMPLES = sorted(
    path.relative_to(ROOT / "examples").with_suffix("").as_posix() for path in (ROOT / "examples").rglob("*.toml")
)
QUESTIONS = (
    "Do we need this?",
    "Scale up or out",
    "Team",
    "Data and ingest",
    "Growth",
    "Failures",
    "Rent or buy",
)
# 1E+1, 8380.0, 8e+03; names of fields with an underscore, and tables of a request file.
RAW = re.compile(r"\[\[|\b\d+(?:\.\d+)?[eE][+-]?\d+\b|(?<![\d\u202f.])\d{4,}\.0\b|\b[a-z]+(?:_[a-z]+)+\b")
# Files and addresses have names; programs and their functions as well.
NAMED = re.compile(
    r"tf_cnn_benchmarks|get_peak_flops|nemo-automodel"
    r"|\S+/\S+|\S+\.(?:toml|csv|json|zip|pdf|yaml|py|txt|xlsx)\b|https?:\S+|`[^`]*`"
)


def ids() -> re.Pattern[str]:
    """Ids that nobody would write as a name: with a letter and a hyphen or a digit, and other than the name."""
    found = {
        item.id
        for _, item in shipped_catalog().items()
        if item.id.casefold() != item.name.casefold() and re.search(r"[a-z]", item.id)
    }
    named = " ".join(item.name for _, item in shipped_catalog().items())
    links = ("edr", "fdr", "hdr", "ndr", "xdr")
    words = {one for one in found if (re.search(r"[-0-9]", one) or one in links) and one not in named}
    return re.compile(
        r"(?<![\w/.-])(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + r")(?![\w-])"
    )


IDS = ids()


def texts(block: Block) -> Iterator[str]:
    """Everything that is written in a part of a page."""
    for one in block.children.values():
        proto = one.proto
        if isinstance(one, Block):
            fields = {field.name for field in proto.DESCRIPTOR.fields}
            yield from (getattr(proto, kind).label for kind in ("popover", "expandable", "tab") if kind in fields)
            yield getattr(proto, "label", "")
            yield from texts(one)
            continue
        if one.type == "html":
            if not proto.unsafe_allow_javascript:
                yield re.sub(r"<style.*?</style>|<[^>]*>", " ", proto.body, flags=re.DOTALL)
            continue
        for name in ("body", "label", "help", "placeholder", "delta", "options", "alt"):
            value = getattr(proto, name, "")
            yield from [value] if isinstance(value, str) else map(str, value)
        if one.type in ("text_input", "number_input", "text_area", "metric"):
            yield str(one.value)


def raw_values(app: AppTest) -> list[str]:
    """What should not be there, each with the words around it."""
    assert not app.exception, [one.message for one in app.exception]
    found = []
    for text in texts(app.main):
        clean = NAMED.sub(" ", html.unescape(text).replace("\\", ""))
        for pattern in (IDS, RAW):
            found += [clean[max(0, match.start() - 30) : match.end() + 20] for match in pattern.finditer(clean)]
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_page_of_an_example_shows_raw_values(name):
    app = opened()
    load(app, name)
    unfold(app, *FOLDS)
    found = {"requirements": raw_values(app)}
    for page in PATH[1:]:
        found[page] = raw_values(to_page(app, page))
    assert {page: values for page, values in found.items() if values} == {}


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("dgx1-f800-resnet50", QUESTIONS),
        ("llama-70b-dgx-h100", ("Scale up or out", "Data and ingest", "Failures")),
        ("driving-two-tiers", ("Data and ingest", "Growth", "Rent or buy")),
        ("questions/most-within-budget", ("Scale up or out",)),
    ],
)
def test_no_question_shows_raw_values(name, questions):
    app = opened()
    app.session_state["question"] = questions[0]
    load(app, name)
    app.session_state.original = dict(app.session_state.draft)
    found = {}
    for question in questions:
        app.session_state.question = question
        found[question] = raw_values(to_page(app, "what-if"))
    assert {question: values for question, values in found.items() if values} == {}


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_page_of_a_template_shows_raw_values(name):
    app = opened()
    widget(app.button, name).click().run()
    assert not app.error
    assert "Not understood" not in said(app)
    SizingRequest.from_dict(app.session_state.draft)
    found = {page: raw_values(to_page(app, page)) for page in PATH}
    assert {page: values for page, values in found.items() if values} == {}


def test_designs_and_catalogue_show_no_raw_values():
    assert raw_values(to_page(opened(), "designs")) == []
    assert raw_values(to_page(opened(), "catalogue")) == []


def test_evidence_names_parts():
    """Benchmarks are cited by the names of their programs, with underscores."""
    app = to_page(opened(), "evidence")
    assert not app.exception
    assert [found for text in texts(app.main) for found in IDS.findall(NAMED.sub(" ", text))] == []
