"""GPUs and software by the names that questions and published runs give them."""

import difflib
import re
from functools import lru_cache

from sizer.base.errors import RequestError
from sizer.base.faults import nearest
from sizer.calibrate.language.shapes import GPU_MAKERS, plain_name
from sizer.calibrate.language.stacks import STACK_WORDS
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu

# What may follow the name of software: its release, or what kind of thing it is.
_AFTER_SOFTWARE = re.compile(r"[\s_-]*(?:framework|stack|containers?|v?\d+(?:\.\d+)*)$", re.I)


def gpu_asked(text: str, catalog: Catalog) -> Gpu:
    """The GPU of the catalogue with a name: its id, name or alias, or leading words of them.

    Of a family alone, such as V100, the one in servers: SXM.

    Raises
    ------
    RequestError
        If none has this name.
    """
    gpu = gpu_named(text, catalog)
    if gpu is None:
        hint = nearest(text, _short_names(catalog)) or "."
        raise RequestError(f"GPU {text[:60]!r} is not in the catalogue{hint} Known are {', '.join(catalog.gpus)}")
    return gpu


def gpu_named(text: str, catalog: Catalog) -> Gpu | None:
    """As :func:`gpu_asked`; None if no GPU has this name."""
    if text in catalog.gpus:
        return catalog.gpus[text]
    whole, parts = _gpu_names(catalog)
    name = "".join(word for word in _words(text) if word not in GPU_MAKERS)
    return whole.get(name) or parts.get(name)


@lru_cache(maxsize=8)
def _gpu_names(catalog: Catalog) -> tuple[dict[str, Gpu], dict[str, Gpu]]:
    """GPUs by their whole names, and by the words with which these begin."""
    whole: dict[str, Gpu] = {}
    parts: dict[str, Gpu] = {}
    for gpu in sorted(catalog.gpus.values(), key=lambda gpu: ("sxm" not in gpu.id, len(gpu.id))):
        for name in (gpu.id, gpu.name, *gpu.aliases):
            words = [word for word in _words(name) if word not in GPU_MAKERS]
            whole.setdefault("".join(words), gpu)
            for count in range(1, len(words)):
                parts.setdefault("".join(words[:count]), gpu)
    return whole, parts


def _short_names(catalog: Catalog) -> list[str]:
    return [name for gpu in catalog.gpus.values() for name in (gpu.aliases or (gpu.name, gpu.id))]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def check_software(text: str, catalog: Catalog) -> None:
    """Refuse the name of software that neither the catalogue nor the published runs have.

    Raises
    ------
    RequestError
        With the nearest name and those that are known.
    """
    if plain_name(text) not in _software_names(catalog) and (
        plain_name(_AFTER_SOFTWARE.sub("", text.strip()[:100])) not in _software_names(catalog)
    ):
        names = software_names(catalog)
        by_case = {name.lower(): name for name in names}
        near = difflib.get_close_matches(text[:60].lower(), by_case, n=1, cutoff=0.5)
        hint = f"; did you mean {by_case[near[0]]!r}?" if near else "."
        raise RequestError(f"software {text[:60]!r} is not known{hint} Known are {', '.join(names)}")


def software_names(catalog: Catalog) -> list[str]:
    """Names of software for language models: frameworks of the catalogue, their other names, and others that ran."""
    stacks = [stack for stack in catalog.stacks.values() if stack.trains_language]
    named = [name for stack in stacks for name in (stack.framework, *stack.aliases)]
    known = {plain_name(name) for name in named}
    return sorted([*named, *(word for word, _ in STACK_WORDS if plain_name(word) not in known)], key=str.lower)


@lru_cache(maxsize=8)
def _software_names(catalog: Catalog) -> frozenset[str]:
    stacks = [stack for stack in catalog.stacks.values() if stack.trains_language]
    own = (name for stack in stacks for name in (stack.id, stack.name))
    return frozenset(plain_name(name) for name in (*software_names(catalog), *own))
