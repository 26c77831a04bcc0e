"""Validated rows in numbers and words: names and units of quantities, errors, groups, largest errors, reasons."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sizer.base.estimate import Z90
from sizer.base.quantities import NARROW_SPACE, duration, si, significant
from sizer.calibrate.notes import FitNote, RowStatus, note
from sizer.calibrate.validate import Summary, ValidatedRow, is_meant
from sizer.present.text.calibration import status_text
from sizer.present.words import capital, percent

Key = Callable[[ValidatedRow], str]

# Share of the published numbers that a 90 % interval promises to hold.
NOMINAL = 0.9
# A group with fewer rows says more about its rows than about the model.
MIN_GROUP = 3
FACTOR_2 = math.log(2)
# Longest text of a file that a page shows in one cell.
MAX_TEXT = 120

TASKS = {
    "training": "Training",
    "inference": "Inference",
    "accuracy": "Accuracy",
    "preprocess": "Host data path",
    "storage": "Storage",
    "network": "Network",
}
_QUANTITIES = {
    "samples_per_s": "rate",
    "samples_per_s_per_core": "rate per core",
    "storage_bytes_per_s": "storage rate",
    "bus_bytes_per_s": "bus bandwidth",
    "algorithm_bytes_per_s": "algorithm bandwidth",
    "all_reduce_time_s": "all-reduce time",
    "time_to_train_s": "time to train",
    "run_time_s": "run time",
    "cpu_utilization_fraction": "host CPU load",
    "gpu_utilization_fraction": "GPU load",
    "cache_miss_fraction": "cache misses",
    "stall_fraction": "share of time stalled",
    "cores_per_gpu": "cores per GPU",
    "read_amplification": "read amplification",
    "epochs_to_target": "epochs to target",
    "epochs": "epochs",
    "speedup": "speed-up",
    "first_epoch_over_later": "first epoch over later epochs",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class NumberKind:
    """A kind of number that shares an axis: its name there, its unit, and its heading."""

    name: str
    unit: str
    title: str

    @property
    def axis(self) -> str:
        return f"{self.name}, {self.unit}" if self.unit else self.name


RATE = NumberKind("rate", "samples/s", "Rates")
TIME = NumberKind("time", "s", "Times")
DATA_RATE = NumberKind("data rate", "B/s", "Data rates of storage and network")
NUMBER = NumberKind("ratio or number of epochs", "", "Speed-ups and epochs")
SHARE = NumberKind("share", "", "Loads and other shares")
# In the order in which a page shows them.
MEASURES = (RATE, TIME, DATA_RATE, NUMBER, SHARE)


def measure(quantity: str) -> NumberKind:
    """What is measured: the end of a quantity's name is its unit."""
    if quantity.endswith("bytes_per_s"):
        return DATA_RATE
    if quantity.endswith(("samples_per_s", "_per_core")):
        return RATE
    if quantity.endswith("_s"):
        return TIME
    return SHARE if quantity.endswith("_fraction") else NUMBER


def task_name(task: str) -> str:
    """A task as people say it."""
    return TASKS.get(task) or capital(task) or "Task not stated"


def quantity_name(quantity: str) -> str:
    """A quantity as people say it."""
    return _QUANTITIES.get(quantity) or quantity.replace("_", " ") or "quantity not stated"


def kind_name(row: ValidatedRow) -> str:
    """Task and quantity of a row: 'Training: time to train'."""
    return f"{task_name(row.task)}: {quantity_name(row.quantity)}"


def value_text(value: float | None, quantity: str) -> str:
    """A number with its unit; very small and very large ones as powers of ten."""
    if value is None or not math.isfinite(value):
        return "not known"
    kind = measure(quantity)
    if value > 0 and not 1e-3 <= value < (1e15 if kind in (TIME, DATA_RATE) else 1e7):
        power = math.floor(math.log10(value))
        text = f"{significant(value / 10.0**power)} × 10{str(power).translate(_SUPERSCRIPTS)}"
        return text + (NARROW_SPACE + kind.unit if kind.unit else "")
    if kind is SHARE:
        return percent(value)
    if kind is TIME:
        return duration(value)
    return si(value, kind.unit, 4 if kind is RATE else 3) if kind.unit else significant(value)


def error_text(log_error: float | None) -> str:
    """A deviation in words: '+12 %', '3.4 times too high'."""
    if log_error is None:
        return "not known"
    if abs(log_error) >= FACTOR_2:
        return f"{_times(abs(log_error))} times too {'high' if log_error > 0 else 'low'}"
    deviation = math.expm1(log_error)
    sign = "+" if deviation > 5e-4 else "\u2212" if deviation < -5e-4 else ""
    return sign + percent(abs(deviation) if sign else 0.0)


def share_text(share: float | None) -> str:
    """A share in percent."""
    return percent(share) if share is not None and math.isfinite(share) else "not known"


def size_text(size: float | None) -> str:
    """|ln(predicted / published)| in percent, as ``sizer validate`` prints it; a large one as a factor."""
    return share_text(size) if size is None or size < FACTOR_2 else f"a factor of {_times(size)}"


def _times(size: float) -> str:
    # Powers of ten beyond what anybody reads as a number of times.
    return significant(math.exp(size), 2) if size < math.log(1e6) else "over a million"


def reason_text(status: RowStatus) -> str:
    """Why a row is not predicted or not counted."""
    reason = status.reason
    if reason is not None and reason.kind is FitNote.QUANTITY_NOT_MODELLED:
        status = RowStatus(status.use, note(reason.kind, quantity_name(str(reason.values[0]))))
    return shortened(capital(status_text(status)))


def shortened(text: str, most: int = MAX_TEXT) -> str:
    """Text of a file on one line, cut where it is longer than a cell should be."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def coverage_range(summary: Summary) -> tuple[float, float]:
    """Where the true share inside the intervals lies with 90 % probability if the rows are independent.

    Score interval of a binomial share [1]_.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference," J. Am. Stat. Assoc.
       22(158):209-212, 1927, doi:10.1080/01621459.1927.10502953.
    """
    if not summary.judged_rows:
        return 0.0, 1.0
    n, share, z2 = summary.judged_rows, summary.coverage or 0.0, Z90**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z90 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def is_too_narrow(summary: Summary) -> bool:
    """Whether the intervals hold less than they promise, beyond chance; a row or two cannot say."""
    return summary.judged_rows >= MIN_GROUP and coverage_range(summary)[1] < NOMINAL


def rated(rows: Iterable[ValidatedRow]) -> list[ValidatedRow]:
    """Rows with a prediction that the model is meant to describe."""
    return [row for row in rows if is_meant(row)]


def reasons(rows: Iterable[ValidatedRow], *, predicted: bool) -> list[tuple[RowStatus, int]]:
    """Why rows do not count, the most frequent reason first: those without prediction, or those that have one."""
    count = Counter(row.status for row in rows if not is_meant(row) and (row.predicted is not None) is predicted)
    return sorted(count.items(), key=lambda pair: (-pair[1], status_text(pair[0])))
