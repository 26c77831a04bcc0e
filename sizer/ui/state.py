"""What a session holds: the request as typed, and the last request that had an answer.

Streamlit forgets the values of widgets that a page does not show. So the request lies under plain keys of the session;
widgets are filled from it and write to it.
"""

import copy
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import streamlit as st

from sizer.base.errors import CatalogError, InfeasibleError, RequestError, SizerError
from sizer.base.quantities import BYTES, FLOP, SAMPLES_PER_S, SECONDS, WATTS, Kind, parse
from sizer.base.resources import data_dir
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.workload.request import MAX_REQUEST_BYTES, SizingRequest

CATALOG_FOLDER = "SIZER_CATALOG_FOLDER"  # environment: folder that is laid over the catalogue
FIRST_EXAMPLE = "dgx1-f800-resnet50"
UPLOADED = "an uploaded file"
Path_ = tuple[str | int, ...]

# Fields of a request that hold a quantity with a unit; the last parts of their path.
QUANTITIES: dict[tuple[str, ...], Kind] = {
    ("dataset_bytes",): BYTES,
    ("sample_bytes",): BYTES,
    ("target", "samples_per_s"): SAMPLES_PER_S,
    ("target", "time_to_train_s"): SECONDS,
    ("dnn", "forward_flop"): FLOP,
    ("dnn", "input_bytes"): BYTES,
    ("dataset", "sample_bytes"): BYTES,
    ("limits", "rack_power_w"): WATTS,
    ("limits", "power_w"): WATTS,
}
LABELS = {
    "title": "Title",
    "customer": "Customer",
    "date": "Date",
    "confidence": "Confidence",
    "rank_by": "Ranked by",
    "currency": "Currency",
    "name": "Name",
    "task": "Task",
    "dnn": "Neural network",
    "stack": "Software stack",
    "precision": "Precision",
    "batch_per_gpu": "Batch per GPU",
    "dataset": "Data set",
    "dataset_bytes": "Data set size",
    "sample_bytes": "Sample size",
    "access": "Reading order",
    "cache": "Server cache",
    "target": "Target",
    "samples_per_s": "Rate",
    "time_to_train_s": "Time to train",
    "gpus_busy": "GPUs kept busy",
    "epochs": "Epochs",
    "recipe": "Recipe",
    "forward_flop": "Forward operations",
    "parameters": "Parameters",
    "input_bytes": "Decoded sample",
    "like": "Efficiency like",
    "n_samples": "Samples",
    "n_validation_samples": "Validation samples",
    "format": "Format",
    "servers": "Servers",
    "storage": "Storage",
    "gpus": "GPUs",
    "fabrics": "Fabrics",
    "gpus_per_server": "GPUs used per server",
    "budget": "Budget",
    "racks": "Racks",
    "rack_power_w": "Power per rack",
    "power_w": "Power in all",
    "rack_units": "Rack units",
}


@dataclass(frozen=True)
class Fault:
    """Something in the request that is not understood. ``path`` is empty where no single field is to blame."""

    path: Path_
    text: str


@dataclass(frozen=True)
class Outcome:
    """What sizing one request gave: a result, or the sentence why not."""

    result: SizingResult | None
    infeasible: str = ""
    refused: str = ""


@dataclass(frozen=True)
class View:
    """What the pages show: the last answer, and what stands between the request as typed and an answer."""

    catalog: Catalog
    result: SizingResult | None  # None: no request of this session had an answer yet
    request_json: str  # of ``result``
    faults: tuple[Fault, ...] = ()
    infeasible: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the answer belongs to the request as typed."""
        return not self.faults and not self.infeasible


@st.cache_resource(show_spinner=False)
def _catalog(folder: str) -> Catalog:
    return load_catalog(overlay=Path(folder) if folder else None)


def catalog() -> Catalog:
    """The catalogue, with the user's own parts and prices where he named a folder.

    Raises
    ------
    CatalogError
        Listing every fault of that folder.
    """
    return _catalog(os.environ.get(CATALOG_FOLDER, ""))


@st.cache_resource(show_spinner="Sizing the cluster", max_entries=64)
def _outcome(request_json: str, digest: str, _parts: Catalog) -> Outcome:  # noqa: ARG001  (the digest is part of the key)
    request = SizingRequest.model_validate_json(request_json)
    try:
        return Outcome(size(request, _parts))
    except InfeasibleError as error:
        return Outcome(None, infeasible=str(error))
    except SizerError as error:
        return Outcome(None, refused=str(error))


def outcome(request: SizingRequest, parts: Catalog) -> Outcome:
    """Answer to a request; the same request on the same catalogue is sized once."""
    return _outcome(request.model_dump_json(), parts.digest, parts)


@st.cache_resource(show_spinner=False)
def examples() -> dict[str, str]:
    """Title of each example request by its file name."""
    files = sorted(data_dir("examples").glob("*.toml"))
    return {file.stem: SizingRequest.from_file(file).title for file in files}


def start() -> None:
    """Fill a new session with the first example."""
    if "draft" not in st.session_state:
        known = examples()
        st.session_state.generation = 0
        load_example(FIRST_EXAMPLE if FIRST_EXAMPLE in known else next(iter(known)))


def load_example(name: str) -> None:
    """Take an example as the request."""
    _take(tomllib.loads((data_dir("examples") / f"{name}.toml").read_text(encoding="utf-8")), name)


def load_upload(name: str, content: bytes) -> None:
    """Take an uploaded request, or say in a sentence why not and keep the present one."""
    st.session_state.upload_fault = ""
    try:
        data = read_upload(name, content)
        answer = outcome(SizingRequest.from_dict(data, name), catalog())
        if answer.refused:
            raise RequestError(answer.refused)
    except RequestError as error:
        st.session_state.upload_fault = f"{name}: {sentences(str(error), name)}"
        return
    _take(data, UPLOADED)
    st.session_state.notice = f"{name} is loaded."


def read_upload(name: str, content: bytes) -> dict[str, Any]:
    """Request of an uploaded file as plain data; of a design.json the request in it.

    Raises
    ------
    RequestError
        If the file is too large, not UTF-8, neither TOML nor JSON, or no table.
    """
    if len(content) > MAX_REQUEST_BYTES:
        raise RequestError(f"{name}: the file is larger than a request can be ({MAX_REQUEST_BYTES} B)")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(f"{name}: the file is not UTF-8 text (byte {error.start})") from None
    kind = "JSON" if name.lower().endswith(".json") else "TOML"
    try:
        # ValueError: not valid, or an integer of thousands of digits.
        data = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{name}: the file is not valid {kind}: {error}") from None
    if isinstance(data, dict) and data.get("kind") == "design":
        data = data.get("request")
    if not isinstance(data, dict):
        raise RequestError(
            f"{name}: the file holds no request; a request has at least one [[workload]] with dnn and target"
        )
    cleaned: dict[str, Any] = without_nothing(data)
    return cleaned


def without_nothing(data: Any) -> Any:
    """Data without keys whose value is null, an empty list or an empty table: they say what absence says."""
    if isinstance(data, dict):
        cleaned = {key: without_nothing(value) for key, value in data.items()}
        return {key: value for key, value in cleaned.items() if value is not None and value not in ([], {})}
    return [without_nothing(value) for value in data] if isinstance(data, list) else data


def _take(data: dict[str, Any], origin: str) -> None:
    draft = copy.deepcopy(data)
    if isinstance(draft.get("date"), str):
        draft["date"] = date.fromisoformat(draft["date"])
    st.session_state.draft = draft
    st.session_state.origin = origin
    st.session_state.workload = 0
    st.session_state.upload_fault = ""
    refresh()


def refresh() -> None:
    """Give every widget a new identity, so that it shows the request as it is now."""
    st.session_state.generation += 1


def draft() -> dict[str, Any]:
    """The request as typed."""
    found: dict[str, Any] = st.session_state.draft
    return found


def get(path: Path_) -> Any:
    """Value of a field as typed, or None."""
    found: Any = draft()
    for part in path:
        if isinstance(found, Mapping):
            found = found.get(part)
        elif isinstance(found, list) and isinstance(part, int) and part < len(found):
            found = found[part]
        else:
            return None
    return found


def put(path: Path_, value: Any) -> None:
    """Set a field; None, an empty text and an empty list remove it."""
    here: Any = draft()
    for part in path[:-1]:
        here = here[part] if isinstance(part, int) else here.setdefault(part, {})
    key = path[-1]
    if value is None or value in ("", [], ()):
        here.pop(key, None)
    else:
        here[key] = value


def view(parts: Catalog) -> View:
    """Answer to the request as typed, or else the last answer and what is wrong."""
    faults = quantity_faults(draft())
    infeasible = ""
    if not faults:
        try:
            request = SizingRequest.from_dict(draft())
        except RequestError as error:
            faults = request_faults(str(error))
        else:
            found = outcome(request, parts)
            infeasible = sentences(found.infeasible)
            if found.refused:
                faults = request_faults(found.refused)
            elif found.result is not None:
                st.session_state.answered = request.model_dump_json()
    answered = st.session_state.get("answered", "")
    result = outcome(SizingRequest.model_validate_json(answered), parts).result if answered else None
    return View(parts, result, answered, tuple(faults), infeasible)


def quantity_faults(data: Mapping[str, Any]) -> list[Fault]:
    """Faults of the fields that hold quantities, each with its place."""
    faults = []
    for path, value in _leaves(data, ()):
        kind = kind_of(path)
        if kind is not None:
            try:
                parse(kind, value)
            except ValueError as error:
                faults.append(Fault(path, sentences(str(error))))
    return faults


def kind_of(path: Path_) -> Kind | None:
    """Kind of quantity that a field holds, if any."""
    return next((kind for end, kind in QUANTITIES.items() if path[-len(end) :] == end), None)


def _leaves(data: Any, path: Path_) -> list[tuple[Path_, Any]]:
    if isinstance(data, Mapping):
        return [leaf for key, value in data.items() for leaf in _leaves(value, (*path, key))]
    if isinstance(data, list) and any(isinstance(part, Mapping) for part in data):
        return [leaf for number, value in enumerate(data) for leaf in _leaves(value, (*path, number))]
    return [(path, data)]


# A field of the request at the start of an error: workload[0].target.samples_per_s = ... or limits.racks: ...
_FIELD = re.compile(r"(?:unknown key '|key ')?([a-z_]+(?:\[\d+\]|\.\d+|\.[a-z_]+)*)'?(?= = |: | is | names )")
_SNAKE = re.compile(r"\b(?:[a-z]+(?:\[\d+\])?\.)*[a-z]+(?:_[a-z]+)+\b")
_ID = re.compile(r"'?(?<![\w.-])([a-z0-9]+(?:[.+-][a-z0-9]+)+|[a-z]+\d+|(?<=')[a-z0-9]+)(?![\w-])'?")


def request_faults(text: str) -> list[Fault]:
    """Sentences of a RequestError, each with the field that it names."""
    faults = []
    for line in text.splitlines():
        match = _field(line.removeprefix("request: "))
        parts = re.findall(r"[a-z_]+|\d+", match[1]) if match is not None else []
        faults.append(Fault(tuple(int(part) if part.isdigit() else part for part in parts), sentences(line)))
    return faults


def _field(line: str) -> re.Match[str] | None:
    match = _FIELD.match(line)
    return match if match is not None and re.split(r"[\[.]", match[1])[0] in SizingRequest.model_fields else None


def sentences(text: str, place: str = "request") -> str:
    """An error of the engine in the words of the pages: fields by their labels, items by their names, no places."""
    said = []
    for line in text.splitlines():
        line = line.removeprefix(f"{place}: ")
        match = _field(line)
        if match is not None:
            line = f"{label_of(match[1])}{line[match.end() :]}"
        line = _SNAKE.sub(lambda found: label_of(found[0]), line)
        line = _ID.sub(_name_of, line)
        said.append(line[:1].upper() + line[1:] + ("" if line.endswith((".", "?", "!")) else "."))
    return " ".join(said)


def label_of(path: str) -> str:
    """Label of a field given as in an error: 'workload[0].dataset_bytes' reads 'Data set size'."""
    last: str = re.findall(r"[a-z_]+", path)[-1]
    return LABELS.get(last, last.replace("_", " "))


def _name_of(match: re.Match[str]) -> str:
    """Name of a catalogue item in place of its id; other words stay."""
    try:
        return str(catalog().item(match[1]).name)
    except CatalogError:
        return match[0]
