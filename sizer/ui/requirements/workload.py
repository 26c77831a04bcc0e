"""The workload on the page Requirements: what runs, on which data, and what must be reached."""

import copy
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, get_args

import streamlit as st

from sizer.base.quantities import SAMPLES_PER_S, si
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dataset, Dnn, Item
from sizer.present.words import name as word
from sizer.present.words import percent, plural, sample_unit
from sizer.ui import fields, state
from sizer.ui.error_messages import Path_
from sizer.ui.state import View
from sizer.ui.typed import plain, written
from sizer.workload.request import Access, Cache, RankBy, Task

OWN = "own numbers"
MAX_WORKLOADS = 20  # of a request
_CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_TARGETS = {"samples_per_s": "A rate", "time_to_train_s": "A time to train", "gpus_busy": "GPUs kept busy"}


def which() -> int:
    """Index of the workload that the fields show; with several there is a chooser, and one can always be added."""
    works = state.draft().get("workload", [])
    key = f"which/{st.session_state.generation}"
    if key not in st.session_state:
        st.session_state[key] = max(0, min(st.session_state.workload, len(works) - 1))
    chosen: int | None = 0
    with st.container(horizontal=True, vertical_alignment="bottom", key="workloads"):
        if len(works) > 1:
            chosen = st.segmented_control(
                f"The design runs {plural(len(works), 'workload')}; this one is shown",
                range(len(works)),
                required=True,
                format_func=lambda number: plain(_name_of(works[number], number)),
                key=key,
            )
            st.button("Remove it", on_click=_remove, args=(chosen or 0,), type="tertiary", icon=":material/delete:")
        st.button(
            "Add a workload",
            on_click=_add,
            args=(chosen or 0,),
            type="tertiary",
            icon=":material/add:",
            disabled=len(works) >= MAX_WORKLOADS,
            help="A copy of this one to change. The design must meet the targets of all of them; each is judged alone.",
        )
    st.session_state.workload = chosen or 0
    return chosen or 0


def _name_of(work: Any, number: int) -> str:
    name = work.get("name") if isinstance(work, Mapping) else None
    return str(name or f"Workload {number + 1}")


def _remove(number: int) -> None:
    del state.draft()["workload"][number]
    state.refresh()


def _add(number: int) -> None:
    works = state.draft().setdefault("workload", [])
    names = [_name_of(work, place) for place, work in enumerate(works)]
    new = copy.deepcopy(works[number]) if works else {"dnn": "resnet50", "target": {"samples_per_s": "1000 images/s"}}
    new["name"] = next(name for n in count(2) if (name := f"Workload {n}") not in names)
    works.append(new)
    st.session_state.workload = len(works) - 1
    state.refresh()


def draw(view: View, path: Path_) -> None:
    """The fields of one workload: what everybody states in three columns, the rest folded away."""
    parts = view.catalog
    left, middle, right = st.columns(3, gap="large")
    with left:
        fields.text("Name", (*path, "name"), "As pages and documents print it.", 120, "workload")
        fields.switch(
            "Task",
            (*path, "task"),
            {task: _word(task) for task in get_args(Task)},
            "training",
            "Training, or forward passes over a validation set. Production inference is out of scope: no published "
            "measurement of these systems covers it. Default: training.",
            after=lambda: _after_task(view, path),
        )
        _dnn_choice(parts, path)
    with middle:
        _dataset_choice(parts, path)
        fields.quantity(
            "Data set size",
            (*path, "dataset_bytes"),
            "The whole set on storage, for example many copies of one set. Default: samples × sample size of the data "
            "set chosen. Any size with its unit: 22.2 TB, 20 TiB, 500 GB.",
            "samples × sample size",
        )
    with right:
        _target(view, path, _dnn(parts, path))
        fields.choice(
            "Confidence that it is reached",
            ("confidence",),
            _confidences(),
            0.9,
            "A design counts only if all targets are met together with this probability, from 50 to 99 %. Default: "
            "90 %, so that one design in ten would miss.",
        )
    _more(parts, path)


def _more(parts: Catalog, path: Path_) -> None:
    """What has a default that fits most."""
    stack, batch = state.get((*path, "stack")), state.get((*path, "batch_per_gpu"))
    said = [
        parts.stacks[stack].name if stack in parts.stacks else "oldest well measured software",
        "single precision" if state.get((*path, "precision")) == "fp32" else "mixed precision",
        f"batch {batch}" if batch else "default batch",
        _word(state.get((*path, "access")) or "random").lower(),
        _word(state.get((*path, "cache")) or "page-cache").lower(),
    ]
    folded = fields.fold("Expert settings", ", ".join(said), "expert")
    if not folded.open:
        return
    with folded:
        left, middle, right = st.columns(3, gap="large")
        with left:
            _stack_choice(parts, path)
            fields.switch(
                "Arithmetic",
                (*path, "precision"),
                {"mixed": "Mixed precision", "fp32": "Single precision"},
                "mixed",
                "Mixed precision runs on tensor cores. Default: mixed.",
                after=lambda: _drop_unfit(parts, path),
            )
            fields.whole(
                "Batch per GPU",
                (*path, "batch_per_gpu"),
                "Samples of one step on one GPU, from 1 to 65 536. Default: 128, or 64 in single precision, which "
                "fits 16 GB for ImageNet networks.",
                65_536,
                "default",
            )
        with middle:
            _sample_size(parts, path)
            fields.choice(
                "Reading order",
                (*path, "access"),
                {kind: _word(kind) for kind in get_args(Access)},
                "random",
                "Order in which a server reads the set; it decides what a cache can hold. Default: random, in which "
                "every server reads all of it.",
            )
            fields.choice(
                "Server cache",
                (*path, "cache"),
                {kind: _word(kind) for kind in get_args(Cache)},
                "page-cache",
                "Page cache: memory of the server. Pinned: a cache that never evicts. Default: page cache.",
            )
        with right:
            ranks = {"": "Nothing, unless every price is known", **{rank: _word(rank) for rank in get_args(RankBy)}}
            fields.choice(
                "Platforms ranked by",
                ("rank_by",),
                ranks,
                "",
                "Vendors are not ranked silently: without a key the platforms stand side by side in order of size.",
            )


def _sample_size(parts: Catalog, path: Path_) -> None:
    dataset = _dataset(parts, path)
    known = f"{si(dataset.sample_bytes.value, 'B')} of the data set" if dataset is not None else ""
    fields.quantity(
        "Sample size",
        (*path, "sample_bytes"),
        "Mean size of one sample on storage. Default: that of the data set chosen.",
        known,
    )


def _word(raw: str) -> str:
    """Name of a choice, with a capital."""
    text = word(raw)
    return text[:1].upper() + text[1:]


def named(items: Mapping[str, Item]) -> dict[str, str]:
    """Names by id, in the order of the names."""
    return {item.id: item.name for item in sorted(items.values(), key=lambda item: item.name.lower())}


def _dnn(parts: Catalog, path: Path_) -> Dnn | None:
    chosen = state.get((*path, "dnn"))
    return parts.dnns[chosen] if isinstance(chosen, str) and chosen in parts.dnns else None


def _dataset(parts: Catalog, path: Path_) -> Dataset | None:
    chosen = state.get((*path, "dataset")) or "imagenet"
    return parts.datasets[chosen] if isinstance(chosen, str) and chosen in parts.datasets else None


def _own_or_listed(
    label: str, path: Path_, options: dict[str, str], default: str, hint: str, changed: Callable[[str], None]
) -> bool:
    """Selection of a catalogue item or of own numbers; whether it is own numbers."""
    value = state.get(path)
    is_own = isinstance(value, Mapping)
    shown = OWN if is_own else (value or default)
    known = {**({} if shown in options else {shown: str(shown)}), **options, OWN: "Own numbers …"}
    key = f"{fields.key(path)}/which"
    if key not in st.session_state:
        st.session_state[key] = shown
    st.selectbox(
        label,
        list(known),
        format_func=lambda option: known.get(option, str(option)),
        key=key,
        help=hint,
        on_change=changed,
        args=(key,),
    )
    return is_own


def _dnn_choice(parts: Catalog, path: Path_) -> None:
    here = (*path, "dnn")

    def changed(key: str) -> None:
        chosen, before = st.session_state[key], _dnn(parts, path)
        if chosen == OWN:
            like = before or next(iter(parts.dnns.values()))
            state.put(
                here,
                {
                    "name": "Own network",
                    "forward_flop": like.forward_flop.value,
                    "parameters": like.parameters.value,
                    "input_bytes": like.input_bytes.value,
                    "like": like.id,
                },
            )
            state.refresh()
        else:
            state.put(here, chosen)
            _drop_unfit(parts, path)

    is_own = _own_or_listed(
        "Neural network",
        here,
        named(parts.dnns),
        "resnet50",
        "Networks whose operations and parameters are published, or one given by its numbers.",
        changed,
    )
    if is_own:
        with st.container(border=True):
            fields.text("Name", (*here, "name"), "As documents print it.", 120)
            fields.quantity(
                "Forward operations of one sample",
                (*here, "forward_flop"),
                "2 × multiply-accumulates; ResNet-50 has 8.2 GFLOP.",
            )
            fields.number("Parameters", (*here, "parameters"), "Count of weights; it sets the gradient.", 1e3, 1e13)
            fields.quantity("Decoded sample", (*here, "input_bytes"), "Bytes of one sample as the GPU gets it.")
            fields.choice(
                "Efficiency like",
                (*here, "like"),
                {"": "the pool of all", **named(parts.dnns)},
                "",
                "Network whose measured efficiency it borrows.",
            )


def _dataset_choice(parts: Catalog, path: Path_) -> None:
    here = (*path, "dataset")

    def changed(key: str) -> None:
        chosen, before = st.session_state[key], _dataset(parts, path)
        if chosen == OWN:
            like = before or parts.datasets["imagenet"]
            state.put(
                here,
                {
                    "name": "Own data set",
                    "n_samples": like.n_samples.value,
                    "sample_bytes": like.sample_bytes.value,
                    "format": like.format,
                },
            )
            state.refresh()
        else:
            state.put(here, chosen)

    is_own = _own_or_listed(
        "Data set", here, named(parts.datasets), "imagenet", "A published set, or one given by its numbers.", changed
    )
    if is_own:
        with st.container(border=True):
            fields.text("Name", (*here, "name"), "As documents print it.", 120)
            fields.number("Samples", (*here, "n_samples"), "Samples of one epoch.", 1.0, 1e15)
            fields.quantity("Mean sample", (*here, "sample_bytes"), "Mean size of one sample on storage.")
            fields.choice(
                "Stored as",
                (*here, "format"),
                {kind: kind for kind in ("raw files", "records", "decoded tensors")},
                "records",
                "Decoded tensors need no host decode.",
            )


def _stack_choice(parts: Catalog, path: Path_) -> None:
    dnn = state.get((*path, "dnn"))
    known = stored_calibration().stacks_of(dnn) if isinstance(dnn, str) else frozenset()
    fits = {stack: item for stack, item in parts.stacks.items() if _stack_fits(parts, stack, path)}
    measured = named({stack: item for stack, item in fits.items() if stack in known})
    others = named({stack: item for stack, item in fits.items() if stack not in known})
    options = {
        "": "Not stated: the oldest that is well measured",
        **measured,
        **{stack: f"{label} (not measured with this network)" for stack, label in others.items()},
    }
    fields.choice(
        "Software stack",
        (*path, "stack"),
        options,
        "",
        "Framework, release and input pipeline. On the same GPU newer "
        "software has nearly doubled the rate, so it is an input.",
    )


def _stack_fits(parts: Catalog, stack: str, path: Path_) -> bool:
    item = parts.stacks[stack]
    task = "inference" if state.get((*path, "task")) == "validation-inference" else "training"
    return item.task in (task, "both") and (state.get((*path, "precision")) or "mixed") in item.precisions


def _drop_unfit(parts: Catalog, path: Path_) -> None:
    """After task, network or arithmetic changed: take out what does not go with it, and say so."""
    said = []
    stack = state.get((*path, "stack"))
    if stack in parts.stacks and not _stack_fits(parts, stack, path):
        state.put((*path, "stack"), None)
        said.append(f"{parts.stacks[stack].name} has no figures for this, so no software stack is stated now.")
    recipe = state.get((*path, "recipe"))
    if recipe in parts.recipes and parts.recipes[recipe].dnn != state.get((*path, "dnn")):
        state.put((*path, "recipe"), None)
        if state.get((*path, "target", "time_to_train_s")) is not None:
            state.put((*path, "epochs"), 90)
        said.append("The recipe was for another network; a fixed number of epochs stands instead of it.")
    if said:
        st.session_state.notice = " ".join(said)
        state.refresh()


def _after_task(view: View, path: Path_) -> None:
    if state.get((*path, "task")) == "validation-inference":
        for part in ("epochs", "recipe"):
            state.put((*path, part), None)
        if state.get((*path, "target", "time_to_train_s")) is not None:
            _new_target(view, path, "samples_per_s")
        state.refresh()
    _drop_unfit(view.catalog, path)


def _target(view: View, path: Path_, dnn: Dnn | None) -> None:
    is_training = state.get((*path, "task")) != "validation-inference"
    present = next((kind for kind in _TARGETS if state.get((*path, "target", kind)) is not None), None)
    kind = present or st.session_state.get("target_kind", "samples_per_s")
    kinds = {key: text for key, text in _TARGETS.items() if is_training or key != "time_to_train_s"}
    key = f"{fields.key(path)}/target"
    if key not in st.session_state:
        st.session_state[key] = kind

    def changed() -> None:
        _new_target(view, path, st.session_state[key])

    st.selectbox(
        "What must be reached",
        list(kinds),
        format_func=lambda option: kinds.get(option, option),
        key=key,
        on_change=changed,
        help="Exactly one of them.",
    )
    if kind == "gpus_busy":
        fields.whole(
            "GPUs that storage and network keep busy",
            (*path, "target", kind),
            "The design has this many GPUs at least and feeds them all.",
            100_000,
        )
    elif kind == "time_to_train_s":
        fields.quantity(
            "Time to train, at most", (*path, "target", kind), "From the start to the last epoch, with evaluations."
        )
    else:
        fields.quantity(
            "Rate, at least",
            (*path, "target", kind),
            "Samples a second of the whole cluster, warm.",
            f"10000 {sample_unit(dnn) if dnn is not None else 'samples/s'}",
        )
    if is_training:
        _length(view.catalog, path)


def _new_target(view: View, path: Path_, kind: str) -> None:
    """Another kind of target, filled with what the present design reaches so that the request stays complete."""
    st.session_state.target_kind = kind
    number = path[-1]
    answers = view.result.design.workloads if view.result is not None else ()
    design = view.result.design if view.result is not None else None
    value: Any = None
    if kind == "samples_per_s":
        rate = float(answers[number].throughput.value) if isinstance(number, int) and number < len(answers) else 1000.0
        value = written(SAMPLES_PER_S, float(f"{rate:.3g}")).replace("samples", "images")
    elif kind == "gpus_busy":
        value = design.n_gpus if design is not None else 8
    else:
        value = "24 h"
        if state.get((*path, "epochs")) is None and state.get((*path, "recipe")) is None:
            state.put((*path, "epochs"), 90)
    state.put((*path, "target"), {kind: value})
    state.refresh()


def _length(parts: Catalog, path: Path_) -> None:
    """Epochs or recipe; one of the two, or neither where the target is not a time."""
    dnn = state.get((*path, "dnn"))
    like = dnn.get("like") if isinstance(dnn, Mapping) else dnn
    recipes = named({key: item for key, item in parts.recipes.items() if item.dnn == like})
    needs = state.get((*path, "target", "time_to_train_s")) is not None
    here = state.get((*path, "recipe")) or ("epochs" if state.get((*path, "epochs")) is not None else "")
    options = {**({} if needs else {"": "Not stated"}), "epochs": "A fixed number of epochs", **recipes}
    key = f"{fields.key(path)}/length"
    if key not in st.session_state:
        st.session_state[key] = here if here in options or not here else "epochs"
    if st.session_state[key] not in options:
        options[st.session_state[key]] = "Not stated"

    def changed() -> None:
        chosen = st.session_state[key]
        state.put((*path, "recipe"), chosen if chosen in recipes else None)
        state.put((*path, "epochs"), 90 if chosen == "epochs" else None)
        state.refresh()

    st.selectbox(
        "Length of the training",
        list(options),
        format_func=lambda option: options.get(option, option),
        key=key,
        on_change=changed,
        help="A recipe tells how the epochs to its accuracy grow with the global batch.",
    )
    if here == "epochs":
        fields.number("Epochs", (*path, "epochs"), "Passes over the data set.", 0.1, 100_000.0)


def _confidences() -> dict[float, str]:
    value = state.get(("confidence",))
    own = [value] if isinstance(value, float) and value not in _CONFIDENCES else []
    return {level: percent(level) for level in sorted((*_CONFIDENCES, *own))}
