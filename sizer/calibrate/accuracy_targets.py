"""Measures of accuracy and the range that each must reach."""

from dataclasses import dataclass
from enum import StrEnum


class AccuracyMeasure(StrEnum):
    """What an accuracy target is about. Errors are |ln(predicted / published)|."""

    RATES_PREDICTED = "rates-predicted"  # share, of rates with neural network, GPU and precision
    IN_SAMPLE_MEDIAN = "in-sample-median"
    IN_SAMPLE_P90 = "in-sample-p90"
    SERIES_MEDIAN = "held-out-series-median"
    SOURCE_MEDIAN = "held-out-source-median"
    CLUSTERS_MEDIAN = "held-out-clusters-median"
    SOURCE_COVERAGE = "held-out-source-coverage"  # share inside the 90 % interval
    TIME_MEDIAN = "time-to-train-median"
    HOST_MEDIAN = "host-source-median"  # host data path, its source held out
    HOST_COVERAGE = "host-source-coverage"
    # Step times of language models.
    LANGUAGE_MEDIAN = "language-median"
    LANGUAGE_P90 = "language-p90"
    LANGUAGE_SERIES_MEDIAN = "language-held-out-series-median"
    LANGUAGE_SOURCE_MEDIAN = "language-held-out-source-median"  # its stack known from other sources
    LANGUAGE_BETTER = "language-better-than-utilization"  # share of sources
    LANGUAGE_STRANGE_MEDIAN = "language-unknown-stack-median"  # a source with a stack of its own
    LANGUAGE_ROUND_RATES = "language-newest-round-rates"
    LANGUAGE_ROUND_TIMES = "language-newest-round-times"
    LANGUAGE_COVERAGE = "language-coverage"
    LANGUAGE_SERIES_COVERAGE = "language-held-out-series-coverage"
    LANGUAGE_SOURCE_COVERAGE = "language-held-out-source-coverage"
    LANGUAGE_STRANGE_COVERAGE = "language-unknown-stack-coverage"
    LANGUAGE_MEMORY_MEDIAN = "language-memory-median"
    LANGUAGE_MEMORY_SOURCE_MEDIAN = "language-memory-held-out-source-median"
    LANGUAGE_MEMORY_COVERAGE = "language-memory-held-out-source-coverage"
    LANGUAGE_MEMORY_RAN = "language-memory-refused-that-ran"  # share
    LANGUAGE_BIAS = "language-bias"
    LANGUAGE_SOURCE_BIAS = "language-held-out-source-bias"
    LANGUAGE_STRANGE_BIAS = "language-unknown-stack-bias"
    # Days of whole trainings of language models, their family of models left out.
    WHOLE_RUN_COVERAGE = "whole-run-coverage"
    WHOLE_RUN_BIAS = "whole-run-bias"
    WHOLE_RUN_WIDTH = "whole-run-half-width"  # of the 90 % interval, above the prediction, in the median
    # Other networks of MLPerf Training v1.0 and later.
    MODERN_RATE = "modern-rate-in-sample-median"
    MODERN_RATE_SYSTEM = "modern-rate-system-left-out-median"
    MODERN_RATE_ROUND = "modern-rate-newest-round-left-out-median"
    MODERN_TIME = "modern-time-in-sample-median"
    MODERN_TIME_SYSTEM = "modern-time-system-left-out-median"
    MODERN_TIME_ROUND = "modern-time-newest-round-left-out-median"
    MODERN_COVERAGE_LEAST = "modern-least-coverage"  # of all six tests
    MODERN_COVERAGE_MOST = "modern-most-coverage"
    MODERN_BIAS = "modern-largest-bias"
    # Serving of language models: tokens/s, where nothing else is said.
    SERVING_MEDIAN = "serving-median"
    SERVING_CELL = "serving-cell-left-out-median"  # a cell is a model, an engine, a GPU and a precision
    SERVING_CELL_P90 = "serving-cell-left-out-p90"
    SERVING_CELL_TPOT = "serving-cell-left-out-time-per-token-median"
    SERVING_GPU = "serving-gpu-left-out-median"
    SERVING_MODEL = "serving-model-left-out-median"
    SERVING_ENGINE = "serving-engine-left-out-median"
    SERVING_FIRST = "serving-cell-left-out-first-token-median"
    SERVING_FIRST_COVERAGE = "serving-cell-left-out-first-token-coverage"
    SERVING_COVERAGE_LEAST = "serving-least-coverage"  # of in sample and the four left out
    SERVING_COVERAGE_MOST = "serving-most-coverage"
    SERVING_WIDTH_CELL = "serving-half-width-cell-left-out"  # of the 90 % interval, in the median
    SERVING_WIDTH = "serving-half-width"
    SERVING_OFFLINE = "serving-mlperf-offline-unfitted-median"
    SERVING_SERVER = "serving-mlperf-server-unfitted-median"
    SERVING_INTERACTIVE = "serving-mlperf-interactive-unfitted-median"
    SERVING_MLPERF_BIAS = "serving-mlperf-unfitted-largest-bias"
    SERVING_TUNED = "serving-mlperf-half-of-systems-left-out-median"
    SERVING_LOADS = "serving-memory-loads-and-refusals"  # share
    SERVING_LIMITS = "serving-memory-limits-median"  # of requests in flight
    # Emulated accelerators of MLPerf Storage.
    STORAGE_MEDIAN = "storage-system-left-out-median"
    STORAGE_COVERAGE = "storage-system-left-out-coverage"
    STORAGE_NODES = "storage-limit-of-nodes-left-out-median"
    STORAGE_CLIENTS = "storage-limit-of-clients-left-out-median"


@dataclass(frozen=True)
class AccuracyTarget:
    """One measure of accuracy and the range that the calibration must reach."""

    measure: AccuracyMeasure
    value: float  # a fraction
    low: float  # what is asked for: low <= value <= high
    high: float
    rows: int  # rows that it was measured on

    @property
    def is_reached(self) -> bool:
        """Whether it lies where it must."""
        return self.low <= self.value <= self.high
