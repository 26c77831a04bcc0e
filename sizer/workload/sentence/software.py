"""What a sentence says about software: a framework or stack of the catalogue by its name."""

import re
from functools import lru_cache

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Stack
from sizer.workload.sentence.names import VENDOR, pieces
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import value_of
from sizer.workload.transformer.number_formats import stack_precision

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
_FP16 = re.compile(r"FP ?16|float16", re.I)
# Without "per GPU" it could be the batch of all GPUs together.
_BATCH = re.compile(r"\b(?:local )?batch(?: size)?(?: of|:)? (?P<number>\d{1,5}) (?:per|a|each|on each) GPU\b", re.I)


@lru_cache(maxsize=8)
def _pattern(catalog: Catalog) -> re.Pattern[str]:
    """Every framework, and other software in the names of stacks: DALI, FSDP, DeepSpeed."""
    stacks = catalog.stacks.values()
    names = {name for stack in stacks for name in (stack.framework, *stack.aliases)} | {
        word
        for stack in stacks
        for word in re.findall(r"[A-Za-z]{3,}", stack.name)
        if sum(letter.isupper() for letter in word) > 1 or stack.trains_language
        if word[0].isupper() and word.lower() not in _NO_NAMES
    }
    # Megatron-Bridge and Megatron Bridge.
    words = "|".join(re.escape(name).replace(r"\-", "[ -]") for name in sorted(names, key=len, reverse=True))
    # A longer name with a hyphen is none of them.
    other = rf"(?!-(?!(?:{words}|based|native)\b)[A-Za-z])"
    return re.compile(
        rf"(?<!\w)(?:(?:in|with|using|on|via) )?(?:{VENDOR}+ )?(?P<name>{words})"
        rf"(?:[ -]?(?:framework|(?:software )?stack|software|core|LM|\d))?\b{other}",
        re.I,
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
        if not words <= _words(newest):
            notes.leave(match)  # no stack has both
            continue
        alias = next((name for name in newest.aliases if set(pieces(name)) == words), "")
        is_other = alias and not set(pieces(alias)) <= set(pieces(newest.name))
        notes.text.record(match, f"software stack {newest.name}" + (f", which {alias} counts as" if is_other else ""))


def _candidates(notes: Notes) -> list[Stack]:
    task = "inference" if "task" in notes.work else "training"
    is_language = _trains_language(notes)
    precision = stack_precision(str(notes.work.get("precision", "mixed")))
    return [
        stack
        for stack in notes.catalog.stacks.values()
        if "emulated" not in _words(stack)
        if stack.trains_language is is_language and stack.task in (task, "both") and precision in stack.precisions
    ]


def _trains_language(notes: Notes) -> bool:
    return notes.own_model is not None or any(notes.catalog.dnns[key].transformer is not None for key in notes.dnns)


def _words(stack: Stack) -> set[str]:
    return {word for name in (stack.framework, stack.name, *stack.aliases) for word in pieces(name)}


def read_precision(notes: Notes) -> None:
    """The precision of the training."""
    for precision, pattern in _PRECISIONS.items():
        if match := notes.text.find(pattern):
            is_fp16 = precision == "mixed" and _trains_language(notes) and _FP16.search(match[0]) is not None
            notes.work["precision"] = "fp16" if is_fp16 else precision
            meaning = "mixed precision" if precision == "mixed" else "single precision"
            notes.text.record(match, "FP16" if is_fp16 else meaning)


def read_batch(notes: Notes) -> None:
    """The batch of each GPU."""
    if match := notes.text.find(_BATCH):
        batch = round(value_of(match["number"]))
        notes.work["batch_per_gpu"] = batch
        notes.text.record(match, f"batch of {batch} per GPU")
