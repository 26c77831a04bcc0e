"""What a sentence says about software: a framework or stack of the catalogue by its name."""

import re

from sizer.base.identity_cache import cached_by_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Stack
from sizer.workload.sentence.names import pieces
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import value_of

# Words in names of stacks that tell no stack from another.
_NO_NAMES = frozenset(
    ("cuda", "cudnn", "rocm", "ngc", "mlperf", "core", "cpu", "aws", "ami", "resnet", "nvidia", "hpe")
)


_PRECISIONS = {
    "mixed": re.compile(
        r"\b(?:(?:in |with |using )?(?:automatic )?mixed[ -]precision|(?:in )?BF ?16|bfloat16|FP ?16|float16|half["
        r" -]precision|AMP|tensor cores?)\b",
        re.I,
    ),
    "fp32": re.compile(r"\b(?:(?:in |with |using )?(?:full|single)[ -]precision|FP ?32|float32)\b", re.I),
}
# Without "per GPU" it could be the batch of all GPUs together.
_BATCH = re.compile(r"\b(?:local )?batch(?: size)?(?: of|:)? (?P<number>\d{1,5}) (?:per|a|each|on each) GPU\b", re.I)


@cached_by_catalog
def _pattern(catalog: Catalog) -> re.Pattern[str]:
    """Every framework, and other software in the names of stacks: DALI, FSDP, DeepSpeed."""
    names = {stack.framework for stack in catalog.stacks.values()} | {
        word
        for stack in catalog.stacks.values()
        for word in re.findall(r"[A-Za-z]{3,}", stack.name)
        if sum(letter.isupper() for letter in word) > 1 or stack.trains_language
        if word[0].isupper() and word.lower() not in _NO_NAMES
    }
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    # "Megatron-Bridge" is none of them.
    other = rf"(?!-(?!(?:{words}|based|native)\b)[A-Za-z])"
    return re.compile(
        rf"\b(?:(?:in|with|using|on|via) )?(?P<name>{words})(?:[ -]?(?:framework|stack|core|LM|\d))?\b{other}", re.I
    )


def names_stack_with(notes: Notes, part: str) -> bool:
    """Whether a sentence names a stack for language models that has a part in its name."""
    names = [set(pieces(match["name"])) for match in _pattern(notes.catalog).finditer(notes.text.left)]
    named = set().union(*(name for name in names if name != {part}))
    stacks = (stack for stack in notes.catalog.stacks.values() if stack.trains_language)
    return bool(named) and any(named | {part} <= _words(stack) for stack in stacks)


def read_software(notes: Notes) -> None:
    """The newest stack of a named framework that runs the task in the precision asked for."""
    matches = list(_pattern(notes.catalog).finditer(notes.text.left))
    frameworks = {stack.framework.casefold() for stack in notes.catalog.stacks.values()}
    matches.sort(key=lambda match: match["name"].casefold() not in frameworks)
    if not matches:
        return
    named = [set(pieces(match["name"])) for match in matches]
    stacks = _candidates(notes)
    fitting = [stack for stack in stacks if all(words <= _words(stack) for words in named)]
    fitting = [stack for stack in fitting if stack.framework.casefold() == matches[0]["name"].casefold()] or fitting
    fitting = fitting or [stack for stack in stacks if named[0] <= _words(stack)]
    if not fitting or not (notes.dnns or notes.own_model):
        for match in matches:
            notes.leave(match)
        return
    newest = max(fitting, key=lambda stack: (stack.released.value, stack.id))
    notes.work["stack"] = newest.id
    for match, words in zip(matches, named, strict=True):
        if words <= _words(newest):
            notes.text.record(match, f"software stack {newest.name}")
        else:
            notes.leave(match)  # no stack has both


def _candidates(notes: Notes) -> list[Stack]:
    task = "inference" if "task" in notes.work else "training"
    is_language = notes.own_model is not None or any(
        notes.catalog.dnns[key].transformer is not None for key in notes.dnns
    )
    precision = notes.work.get("precision", "mixed")
    return [
        stack
        for stack in notes.catalog.stacks.values()
        if "emulated" not in _words(stack)
        if stack.trains_language is is_language and stack.task in (task, "both") and precision in stack.precisions
    ]


def _words(stack: Stack) -> set[str]:
    return {*pieces(stack.framework), *pieces(stack.name)}


def read_precision(notes: Notes) -> None:
    """The precision of the training."""
    for precision, pattern in _PRECISIONS.items():
        if match := notes.text.find(pattern):
            notes.work["precision"] = precision
            notes.text.record(match, "mixed precision" if precision == "mixed" else "single precision")


def read_batch(notes: Notes) -> None:
    """The batch of each GPU."""
    if match := notes.text.find(_BATCH):
        batch = round(value_of(match["number"]))
        notes.work["batch_per_gpu"] = batch
        notes.text.record(match, f"batch of {batch} per GPU")
