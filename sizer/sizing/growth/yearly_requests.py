"""The request of every year of a [growth]: the first as stated, each later one multiplied by the yearly factors."""

import math
from typing import Any

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.workload.custom_network import CustomDnn
from sizer.workload.language import trains_language
from sizer.workload.optional_tables import Growth
from sizer.workload.request import SERVING_TASKS, SizingRequest, Workload
from sizer.workload.resolve import dataset_of, stored_data
from sizer.workload.transformer.custom_transformer import CustomTransformer

# Rounding of factors that were multiplied year by year must not call for one more GPU.
_DIGITS = 9
_LONGEST_NAME = 120


def growth_of(request: SizingRequest) -> Growth:
    """The request's growth.

    Raises RequestError if it has none.
    """
    if request.growth is None:
        raise RequestError(
            "request: growth is missing; add a [growth] table with years and a yearly factor for data, sample_size, "
            "dnn_size, target or team"
        )
    return request.growth


def yearly_requests(request: SizingRequest, catalog: Catalog) -> tuple[SizingRequest, ...]:
    """Request of every year; none of them grows any further.

    ``request``: with a [growth]. ``catalog``: sizes of data sets and neural networks that the request names. Returns
    the first is the request as stated, without its growth. Raises RequestError if the request has no growth, names
    something that the catalogue lacks, or exceeds the range of a value in some year: the message names the year.

    In year y each factor f has been applied y - 1 times. ``data`` multiplies the samples of every data set; held-out
    samples stay. A grown neural network keeps the efficiency of the original; one of the catalogue becomes a custom one
    ``like`` it. Numbers of GPUs in use and of jobs that always run are rounded up.
    """
    growth = growth_of(request)
    return tuple(_grown(request, growth, year, catalog) for year in range(1, growth.years + 1))


def _grown(request: SizingRequest, growth: Growth, year: int, catalog: Catalog) -> SizingRequest:
    if year == 1:
        return request.model_copy(update={"growth": None})
    data = request.model_dump(exclude_none=True)
    del data["growth"]
    times = year - 1
    data["workload"] = [
        _workload(work, as_data, growth, times, catalog)
        for work, as_data in zip(request.workload, data["workload"], strict=True)
    ]
    if growth.team != 1 and "team" in data:
        data["team"] = {**data["team"], "job": [_job(job, growth.team**times) for job in data["team"]["job"]]}
    return SizingRequest.from_dict(data, f"year {year} of growth")


def _workload(work: Workload, data: dict[str, Any], growth: Growth, times: int, catalog: Catalog) -> dict[str, Any]:
    size, samples = growth.sample_size**times, growth.data**times
    if work.task in SERVING_TASKS:  # it reads no data set
        size = samples = 1.0
    elif trains_language(work, catalog):
        data = {**data, **_more_tokens(work, growth, samples)}
    elif size != 1 or samples != 1:
        stored = stored_data(work, dataset_of(work, f"workload {work.name}", catalog))
        sizes = {"sample_bytes": stored.sample_bytes * size, "dataset_bytes": stored.dataset_bytes * size * samples}
        data = {**data, **sizes}
    if growth.dnn_size != 1:
        data = {**data, "dnn": _dnn(work, growth.dnn_size**times, catalog)}
    if growth.target != 1:
        data = {**data, "target": _target(work, growth, times)}
    return data


def _more_tokens(work: Workload, growth: Growth, samples: float) -> dict[str, float]:
    """The tokens of a year. A language model keeps its shape and its tokens their size."""
    for factor in ("sample_size", "dnn_size"):
        if getattr(growth, factor) != 1:
            raise RequestError(
                f"request: growth.{factor} = {getattr(growth, factor):g}: {work.name!r} trains a language model, whose "
                f"shape and bytes a token do not grow; remove growth.{factor}, or ask for a larger model in a request "
                "of its own"
            )
    if samples == 1:
        return {}
    if work.tokens is None:
        raise RequestError(
            f"request: growth.data = {growth.data:g}: {work.name!r} does not state its tokens; add tokens to it"
        )
    stored = {} if work.dataset_bytes is None else {"dataset_bytes": work.dataset_bytes * samples}
    return {"tokens": work.tokens * samples, **stored}


def _dnn(work: Workload, factor: float, catalog: Catalog) -> dict[str, Any]:
    assert not isinstance(work.dnn, CustomTransformer)  # language models do not grow, see _more_tokens
    if isinstance(work.dnn, CustomDnn):
        grown = work.dnn.model_dump(exclude_none=True)
        if work.dnn.embedding_parameters is not None:
            grown["embedding_parameters"] = work.dnn.embedding_parameters * factor
        return {
            **grown,
            "forward_flop": work.dnn.forward_flop * factor,
            "parameters": work.dnn.parameters * factor,
        }
    if work.dnn not in catalog.dnns:
        raise RequestError(f"request: dnn {work.dnn!r} of {work.name!r} is not in the catalogue")
    known = catalog.dnns[work.dnn]
    return {
        "name": f"{known.name} × {factor:.3g}"[:_LONGEST_NAME],
        "forward_flop": known.forward_flop.value * factor,
        "parameters": known.parameters.value * factor,
        "input_bytes": known.input_bytes.value,
        "version_of": known.id,
    }


def _target(work: Workload, growth: Growth, times: int) -> dict[str, Any]:
    factor = growth.target**times
    ((name, value),) = work.target.model_dump(exclude_none=True).items()
    if name == "time_to_train_s":
        return {name: value / factor}
    # The highest rate is refused together with [growth].
    return {name: _whole(value * factor) if isinstance(value, int) else value * factor}


def _job(job: dict[str, Any], factor: float) -> dict[str, Any]:
    grown = dict(job)
    for key in ("jobs_a_day", "jobs_a_day_each"):
        if key in grown:
            grown[key] *= factor
    if "always_running" in grown:
        grown["always_running"] = _whole(grown["always_running"] * factor)
    return grown


def _whole(count: float) -> int:
    return max(math.ceil(round(count, _DIGITS)), 1)
