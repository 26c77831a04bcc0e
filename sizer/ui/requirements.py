"""Page Requirements: what is to run, on what, within which limits."""

import re
from collections.abc import Mapping
from typing import Any, get_args

import streamlit as st

from sizer.base.quantities import SAMPLES_PER_S, si
from sizer.calibrate.observations import load_calibration
from sizer.catalog.links import kind_name
from sizer.catalog.loader import Catalog
from sizer.catalog.schema import Dataset, Dnn, Item
from sizer.report.words import name as word
from sizer.report.words import percent, plural, slug
from sizer.ui import fields, state
from sizer.ui.state import Path_, View
from sizer.ui.typed import plain, to_toml, written
from sizer.workload.request import Access, Cache, FabricKind, RankBy, Task

_OWN = "own numbers"
_CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_CURRENCIES = ("USD", "EUR", "GBP", "CHF", "JPY")
_TARGETS = {"samples_per_s": "A rate", "time_to_train_s": "A time to train", "gpus_busy": "GPUs kept busy"}
_MEGABYTES = 1  # upload limit of the browser's file field


def show(view: View) -> None:
    """Draw the page."""
    _start_from()
    st.header("Workload", anchor=False)
    work = _which_workload()
    _workload(view, ("workload", work))
    st.header("Choices and limits", anchor=False)
    _platforms(view.catalog)
    _limits()
    _project()


# --- where the request comes from


def _start_from() -> None:
    left, middle, right = st.columns([5, 2, 2], vertical_alignment="bottom", gap="small")
    with left:
        names = dict(state.examples())
        origin = st.session_state.origin
        if origin not in names:
            names[origin] = f"({origin})"
        name = f"origin/{st.session_state.generation}"
        if name not in st.session_state:
            st.session_state[name] = origin
        st.selectbox(
            "Start from a published design", list(names), format_func=lambda stem: names.get(stem, stem), key=name,
            on_change=_example_chosen, args=(name,), help="Each example is a request after a published architecture.",
        )  # fmt: skip
    with middle, st.popover("Open a request", icon=":material/upload_file:", width="stretch"):
        upload = f"upload/{st.session_state.generation}"
        st.file_uploader(
            "Request (TOML or JSON) or design.json", type=["toml", "json"], key=upload, max_upload_size=_MEGABYTES,
            on_change=_uploaded, args=(upload,),
        )  # fmt: skip
    with right:
        title = slug(str(state.get(("title",)) or "")) or "cluster"
        st.download_button(
            "Save the request", to_toml(state.draft()), f"{title}.toml", "application/toml", on_click="ignore",
            icon=":material/download:", width="stretch", help="The request as typed. Opening it gives the same design.",
        )  # fmt: skip
    if st.session_state.upload_fault:
        st.error(f"**The file was not taken.** {plain(st.session_state.upload_fault)}", icon=":material/block:")
    notice = st.session_state.pop("notice", "")
    if notice:
        st.toast(plain(notice))


def _example_chosen(name: str) -> None:
    if st.session_state[name] in state.examples():
        state.load_example(st.session_state[name])


def _uploaded(name: str) -> None:
    file = st.session_state[name]
    if file is not None:
        state.load_upload(file.name, file.getvalue())
        state.refresh()


# --- the workload


def _which_workload() -> int:
    works = state.draft().get("workload", [])
    if len(works) < 2:
        return 0
    key = f"which/{st.session_state.generation}"
    if key not in st.session_state:
        st.session_state[key] = min(st.session_state.workload, len(works) - 1)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.segmented_control(
            f"The design runs {plural(len(works), 'workload')}; this one is shown", range(len(works)), required=True,
            format_func=lambda number: str(works[number].get("name") or f"Workload {number}"), key=key,
        )  # fmt: skip
        st.button("Remove it", on_click=_remove, args=(chosen,), type="tertiary", icon=":material/delete:")
    st.session_state.workload = chosen
    return int(chosen or 0)


def _remove(number: int) -> None:
    del state.draft()["workload"][number]
    state.refresh()


def _workload(view: View, path: Path_) -> None:
    left, middle, right = st.columns(3, gap="large")
    parts = view.catalog
    dnn, dataset = _dnn(parts, path), _dataset(parts, path)
    with left:
        fields.switch(
            "Task", (*path, "task"), {task: _word(task) for task in get_args(Task)}, "training",
            "Training, or forward passes over a validation set. Production inference is out of scope.",
            after=lambda: _after_task(view, path),
        )  # fmt: skip
        _dnn_choice(parts, path)
        _stack_choice(parts, path)
        fields.switch(
            "Arithmetic", (*path, "precision"), {"mixed": "Mixed precision", "fp32": "Single precision"}, "mixed",
            "Mixed precision runs on tensor cores.", after=lambda: _drop_unfit(parts, path),
        )  # fmt: skip
        fields.whole(
            "Batch per GPU", (*path, "batch_per_gpu"), "Samples of one step on one GPU. Without a wish: 128, or 64 in "
            "single precision, which fits 16 GB for ImageNet networks.", 65_536, "default",
        )  # fmt: skip
    with middle:
        _dataset_choice(parts, path)
        fields.quantity(
            "Data set size", (*path, "dataset_bytes"), "The whole set on storage, where it is not samples × sample size; "
            "for example many copies of one set.", "samples × sample size",
        )  # fmt: skip
        fields.quantity(
            "Sample size", (*path, "sample_bytes"), "Mean size of one sample on storage.",
            f"{si(dataset.sample_bytes.value, 'B')} of the data set" if dataset is not None else "",
        )  # fmt: skip
        fields.choice(
            "Reading order", (*path, "access"), {kind: _word(kind) for kind in get_args(Access)}, "random",
            "Order in which a server reads the set; it decides what a cache can hold.",
        )  # fmt: skip
        fields.choice(
            "Server cache", (*path, "cache"), {kind: _word(kind) for kind in get_args(Cache)}, "page-cache",
            "Page cache: memory of the server. Pinned: a cache that never evicts.",
        )  # fmt: skip
    with right:
        _target(view, path, dnn)
        fields.choice(
            "Confidence that it is reached", ("confidence",), _confidences(), 0.9,
            "A design counts only if all targets are met together with this probability. Without a wish: 90 %.",
        )  # fmt: skip
        ranks = {"": "Nothing, unless every price is known", **{rank: _word(rank) for rank in get_args(RankBy)}}
        fields.choice(
            "Platforms ranked by", ("rank_by",), ranks, "",
            "Vendors are not ranked silently: without a key the platforms stand side by side in order of size.",
        )  # fmt: skip


def _word(raw: str) -> str:
    """Name of a choice, with a capital."""
    text = word(raw)
    return text[:1].upper() + text[1:]


def _named(items: Mapping[str, Item]) -> dict[str, str]:
    return {item.id: item.name for item in sorted(items.values(), key=lambda item: item.name.lower())}


def _dnn(parts: Catalog, path: Path_) -> Dnn | None:
    chosen = state.get((*path, "dnn"))
    return parts.dnns[chosen] if isinstance(chosen, str) and chosen in parts.dnns else None


def _dataset(parts: Catalog, path: Path_) -> Dataset | None:
    chosen = state.get((*path, "dataset")) or "imagenet"
    return parts.datasets[chosen] if isinstance(chosen, str) and chosen in parts.datasets else None


def _own_or_listed(label: str, path: Path_, options: dict[str, str], default: str, hint: str, changed: Any) -> bool:
    """Selection of a catalogue item or of own numbers; whether it is own numbers."""
    value = state.get(path)
    is_own = isinstance(value, Mapping)
    shown = _OWN if is_own else (value or default)
    known = {**({} if shown in options else {shown: str(shown)}), **options, _OWN: "Own numbers …"}
    key = f"{fields.key(path)}/which"
    if key not in st.session_state:
        st.session_state[key] = shown
    st.selectbox(label, list(known), format_func=lambda option: known.get(option, str(option)), key=key, help=hint,
                 on_change=changed, args=(key,))  # fmt: skip
    return is_own


def _dnn_choice(parts: Catalog, path: Path_) -> None:
    here = (*path, "dnn")

    def changed(key: str) -> None:
        chosen, before = st.session_state[key], _dnn(parts, path)
        if chosen == _OWN:
            like = before or next(iter(parts.dnns.values()))
            state.put(here, {
                "name": "Own network", "forward_flop": like.forward_flop.value, "parameters": like.parameters.value,
                "input_bytes": like.input_bytes.value, "like": like.id,
            })  # fmt: skip
            state.refresh()
        else:
            state.put(here, chosen)
            _drop_unfit(parts, path)

    is_own = _own_or_listed(
        "Neural network", here, _named(parts.dnns), "resnet50", "Networks whose operations and parameters are published, "
        "or one given by its numbers.", changed,
    )  # fmt: skip
    if is_own:
        with st.container(border=True):
            fields.text("Name", (*here, "name"), "As documents print it.", 120)
            fields.quantity("Forward operations of one sample", (*here, "forward_flop"),
                            "2 × multiply-accumulates; ResNet-50 has 8.2 GFLOP.")  # fmt: skip
            fields.number("Parameters", (*here, "parameters"), "Count of weights; it sets the gradient.", 1e3, 1e13)
            fields.quantity("Decoded sample", (*here, "input_bytes"), "Bytes of one sample as the GPU gets it.")
            fields.choice("Efficiency like", (*here, "like"), {"": "the pool of all", **_named(parts.dnns)}, "",
                          "Network whose measured efficiency it borrows.")  # fmt: skip


def _dataset_choice(parts: Catalog, path: Path_) -> None:
    here = (*path, "dataset")

    def changed(key: str) -> None:
        chosen, before = st.session_state[key], _dataset(parts, path)
        if chosen == _OWN:
            like = before or parts.datasets["imagenet"]
            state.put(here, {"name": "Own data set", "n_samples": like.n_samples.value,
                             "sample_bytes": like.sample_bytes.value, "format": like.format})  # fmt: skip
            state.refresh()
        else:
            state.put(here, chosen)

    is_own = _own_or_listed(
        "Data set", here, _named(parts.datasets), "imagenet", "A published set, or one given by its numbers.", changed
    )
    if is_own:
        with st.container(border=True):
            fields.text("Name", (*here, "name"), "As documents print it.", 120)
            fields.number("Samples", (*here, "n_samples"), "Samples of one epoch.", 1.0, 1e15)
            fields.quantity("Mean sample", (*here, "sample_bytes"), "Mean size of one sample on storage.")
            fields.choice("Stored as", (*here, "format"), {kind: kind for kind in ("raw files", "records", "decoded tensors")},
                          "records", "Decoded tensors need no host decode.")  # fmt: skip


def _stack_choice(parts: Catalog, path: Path_) -> None:
    dnn = state.get((*path, "dnn"))
    known = {stack for stack, network in load_calibration().measured if network == dnn}
    fits = {stack: item for stack, item in parts.stacks.items() if _stack_fits(parts, stack, path)}
    measured = _named({stack: item for stack, item in fits.items() if stack in known})
    others = _named({stack: item for stack, item in fits.items() if stack not in known})
    options = {"": "Not stated: the oldest calibrated one", **measured,
               **{stack: f"{label} (not measured with this network)" for stack, label in others.items()}}  # fmt: skip
    fields.choice(
        "Software stack", (*path, "stack"), options, "", "Framework, release and input pipeline. On the same GPU newer "
        "software has nearly doubled the rate, so it is an input.",
    )  # fmt: skip


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


# --- the target


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

    st.selectbox("What must be reached", list(kinds), format_func=lambda option: kinds.get(option, option), key=key,
                 on_change=changed, help="Exactly one of them.")  # fmt: skip
    if kind == "gpus_busy":
        fields.whole("GPUs that storage and network keep busy", (*path, "target", kind), "The design has this many GPUs at "
                     "least and feeds them all.", 100_000)  # fmt: skip
    elif kind == "time_to_train_s":
        fields.quantity("Time to train, at most", (*path, "target", kind), "From the start to the last epoch, with evaluations.")
    else:
        sample = dnn.sample if dnn is not None else "sample"
        example = f"{sample}s/s" if sample in ("image", "sample") else "samples/s"
        fields.quantity("Rate, at least", (*path, "target", kind), "Samples a second of the whole cluster, warm.", f"10000 {example}")
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
    recipes = _named({key: item for key, item in parts.recipes.items() if item.dnn == like})
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

    st.selectbox("Length of the training", list(options), format_func=lambda option: options.get(option, option), key=key,
                 on_change=changed, help="A recipe tells how the epochs to its accuracy grow with the global batch.")  # fmt: skip
    if here == "epochs":
        fields.number("Epochs", (*path, "epochs"), "Passes over the data set.", 0.1, 100_000.0)


# --- what may be used, what must not be exceeded


def _confidences() -> dict[float, str]:
    value = state.get(("confidence",))
    own = [value] if isinstance(value, float) and value not in _CONFIDENCES else []
    return {level: percent(level) for level in sorted((*_CONFIDENCES, *own))}


def _platforms(parts: Catalog) -> None:
    here: Path_ = ("platforms",)
    servers = _named({key: item for key, item in parts.servers.items() if item.role == "gpu" and item.orderable})
    usable = {gpu for item in servers for gpu in parts.servers[item].gpus}
    gpus = _named({key: item for key, item in parts.gpus.items() if item.orderable and key in usable})
    storage = _named({key: item for key, item in parts.storage.items()
                      if item.orderable or item.kind == "nfs-server"})  # fmt: skip
    fabrics = {kind: kind_name(kind) for kind in get_args(FabricKind)}
    names = {**servers, **storage, **fabrics}
    chosen = [names.get(item, item) for part in ("servers", "storage", "fabrics") for item in state.get((*here, part)) or ()]
    said = ", ".join(re.sub(r" \(.*\)", "", name) for name in chosen) if chosen else "all that the catalogue can order"
    with st.expander(f"**What may be used:** {plain(said)}"), st.form("platforms", border=False):
        left, right = st.columns(2, gap="large")
        with left:
            fields.several("Servers", (*here, "servers"), servers, "GPU servers that may be offered.", in_form=True)
            fields.several("GPUs", (*here, "gpus"), gpus, "GPUs that the servers may carry.", in_form=True)
            fields.whole("GPUs that the job uses in each server", (*here, "gpus_per_server"), "Without a wish: all of them.",
                         64, "all", in_form=True)  # fmt: skip
        with right:
            fields.several("Storage", (*here, "storage"), storage, "Storage that may be offered or that is at hand.", in_form=True)
            fields.several("Fabrics", (*here, "fabrics"), fabrics, "Network that carries gradients and data.", in_form=True)
        paths = [(*here, part) for part in ("servers", "gpus", "gpus_per_server", "storage", "fabrics")]
        st.form_submit_button("Apply these choices", on_click=fields.store_all, args=(paths,))


def _limits() -> None:
    here: Path_ = ("limits",)
    given = [part for part in ("budget", "racks", "rack_power_w", "power_w", "rack_units", "servers") if state.get((*here, part))]
    said = ", ".join(state.LABELS[part].lower() for part in given) if given else "none stated"
    with st.expander(f"**What must not be exceeded:** {plain(said)}"), st.form("limits", border=False):
        left, middle, right = st.columns(3, gap="large")
        with left:
            fields.whole("Racks", (*here, "racks"), "Racks of 42 units in the room.", 100_000, "no limit", in_form=True)
            fields.whole("Rack units", (*here, "rack_units"), "In all racks together.", 100_000, "no limit", in_form=True)
        with middle:
            fields.quantity("Power per rack", (*here, "rack_power_w"), "What feed and cooling allow in one rack.", "no limit",
                            in_form=True)  # fmt: skip
            fields.quantity("Power in all", (*here, "power_w"), "What the room allows.", "no limit", in_form=True)
        with right:
            fields.whole("GPU servers", (*here, "servers"), "Without a limit 160 are looked at.", 100_000, "no limit", in_form=True)
            fields.number("Budget", (*here, "budget"), "In the currency of the bill; counts only where prices are known.",
                          1.0, 1e12, "no limit", in_form=True)  # fmt: skip
        paths = [(*here, part) for part in ("racks", "rack_units", "rack_power_w", "power_w", "servers", "budget")]
        st.form_submit_button("Apply these limits", on_click=fields.store_all, args=(paths,))


def _project() -> None:
    title = str(state.get(("title",)) or "Deep-learning cluster")
    customer = str(state.get(("customer",)) or "no customer named")
    with st.expander(f"**Printed on the documents:** {plain(title)}, {plain(customer)}"), st.form("project", border=False):
        left, right = st.columns(2, gap="large")
        with left:
            fields.text("Title", ("title",), "Heading of the documents.", 120, "Deep-learning cluster", in_form=True)
            fields.text("Customer", ("customer",), "May stay empty.", 120, in_form=True)
        with right:
            name = fields.key(("date",))
            if name not in st.session_state:
                st.session_state[name] = state.get(("date",))
            st.date_input("Date of the quote", value=None, key=name, format="YYYY-MM-DD", help="Documents print it; nothing else reads it.")
            fields.choice("Currency", ("currency",), {code: code for code in _CURRENCIES}, "USD",
                          "Prices in another currency are not converted; they are to be quoted.", in_form=True)  # fmt: skip
        st.form_submit_button("Apply", on_click=fields.store_all, args=([("title",), ("customer",), ("date",), ("currency",)],))

