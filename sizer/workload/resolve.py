"""A workload with its names looked up: DNN, data set, stack and recipe, and every default listed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.faults import nearest
from sizer.base.provenance import Sourced
from sizer.base.quantities import si
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.sale import newer_eras
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import FLOP_PER_PARAMETER, TOKEN_BYTES, Dataset, Dnn, Recipe, Stack, Transformer
from sizer.workload.checkpoints import (
    Checkpoints,
    OtherStreams,
    checkpoints_of_network,
    other_streams,
    with_usual_level,
)
from sizer.workload.custom_network import KIND_OF_FAMILY, OTHER_KIND, CustomDnn
from sizer.workload.data import larger_data_share
from sizer.workload.eras import eras_asked
from sizer.workload.language import (
    DEFAULT_LANGUAGE_STACK,
    DefaultKind,
    LanguageWork,
    in_tokens,
    trains_language,
)
from sizer.workload.loads import night_target
from sizer.workload.request import CustomDataset, SizingRequest, Workload
from sizer.workload.sample_format import FormatBasis, read_bytes, sample_format
from sizer.workload.serving import NightWork, ServingWork, at_night, check_not_served, in_requests, is_served
from sizer.workload.stack_choice import MeasuredStacks, StackChoice, StackEvidence, choose_stack, stack_id
from sizer.workload.table import DEFAULT_DATASET
from sizer.workload.target_text import check_length
from sizer.workload.transformer.custom_transformer import CustomTransformer
from sizer.workload.work_kinds import WorkKind, kind_of

ItemT = TypeVar("ItemT", bound=Item)

# Batches that fit a 16 GB GPU for ImageNet networks: 128 with mixed precision and half of it with fp32
# (dell-ready-ai-nvidia-2018: TensorFlow 128; "fp16 doubles the batch").
DEFAULT_BATCH = {"mixed": 128, "fp32": 64}
CUSTOM = "request"  # source of values from the user
# Vendor of recipes that end at a quality; others are schedules of so many epochs, whatever the data.
QUALITY_TARGETS = "MLPerf"
# After so long software and drivers are others.
_OLD_DAYS = 365


@dataclass(frozen=True)
class WorkloadDefault:
    """A default value that the request does not have."""

    kind: DefaultKind
    value: float


@dataclass(frozen=True)
class BatchSizes:
    """Batch per GPU by the number of GPUs: at a number that is not listed, that of the largest one below it."""

    n_gpus: Ints  # rising
    batch_per_gpu: Ints

    def at(self, n_gpus: ArrayLike) -> Ints:
        """Batch per GPU on so many GPUs."""
        place = np.searchsorted(self.n_gpus, np.asarray(n_gpus, dtype=float), side="right") - 1
        return np.asarray(self.batch_per_gpu[np.maximum(place, 0)])


@dataclass(frozen=True)
class ResolvedWorkload:
    """A workload as the models take it. Sizes in bytes."""

    request: Workload
    dnn: Dnn
    like: str | None  # catalogue DNN whose GPU efficiency a custom one uses
    is_custom_dnn: bool
    dataset: Dataset
    stack: Stack
    recipe: Recipe | None
    family: str  # of the network, or of the one that a custom one is like; empty where it is not known
    batch_per_gpu: int  # stated, or the usual one where ``batches`` does not have the GPU
    sample_bytes: float  # read for one sample: of a slide a tile
    dataset_bytes: float
    n_samples: float  # of one epoch
    sample_format: SampleFormat  # sets the host's work per sample
    format_basis: FormatBasis
    defaults: tuple[WorkloadDefault, ...]  # values that the request does not have
    warnings: tuple[str, ...]
    stack_choice: StackChoice | None = None  # None: the request names its stack
    batches: Mapping[str, int] = field(default_factory=dict)  # GPU -> batch, where the request states none
    recipe_samples: float | None = None  # of an epoch of the recipe's own data set; None where no source gives them
    larger_data_share: float = 1.0  # epochs on these data over those of the recipe on its own, smaller ones
    mlperf: str = ""  # name in MLPerf rows, where rates on GPUs that they have come from the fit of these
    mlperf_data: Dataset | None = None  # that these runs read
    # GPU -> batch by the number of GPUs, of a training whose length grows with the batch; none where one is stated
    batch_sizes: Mapping[str, BatchSizes] = field(default_factory=dict)
    language: LanguageWork | None = None  # training of a language model; its samples are tokens
    serving: ServingWork | None = None  # a language model in use; its samples are requests
    # Of a training whose rate is that of published trainings of networks of its kind; None of other work.
    own_kind: str | None = None
    checkpoints: Checkpoints | None = None  # None of what only reads
    others: OtherStreams | None = None  # what runs beside; None where the request says nothing of it
    night: NightWork | None = None  # of a generation or a training of a language model in these hours alone

    def batch_on(self, gpu_id: str, n_gpus: float = 1.0) -> int:
        """Samples of one step on one of so many GPUs of a kind."""
        if gpu_id in self.batch_sizes:
            return int(self.batch_sizes[gpu_id].at(self.gpus_of_job(n_gpus)))
        return self.batches.get(gpu_id, self.batch_per_gpu)

    def recipe_batch(self, global_batch: ArrayLike) -> Floats:
        """Batch with which the data set of the recipe has as many steps in an epoch as this one has.

        What a large batch costs is known of that data set. It leaves too few steps, a number of the network and its
        task: a larger data set has more of them. McCandlish et al. 2018, arXiv:1812.06162, equation 2.11.
        """
        samples = self.n_samples if self.recipe_samples is None else self.recipe_samples
        return np.asarray(global_batch, dtype=float) * (samples / self.n_samples)

    def recipe_share(self, epochs: Floats) -> Floats:
        """Epochs on this data set over those of the recipe on its own, which are ``epochs`` (...); never below one."""
        return np.maximum(self.larger_data_share, np.minimum(1 / epochs, 1.0))

    def gpus_of_job(self, n_gpus: ArrayLike) -> ArrayLike:
        """GPUs that the batch is divided over: as many as are to be fully utilized, else all of a design."""
        return n_gpus if self.request.target.gpus_busy is None else float(self.request.target.gpus_busy)

    def on(self, gpu_id: str, n_gpus: float | None = None) -> "ResolvedWorkload":
        """The workload with the batch that it has on a kind of GPU, or on so many of them."""
        if gpu_id in self.batch_sizes:
            if n_gpus is None:
                return replace(self, batches={}, batch_sizes={gpu_id: self.batch_sizes[gpu_id]})
            return self._with_batch(self.batch_on(gpu_id, n_gpus), DefaultKind.BATCH_OF_RUNS)
        if gpu_id not in self.batches:
            return self
        return self._with_batch(self.batches[gpu_id], DefaultKind.BATCH_PER_GPU)

    def _with_batch(self, batch: int, kind: DefaultKind) -> "ResolvedWorkload":
        defaults = tuple(
            WorkloadDefault(kind, batch) if default.kind is DefaultKind.BATCH_PER_GPU else default
            for default in self.defaults
        )
        return replace(self, batch_per_gpu=batch, batches={}, batch_sizes={}, defaults=defaults)

    @property
    def is_inference(self) -> bool:
        """Whether the workload trains nothing: forward passes only."""
        return self.request.task != "training"

    @property
    def is_laid_out(self) -> bool:
        """Whether a layout divides the network over the GPUs, which then sets its rates, memory and batch."""
        return self.kind.is_laid_out

    @property
    def kind(self) -> WorkKind:
        """What differs from other kinds of workload."""
        return kind_of(trains_language=self.language is not None, serves=self.serving is not None)

    @property
    def trained(self) -> LanguageWork:
        """The training of a language model."""
        assert self.language is not None
        return self.language

    @property
    def served(self) -> ServingWork:
        """The language model in use."""
        assert self.serving is not None
        return self.serving

    @property
    def samples_per_record(self) -> float:
        """Samples that lie in one record of the data: tokens in a sequence."""
        return 1 if self.language is None else self.language.sequence

    @property
    def language_checkpoints(self) -> Checkpoints | None:
        """What a language model keeps of its state; None of other networks."""
        return None if self.language is None else self.language.checkpoints


def resolve(request: SizingRequest, catalog: Catalog, measured: MeasuredStacks) -> tuple[ResolvedWorkload, ...]:
    """All workloads of a request, looked up.

    ``measured``: published rates by (stack, DNN, precision, task); a workload without a stack gets the newest one that
    was measured well, see :func:`sizer.workload.stack_choice.choose_stack`. Raises RequestError with the key, the
    unknown name and the nearest known one, or an impossible combination.
    """
    return tuple(resolve_one(request, index, catalog, measured) for index in range(len(request.workload)))


def _check_of_tokens(request: SizingRequest, catalog: Catalog) -> None:
    carbon = request.site.carbon_g_per_kwh
    if carbon is not None and not any(is_served(work) for work in request.workload):
        raise RequestError(
            f"site.carbon_g_per_kwh = {carbon:g}: the carbon of a million tokens is told of models in use, and no "
            "workload is one; remove the key, or write task = 'serving'"
        )
    asked = None if request.ownership is None else request.ownership.cost_per_million_tokens
    if asked is not None and not any(trains_language(work, catalog) for work in request.workload):
        raise RequestError(
            f"ownership.cost_per_million_tokens = {asked}: no workload trains a language model; remove the key, or "
            "choose a language model of the catalogue"
        )


def look_up(folder: Mapping[str, ItemT], name: str, place: str, what: str) -> ItemT:
    """Item of a catalogue folder by name, or a RequestError with the nearest known name."""
    if name in folder:
        return folder[name]
    hint = nearest(name, folder) or "."
    raise RequestError(
        f"{place} = {name!r}: this {what} is not in the catalogue{hint} Known: {', '.join(sorted(folder))}"
    )


def resolve_one(request: SizingRequest, index: int, catalog: Catalog, measured: MeasuredStacks) -> ResolvedWorkload:
    """One workload of a request; the others change nothing about it, but that models in use share the GPUs.

    Raises RequestError as :func:`resolve`.
    """
    work, place = request.workload[index], f"workload.{index}"
    for name in request.existing.servers:
        look_up(catalog.servers, name, "existing.servers", "server")
    defaults: list[WorkloadDefault] = []
    dnn, like = _dnn(work, place, catalog)
    language: LanguageWork | None = None
    serving: ServingWork | None = None
    night: NightWork | None = None
    if is_served(work):
        check_length(work, place)
        work, dnn, _ = in_requests(work, dnn, place, _share(request))
        beside = _served_by_day(request, index, catalog)
        if work.night_hours is not None:
            night = _night(work, beside, place)
            beside = night.serves
        serving = replace(_served(request, index, catalog), shares_with=beside)
    else:
        check_not_served(work, place)
        if work.night_hours is not None:
            night = _night(work, _served_by_day(request, index, catalog), place)
            work = work.model_copy(update={"target": night_target(work.target, night.hours)})
        work, language = in_tokens(work, dnn, place, request, catalog)
        if night is not None and (language is None or request.team is not None):
            raise RequestError(
                f"{place}.night_hours: this is of a language model that is trained beside others in use, without a "
                "[team], whose jobs run at night, too; remove it"
            )
        check_length(work, place)
    _check_of_tokens(request, catalog)
    for number, job in enumerate(() if request.team is None else request.team.job):
        if job.duration_gpu is not None:
            look_up(catalog.gpus, job.duration_gpu, f"team.job.{number}.duration_gpu", "GPU")
    counted = language or serving
    if counted is not None:
        defaults += [WorkloadDefault(kind, value) for kind, value in counted.defaults]
    dataset = dataset_of(work, place, catalog)
    eras, newer = eras_asked(catalog, request).eras, newer_eras(catalog)  # newer than V100 systems
    own_kind = _own_kind(work, dnn, like, catalog)
    stack, choice = _stack(work, dnn, like, place, catalog, measured, eras <= newer, own_kind)
    recipe = None
    if work.recipe is not None:
        recipe = look_up(catalog.recipes, work.recipe, f"{place}.recipe", "recipe")
        if recipe.dnn != dnn.id and recipe.dnn != like:
            raise RequestError(
                f"{place}.recipe = {recipe.id!r} is a recipe for {recipe.dnn}, but the workload trains {dnn.id}; "
                "choose a recipe for it, or give epochs"
            )
    batch = work.batch_per_gpu
    if counted is not None:
        batch = 1
    elif batch is None:
        batch = DEFAULT_BATCH[work.precision]
        defaults.append(WorkloadDefault(DefaultKind.BATCH_PER_GPU, batch))
    stored = stored_data(work, dataset)
    if work.dataset_bytes is not None and dataset.id in catalog.datasets and dnn.sample != "token":
        # Data of a size of their own are like the set that published runs read, and are not that set.
        dataset = dataset.model_copy(update={"name": "own data"})
    if stored.n_samples < 1:
        raise RequestError(
            f"{place}.dataset_bytes = {si(stored.dataset_bytes, 'B')} is smaller than one sample "
            f"({si(stored.sample_bytes, 'B')}); write the size of the whole data set"
        )
    if counted is None and assumes_sample_size(work):
        defaults.append(WorkloadDefault(DefaultKind.SAMPLE_BYTES, stored.sample_bytes))
    if work.target.time_to_train_s is not None and work.dataset_bytes is not None:
        # Copies of a set load the storage but are not an epoch of the original: list which one applies.
        defaults.append(WorkloadDefault(DefaultKind.SAMPLES_PER_EPOCH, stored.n_samples))
    share = 1.0
    if recipe is not None and recipe.vendor == QUALITY_TARGETS:
        share = share_of_recipe(recipe, stored.n_samples, catalog)
        if share < 1:
            defaults.append(WorkloadDefault(DefaultKind.EPOCHS_OF_LARGER_DATA, share))
    likeness = catalog.dnns[like] if like is not None else None
    found_format, basis = sample_format(work, dataset, dnn, likeness, stored.sample_bytes, catalog.datasets)
    read = read_bytes(found_format, stored.sample_bytes, dnn.input_bytes.value)
    others = with_usual_level(other_streams(request), request, work, found_format)
    takes_rates = counted is not None or own_kind is not None
    takes_rates = takes_rates or (isinstance(work.dnn, CustomDnn) and work.task == "training")
    old = _check_measured(work, takes_rates, place, request, catalog)
    warnings: tuple[str, ...] = (old,) if old else ()
    if read < stored.sample_bytes:
        warnings = (
            *warnings,
            f"Images of {si(stored.sample_bytes, 'B')} are read in tiles: a sample is one tile of {si(read, 'B')}. "
            "Write n_samples as the number of tiles of an epoch, and sample_bytes if a tile has another size.",
        )
    return ResolvedWorkload(
        request=work,
        dnn=dnn,
        like=like,
        is_custom_dnn=not isinstance(work.dnn, str),
        dataset=dataset,
        stack=stack,
        recipe=recipe,
        recipe_samples=None if recipe is None else _recipe_samples(recipe, catalog),
        larger_data_share=share,
        family=catalog.dnns[like].family if like is not None else dnn.family,
        batch_per_gpu=batch,
        sample_bytes=read,
        dataset_bytes=stored.dataset_bytes,
        n_samples=stored.n_samples,
        sample_format=found_format,
        format_basis=basis,
        defaults=tuple(defaults),
        warnings=warnings,
        stack_choice=choice,
        own_kind=own_kind,
        language=None if language is None else replace(language, stack=stack.id),
        serving=serving,
        night=night,
        checkpoints=_checkpoints(work, dnn, language, request),
        others=None if others.is_nothing else others,
        mlperf_data=catalog.datasets.get(dnn.dataset),
        mlperf=dnn.mlperf if eras & newer and _runs_mlperf(work, stack, choice) else "",
    )


def share_of_recipe(recipe: Recipe, n_samples: float, catalog: Catalog) -> float:
    """Epochs on so many samples over those of a recipe on its own data; 1 where no source gives these."""
    own = _recipe_samples(recipe, catalog)
    return 1.0 if own is None else larger_data_share(n_samples / own)


def _recipe_samples(recipe: Recipe, catalog: Catalog) -> float | None:
    """Samples of an epoch of a recipe's own data set; None where no source gives them."""
    dataset = catalog.datasets.get(catalog.dnns[recipe.dnn].dataset)
    known = recipe.epoch_samples if dataset is None else dataset.n_samples
    return None if known is None else known.value


def served_works(request: SizingRequest, catalog: Catalog) -> tuple[ServingWork, ...]:
    """What is served by a request of language models in use alone; of any other none.

    Raises RequestError as :func:`resolve`.
    """
    if not all(is_served(work) for work in request.workload):
        return ()
    return tuple(_served(request, index, catalog) for index in range(len(request.workload)))


def _served(request: SizingRequest, index: int, catalog: Catalog) -> ServingWork:
    """What one workload serves, its software by its id."""
    work, place = request.workload[index], f"workload.{index}"
    found = in_requests(work, _dnn(work, place, catalog)[0], place, _share(request))[2]
    return found if found.engine is None else replace(found, engine=stack_id(found.engine.lower(), catalog))


def _served_by_day(request: SizingRequest, index: int, catalog: Catalog) -> tuple[ServingWork, ...]:
    """What the other workloads serve that do not run at night alone."""
    places = (number for number, one in enumerate(request.workload) if number != index and is_served(one))
    served = (_served(request, place, catalog) for place in places)
    return tuple(one for one in served if one.night_hours is None)


def _night(work: Workload, by_day: tuple[ServingWork, ...], place: str) -> NightWork:
    """Raises RequestError if nothing is served by day."""
    assert work.night_hours is not None  # asked of what runs at night
    if not by_day:
        raise RequestError(
            f"{place}.night_hours: the night is what models in use leave, and no other workload serves people; add "
            "one with task = 'serving', or remove night_hours"
        )
    return NightWork(work.night_hours, *at_night(by_day, work.night_hours))


def _share(request: SizingRequest) -> float:
    """Confidence that each workload must reach alone, so that all together reach the one asked."""
    found: float = request.confidence ** (1 / len(request.workload))
    return found


def _checkpoints(work: Workload, dnn: Dnn, language: LanguageWork | None, request: SizingRequest) -> Checkpoints | None:
    """Checkpoints of a training; None of what trains nothing."""
    if work.task != "training":
        return None
    return checkpoints_of_network(dnn, request) if language is None else language.checkpoints


def _check_measured(work: Workload, takes_rates: bool, place: str, request: SizingRequest, catalog: Catalog) -> str:
    """A warning of rates that were measured long ago; empty where there are none."""
    if work.measured and not takes_rates:
        raise RequestError(
            f"{place}.measured: a rate of yours narrows that of a language model, or the training of a network that is "
            "given by its numbers; describe the network in a table, or remove the rate"
        )
    old = ""
    for number, rate in enumerate(work.measured):
        key = f"{place}.measured.{number}"
        look_up(catalog.gpus, rate.gpu, f"{key}.gpu", "GPU")
        if is_served(work) != (rate.concurrent_requests is not None):
            raise RequestError(
                f"{key}.concurrent_requests: a rate of a model in use holds at a number of requests in flight, and no "
                f"other rate does; {'add' if is_served(work) else 'remove'} it"
            )
        if rate.day is not None and request.date is not None and (request.date - rate.day).days > _OLD_DAYS:
            old = f"A rate was measured on {rate.day}, more than a year before this request: measure again."
    return old


def _own_kind(work: Workload, dnn: Dnn, like: str | None, catalog: Catalog) -> str | None:
    """Kind of the published trainings that tell the rate of a network; None where runs of its own, or others, do."""
    if work.task != "training":
        return None
    if not isinstance(work.dnn, CustomDnn):
        return dnn.kind
    if work.dnn.version_of is not None:
        return None
    if work.dnn.kind is not None or like is None:
        return work.dnn.kind or OTHER_KIND
    return KIND_OF_FAMILY.get(catalog.dnns[like].family)


def _stated(value: float) -> Sourced[float]:
    return Sourced(value=value, basis="assumed", source=CUSTOM, where="stated in the request")


def _dnn(work: Workload, place: str, catalog: Catalog) -> tuple[Dnn, str | None]:
    if isinstance(work.dnn, str):
        return look_up(catalog.dnns, work.dnn, f"{place}.dnn", "DNN"), None
    custom = work.dnn
    if isinstance(custom, CustomTransformer):
        return _dnn_of_shape(custom), None
    for key in ("like", "version_of"):
        if (name := getattr(custom, key)) is not None:
            look_up(catalog.dnns, name, f"{place}.dnn.{key}", "DNN")
    dnn = Dnn(
        id="custom-dnn",
        name=custom.name,
        vendor="",
        orderable=False,
        forward_flop=_stated(custom.forward_flop),
        parameters=_stated(custom.parameters),
        input_bytes=_stated(custom.input_bytes),
        sample="sample",
    )
    return dnn, custom.relative


def _dnn_of_shape(custom: CustomTransformer) -> Dnn:
    shape = custom.model_dump(exclude={"name", "parameters"})
    return Dnn(
        id="custom-dnn",
        name=custom.name,
        vendor="",
        orderable=False,
        forward_flop=_stated(FLOP_PER_PARAMETER * custom.used_parameters),
        parameters=_stated(custom.total_parameters),
        input_bytes=_stated(TOKEN_BYTES),
        sample="token",
        family="language-model",
        transformer=Transformer(**shape, source=CUSTOM, where="stated in the request"),
    )


class StoredData(NamedTuple):
    """Sizes of the data set of a workload as stored."""

    sample_bytes: float
    dataset_bytes: float
    n_samples: float  # of one epoch


def stored_data(work: Workload, dataset: Dataset) -> StoredData:
    """Sizes that a workload states, else those of its data set; a stated size of the set sets the samples."""
    sample_bytes = work.sample_bytes if work.sample_bytes is not None else dataset.sample_bytes.value
    if work.dataset_bytes is not None:
        return StoredData(sample_bytes, work.dataset_bytes, work.dataset_bytes / sample_bytes)
    n_samples = dataset.n_samples.value
    return StoredData(sample_bytes, n_samples * sample_bytes, n_samples)


def assumes_sample_size(work: Workload) -> bool:
    """Whether the samples of a stated size of data are taken as large as those of published runs."""
    is_stated = work.sample_bytes is not None or isinstance(work.dataset, CustomDataset)
    return work.dataset_bytes is not None and not is_stated


def usual_dataset(dnn: Dnn) -> str:
    """Data set (id) of a training of a network where none is named: that of its published runs.

    Runs on ImageNet read it in several forms; the usual one is that of single JPEG files.
    """
    return DEFAULT_DATASET if dnn.dataset.startswith(DEFAULT_DATASET) else dnn.dataset or DEFAULT_DATASET


def dataset_of(work: Workload, place: str, catalog: Catalog) -> Dataset:
    """Data set of a workload, from the catalogue or as the request describes it.

    Raises RequestError if the catalogue does not have it; ``place`` is where the request names it.
    """
    if isinstance(work.dataset, str):
        dnn = catalog.dnns.get(work.dnn if isinstance(work.dnn, str) else getattr(work.dnn, "like", None) or "")
        name = usual_dataset(dnn) if dnn is not None and work.dataset == DEFAULT_DATASET else work.dataset
        return look_up(catalog.datasets, name, f"{place}.dataset", "data set")
    custom: CustomDataset = work.dataset
    return Dataset(
        id="custom-dataset",
        name=custom.name,
        vendor="",
        orderable=False,
        n_samples=_stated(custom.n_samples),
        sample_bytes=_stated(custom.sample_bytes),
        n_validation_samples=_stated(custom.n_validation_samples),
        format=custom.format,
        sample="sample",
    )


def _runs_mlperf(work: Workload, stack: Stack, choice: StackChoice | None) -> bool:
    """Whether a training runs as MLPerf's submissions do where they were published: with a default stack or theirs."""
    return work.task == "training" and work.precision == "mixed" and (choice is not None or stack.runs_mlperf)


def _stack(
    work: Workload,
    dnn: Dnn,
    like: str | None,
    place: str,
    catalog: Catalog,
    measured: MeasuredStacks,
    is_newer: bool,
    own_kind: str | None,
) -> tuple[Stack, StackChoice | None]:
    """The stack that the request names, or the default with the reason for it."""
    task, is_language = "training" if work.task == "training" else "inference", dnn.transformer is not None
    serves = is_served(work)
    if work.stack is None and is_language:
        return look_up(catalog.stacks, DEFAULT_LANGUAGE_STACK, f"{place}.stack", "software stack"), None
    if work.stack is None and is_newer and dnn.mlperf and task == "training" and work.precision == "mixed":
        of_mlperf = next((stack for stack in catalog.stacks.values() if stack.runs_mlperf), None)
        if of_mlperf is not None:
            return of_mlperf, None
    if work.stack is None and own_kind is not None:
        own = next((stack for stack in catalog.stacks.values() if stack.trains_own), None)
        if own is not None and work.precision in own.precisions:
            return own, StackChoice(own, StackEvidence.OWN_CODE, ())
    if work.stack is None:
        choice = choose_stack(like or dnn.id, work.precision, task, catalog, measured)
        if choice is None:
            raise RequestError(
                f"{place}: the catalogue has no software stack for {work.task} with {work.precision} precision"
            )
        return choice.stack, choice
    key = f"{place}.engine" if serves else f"{place}.stack"
    known = {name: one for name, one in catalog.stacks.items() if one.serves_language} if serves else catalog.stacks
    name = stack_id(work.stack.lower() if serves else work.stack, catalog)
    stack = look_up(known, name, key, "serving engine" if serves else "software stack")
    if serves:
        return stack, None
    if stack.serves_language or stack.trains_language is not is_language:
        others = ", ".join(
            one.id for one in catalog.stacks.values() if one.trains_language is is_language and not one.serves_language
        )
        what = "trains language models only" if stack.trains_language else "trains no language models"
        what = "only serves language models" if stack.serves_language else what
        raise RequestError(f"{place}.stack = {stack.id!r} {what}; choose one of {others}")
    if stack.task not in (task, "both"):
        raise RequestError(
            f"{place}.stack = {stack.id!r} is for {stack.task}, but the task is {work.task}; choose another stack"
        )
    if work.precision not in stack.precisions:
        raise RequestError(
            f"{place}.precision = {work.precision!r} has no measurement with stack {stack.id!r}; "
            f"write {' or '.join(stack.precisions)}"
        )
    return stack, None
