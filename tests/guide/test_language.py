"""Guide, file and summary use the words of the field: none of the phrases that once paraphrased them."""

import re

import pytest

from sizer.guide.edition import Edition, Form
from sizer.guide.pdf import render
from tests.factories.examples import catalog, most_in, sized
from tests.guide.test_guide import text_of

# Each phrase with the word of the field that stands in its place. Words that have a plain meaning, too ("made of",
# "left", "in time"), are listed with what makes them the paraphrase.
PARAPHRASES = {
    r"limits? now|sets? the pace": "bottleneck",
    r"lies \d[\d.]* times (?:higher|above)": "headroom",
    r"\bbusy\b|\bused up\b": "utilization; capacity exhausted in year n",
    r"taken for granted|takes? for granted|facts behind it": "assumption",
    r"\bhow sure\b": "sizing confidence",
    r"a rate that lies between|rate lies between": "expected rate (90 % interval a to b)",
    r"\bbears? (?:a|the|no) loss|keeps? its targets without": "tolerates the loss of one server; N+1",
    r"\bhangs? (?:on|together)\b|\bone inlet\b": "single-corded; connected",
    r"1:1 where down is up|where down is up": "non-blocking; oversubscription",
    r"way of a sample": "data path",
    r"unit of the design": "building block",
    r"\bbeside\b": "compared with",
    r"what is left of|left of sizes": "remaining capacity",
    r"\banew\b": "resize; re-run",
    r"\bpatience\b|\bstart in time\b": "queue wait",
    r"\bis by others\b|\bare by others\b": "provided by others",
    r"the request leaves (?:it|them) out": "excluded by the request",
    r"to be asked\b|open prices?\b": "needs a quote",
    r"\bdoubts?\b|to be aware of": "cautions",
    r"what must be reached": "target",
    r"validation inference": "batch inference on a test set",
    r"ranks nobody|sent home|everybody|nobody": "no personification",
}
EXAMPLES = ("dgx1-f800-resnet50", "apollo-googlenet-inference", "small-team", "hgx-b200-400gbe", "driving-two-tiers")


@pytest.mark.parametrize("form", ["guide", "engineer", "summary"])
@pytest.mark.parametrize("name", most_in("guides", EXAMPLES))
def test_no_paraphrase_of_a_word_of_the_field(name: str, form: Form) -> None:
    text = text_of(render.guide_html(sized(name), catalog(), Edition(form)))
    found = {
        line.strip()[:160]: f"say: {word}"
        for pattern, word in PARAPHRASES.items()
        for line in text.splitlines()
        if re.search(pattern, line, re.IGNORECASE)
    }
    assert found == {}
