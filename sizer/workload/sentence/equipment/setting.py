"""What a sentence says about where the cluster comes to stand: what it replaces, racks delivered whole, cooling."""

import re

from sizer.workload.sentence.equipment.named import NEGATION_AFTER
from sizer.workload.sentence.names import GPU, SERVER, VENDOR
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT
from sizer.workload.sentence.text import READ

# --- what is replaced

_REPLACED = re.compile(
    r"\b(?:instead of|rather than|in place of|(?:to )?replac(?:e|es|ing|ement (?:of|for))"
    r"|refresh(?:ing)?(?: of)?|swap(?:ping)?(?: out)?|retir(?:e|es|ing)|decommission(?:ing)?"
    r"|(?:moving|migrating|coming) (?:away )?from|upgrad(?:e|ing) (?:from|of)) "
    r"(?:the |our |their |my |an? )?(?:existing |old |ageing |aging |current |legacy )*"
    rf"(?:(?:{COUNT} ?(?:x )?)?(?:{VENDOR}+ )*(?:{GPU}+|{SERVER}+)"
    r"(?: (?:GPUs?|cards|servers?|nodes|boxes|systems?|machines?|clusters?))*)(?: (?:by|with|to)\b)?",
    re.I,
)

# Old equipment that is named first: "64 A100, end of life in 2026: replace them".
_GOES = (
    r"(?:(?:replac\w+|upgrad(?:e|ing) (?:from|of)|refresh\w*|retir\w+|swap\w*(?: out)?|decommission\w*"
    r"|(?:mov|migrat)(?:e|ing) (?:away )?from) (?:them|these|those|it|all of (?:them|these))\b)"
)
_ENDS = (
    r"(?:\bend[ -]of[ -](?:life|support|service|warranty|maintenance)\b|\bEO[LS]L?\b|\bout of (?:warranty|support)\b"
    r"|\b(?:fully )?(?:depreciated|written off)\b|\bobsolete\b|\bto be (?:replaced|retired|decommissioned)\b)"
)
_WHEN = r"(?: (?:in|by|since|at|as of|this|next|end of)){0,2} (?:20\d\d|year|month|quarter)\b"
_NOUNS = r"(?: (?:GPUs?|cards|servers?|nodes|boxes|systems?|machines?|clusters?))*"
_OLD = re.compile(
    rf"(?:\b(?:bought|purchased|installed|acquired) )?"
    rf"(?:{COUNT} ?(?:x )?)?(?:{VENDOR}+ )*(?:{GPU}+|{SERVER}+){_NOUNS}"
    rf"(?P<between>[^\ue000-\ue006{READ}\d.;]{{0,40}}(?:{_WHEN}[^\ue000-\ue006{READ}\d.;]{{0,40}})?)"
    rf"(?:{_ENDS}(?:{_WHEN})?(?:[ ,.:;-]{{1,3}}(?:please |we |so |and |must |should |want to |to )*{_GOES})?|{_GOES})",
    re.I,
)

_REASON = re.compile(rf"{_ENDS}(?:{_WHEN})?", re.I)


_COOLING = {
    "air": re.compile(
        r"\b(?:air[ -]?cool(?:ed|ing)(?: only)?|(?:no|without|not) (?:liquid|water)(?:[ -]cool(?:ed|ing))?)\b"
        rf"|\b(?:liquid|water)[ -]cooling{NEGATION_AFTER}",
        re.I,
    ),
    "liquid": re.compile(r"\b(?:with |direct )*(?:liquid|water)[ -]cool(?:ed|ing)\b|\bDLC\b", re.I),
}


def read_setting(notes: Notes) -> None:
    """Equipment that goes away, systems that arrive as a rack, and what the room takes heat away with."""
    _read_replaced(notes)
    _read_delivered_racks(notes)
    for cooling, pattern in _COOLING.items():
        if (match := notes.text.find(pattern)) and "cooling" not in notes.request.get("site", {}):
            notes.table("site")["cooling"] = cooling
            notes.text.record(match, f"{cooling} cooling")


def _read_replaced(notes: Notes) -> None:
    """Equipment that goes away: it limits nothing."""
    while match := notes.text.find(_REPLACED) or notes.text.find(_OLD):
        gone = {one for kind in (GPU, SERVER, VENDOR) for one in notes.mentions_in(match.start(), match.end(), kind)}
        notes.mentions = [one for one in notes.mentions if one not in gone]
        notes.text.record(match, "replaced, not part of the design")
        while why := notes.text.find(_REASON):
            notes.text.mark(why.start(), why.end())


# "Two racks of GB200 NVL72" counts systems that arrive as a rack.
_RACKS_OF = re.compile(rf"(?P<number>{COUNT})(?P<racks> (?:full )?racks? (?:of|with) )(?:{VENDOR}+ )*{SERVER}+", re.I)


def _read_delivered_racks(notes: Notes) -> None:
    """Racks of a system that arrives as one: so many systems, and no limit."""
    for match in list(_RACKS_OF.finditer(notes.text.left)):
        (mention, *_) = notes.mentions_in(match.start(), match.end(), SERVER)
        if all(notes.catalog.servers[key].delivered is not None for key in mention.ids):
            notes.text.mark(match.start("racks"), match.end("racks"), " ")
