"""Answers to what is missing: networks and targets that a customer may mean."""

import re

from sizer.catalog.generations import newer_eras
from sizer.workload.request import SIZE_LIMITS
from sizer.workload.sentence.equipment.named import eras_meant
from sizer.workload.sentence.names import measurements, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.reading import Answer

_SAMPLE_NAMES = {
    "image": r"images?|pictures?|photos?|pics",
    "volume": r"volumes?|(?:CT|MRI) scans?",
    "sentence pair": r"sentences?",
}


def network_answers(notes: Notes) -> tuple[Answer, ...]:
    """Networks for the kind of sample that the sentence names, or all; those in wide use come first."""
    items = list(notes.catalog.dnns.values())
    if notes.means_language:
        items = [item for item in items if item.transformer is not None]
    else:
        kinds = {
            kind for kind, words in _SAMPLE_NAMES.items() if re.search(rf"\b(?:{words})\b", notes.text.sentence, re.I)
        }
        items = [item for item in items if item.sample in kinds] or items
    measured = measurements(notes.catalog)
    newer_first = eras_meant(notes) <= newer_eras(notes.catalog)
    items.sort(key=lambda item: (newer_first and item.transformer is None, -measured[item.id]))
    # Who says nothing of the samples chooses among networks of every kind.
    rank = {item.id: sum(other.sample == item.sample for other in items[:place]) for place, item in enumerate(items)}
    items.sort(key=lambda item: rank[item.id])
    return tuple(notes.answer(short_name(item)) for item in items)


def existing_gpus(notes: Notes) -> int:
    """GPUs of the servers that the customer has."""
    servers = notes.request.get("existing", {}).get("servers", {})
    counts = ((notes.catalog.servers[key].n_gpus, count) for key, count in servers.items())
    return sum(round(n_gpus.value) * count for n_gpus, count in counts if n_gpus is not None)


def target_answers(notes: Notes) -> tuple[Answer, ...]:
    """Targets that suit what the sentence says: of a team, of training, of a language model."""
    people = notes.request.get("team", {}).get("data_scientists")
    dnn = notes.catalog.dnns[notes.dnns[0]] if notes.dnns else None
    is_training = "task" not in notes.work
    sample = dnn.sample if dnn is not None else "token" if notes.means_language else "image"
    own = existing_gpus(notes)
    texts = [
        *([f"{own} GPUs"] if own else []),
        *([f"{people} GPUs"] if people and people != own else []),
        *([] if people in (8, 32) else [f"{count} GPUs" for count in _sizes(notes) if count != own]),
        *(_times(notes, sample) if is_training else []),
        *(_RATES.get(sample, ["1,000 samples/s"])),
        *(["as fast as possible"] if set(SIZE_LIMITS) & notes.request.get("limits", {}).keys() and not people else []),
    ]
    return tuple(notes.answer(text) for text in texts)


def _sizes(notes: Notes) -> tuple[int, int]:
    """A small and a larger number of GPUs, in whole servers where the sentence names servers."""
    named = [notes.catalog.servers[key].n_gpus for key in notes.request.get("platforms", {}).get("servers", ())]
    least = min((round(n_gpus.value) for n_gpus in named if n_gpus is not None), default=8)
    return (least, 4 * least) if least > 8 else (8, 32)


def _times(notes: Notes, sample: str) -> list[str]:
    """Times to train; of a language model with the tokens that they need, where the sentence has none."""
    if sample != "token":
        return ["in a day", "overnight"]
    if "tokens" in notes.work:
        return ["in a week", "in 30 days"]
    return [_TRAININGS.get(str(notes.work.get("method")), "1 trillion tokens in 30 days")]


# Usual tokens of what is trained, in a usual time; else of pre-training.
_TRAININGS = {
    "continued": "100 billion tokens in 30 days",
    "fine-tuning": "1 billion tokens in a day",
    "lora": "100 million tokens in a day",
}
_RATES = {"image": ["10,000 images/s"], "token": ["100,000 tokens/s"]}
