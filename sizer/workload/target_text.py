"""The target of a workload in words, and what a time to train needs with it."""

from sizer.base.errors import RequestError
from sizer.base.quantities import by_count, duration, grouped, plain, si, tokens_text
from sizer.catalog.labels import sample_unit
from sizer.catalog.schema import Dnn
from sizer.workload.request import SERVING_TASKS, Workload


def target_text(workload: Workload, dnn: Dnn, digits: int = 3) -> str:
    """A target inside a sentence: 'at least 52.3 kimages/s'.

    ``dnn``: its neural network, which names the samples. ``digits``: significant digits of a rate.
    """
    target = workload.target
    if target.samples_per_s is not None and dnn.sample == "request in flight":
        return f"{grouped(target.samples_per_s)} {sample_unit(dnn)}"
    if target.samples_per_s is not None:
        return f"at least {si(target.samples_per_s, sample_unit(dnn), digits)}"
    if target.gpus_busy is not None:
        gpus = by_count(target.gpus_busy, "1 GPU", f"{grouped(target.gpus_busy)} GPUs")
        if workload.task in SERVING_TASKS:
            return f"what {gpus} serve within the limits"
        # No data path holds up a language model; how many of the GPUs a layout uses is said with the layout.
        return f"{gpus} in one job" if dnn.transformer is not None else f"{gpus} fully utilized"
    if target.maximum is not None:
        return "the highest rate within the limits"
    # As a request states them; a resolved one has their requests a second.
    for rate, unit in ((target.requests_per_s, "requests/s"), (target.tokens_per_s, "tokens/s")):
        if rate is not None:
            return f"at least {si(rate, unit, digits)}"
    people = (
        (target.requests_per_day, "requests a day"),
        (target.concurrent_requests, "requests in flight"),
        (target.active_users, "active users"),
        (target.users, "users in all"),
    )
    for count, what in people:
        if count is not None:
            return f"{grouped(count)} {what}"
    assert target.time_to_train_s is not None  # a target is one of them
    time = duration(target.time_to_train_s)
    if workload.tokens is not None and dnn.transformer is not None:
        return f"{trained_tokens_text(workload)} within {time}"
    if workload.epochs is None:
        return f"accuracy reached within {time}"
    return by_count(workload.epochs, "1 epoch", f"{plain(workload.epochs)} epochs") + f" within {time}"


def trained_tokens_text(workload: Workload) -> str:
    """Tokens that a language model is trained on: '400 million tokens', with the epochs where they are not one."""
    assert workload.tokens is not None  # asked where they are stated
    text = tokens_text(workload.tokens)
    return text if workload.epochs in (None, 1) else f"{plain(workload.epochs)} epochs of {text}"


def check_length(work: Workload, place: str) -> None:
    """Of a network that is known, a time to train needs the length of the training.

    Raises RequestError if the workload at ``place`` has neither epochs nor tokens nor a recipe.
    """
    if work.target.time_to_train_s is not None and (work.epochs, work.recipe, work.tokens) == (None, None, None):
        raise RequestError(
            f"{place}.target.time_to_train_s needs the training length; add epochs = 90, the tokens of an epoch for a "
            "language model (tokens = '1 trillion tokens'), or a recipe to a published accuracy (recipe = "
            "'retinanet-mlperf-v5.0')"
        )
