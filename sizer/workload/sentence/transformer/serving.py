"""Serving of a language model, or any inference with it: no request can say it, so it is refused or left unread."""

import re

from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.text import READ

_SERVES = re.compile(
    r"\bserv(?:e|es|ing)\b(?: (?:requests|traffic|users|customers))?"
    r"|\b(?:inferenc\w+|inferring|infer)\b|\bhosting\b|\b(?:vLLM|TensorRT-LLM|SGLang|TGI)\b"
    rf"|\b(?:host|deploy(?:ing)?)(?= (?:an? |our |the |own |of )*{READ})"
    r"|\b(?:answer|generat|complet)(?:e|es|ing) (?:prompts|questions|queries|text|tokens|answers|completions)\b",
    re.I,
)
_TRAINS = re.compile(r"\b(?:re-?|pre[ -]?)?train(?:s|ing|ed)?\b|\bfine[ -]?tun|\bfinetun|\b(?:q?lora|peft|sft)\b", re.I)
_REASON = "serving and inference of language models are out of scope; ask for pre-training or fine-tuning"


def leave_serving(notes: Notes, infers: re.Pattern[str]) -> None:
    """Refuse a language model that is only served; of a training leave words about serving unread.

    Parameters
    ----------
    notes : Notes
    infers : pattern
        Words of batch inference, which other networks can have.
    """
    is_language = [notes.catalog.dnns[key].transformer is not None for key in notes.dnns]
    if not (all(is_language) if is_language else notes.means_language):
        return
    is_training = _TRAINS.search(notes.text.sentence) is not None
    is_refused = False
    for pattern in (_SERVES, infers):
        while match := notes.text.find(pattern):
            if is_training:
                notes.leave(match)
                continue
            if not is_refused:
                notes.refuse(match[0].strip(), _REASON)
            is_refused = True
            notes.text.mark(match.start(), match.end())
