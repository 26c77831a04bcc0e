"""Rates and times of a workload in words: of GPUs of a generation that was never measured none is printed."""

from sizer.base.estimate import Estimate
from sizer.present import words
from sizer.sizing.result import WorkloadAnswer

NOT_PREDICTED = "not predicted"


def throughput_text(answer: WorkloadAnswer) -> str:
    """Throughput with its interval, or that it is not predicted."""
    return rate_text(answer, answer.throughput)


def rate_text(answer: WorkloadAnswer, rate: Estimate) -> str:
    """A rate of a workload with its interval, or that it is not predicted."""
    return words.estimate(rate, words.sample_unit(answer.dnn)) if answer.rate_is_predicted else NOT_PREDICTED


def rounded_throughput(answer: WorkloadAnswer) -> str:
    """Throughput to three digits, or that it is not predicted."""
    if not answer.rate_is_predicted:
        return NOT_PREDICTED
    return words.rounded(answer.throughput, words.sample_unit(answer.dnn))


def time_text(answer: WorkloadAnswer) -> str:
    """Time to train with its interval, or that it is not predicted; "" without a length."""
    if answer.time is None:
        return ""
    return words.estimate(answer.time.total_s, "s") if answer.rate_is_predicted else NOT_PREDICTED
