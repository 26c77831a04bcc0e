"""Measures of accuracy and the range that each must reach."""

from dataclasses import dataclass

# Key of a measure -> what it is about. Errors are |ln(predicted / published)|.
MEASURES = {
    "rates-predicted": "rates predicted, of those with neural network, GPU and precision",
    "in-sample-median": "error in sample, median",
    "in-sample-p90": "error in sample, 90th percentile",
    "held-out-series-median": "error with the series held out, median",
    "held-out-source-median": "error with the source held out, median",
    "held-out-clusters-median": "error with clusters above 8 GPUs held out, median",
    "held-out-source-coverage": "share inside the 90 % interval, source held out",
    "time-to-train-median": "error of the time to train of public logs, median",
    "host-source-median": "error of the host data path with the source held out, median",
    "host-source-coverage": "share of the host data path inside the 90 % interval, source held out",
    # Step times of language models.
    "language-median": "language models, error in sample, median",
    "language-p90": "language models, error in sample, 90th percentile",
    "language-held-out-series-median": "language models, error with the series held out, median",
    "language-held-out-source-median": "language models, source held out, stack known elsewhere, median",
    "language-better-than-utilization": "language models, share of sources better than one utilization per GPU",
    "language-unknown-stack-median": "language models, source held out, stack unknown, median",
    "language-newest-round-rates": "language models, MLPerf v5.1 held out, rates, median",
    "language-newest-round-times": "language models, MLPerf v5.1 held out, time to train, median",
    "language-coverage": "language models, share inside the 90 % interval, in sample",
    "language-held-out-series-coverage": "language models, share inside the 90 % interval, series held out",
    "language-held-out-source-coverage": "language models, share inside the 90 % interval, source held out",
    "language-unknown-stack-coverage": "language models, share inside the 90 % interval, stack unknown",
    "language-memory-median": "language models, GPU memory in sample, median",
    "language-memory-held-out-source-median": "language models, GPU memory, source held out, median",
    "language-memory-held-out-source-coverage": "language models, GPU memory, share inside the 90 % interval",
    "language-memory-refused-that-ran": "language models, published layouts refused for GPU memory",
    "language-bias": "language models, bias in sample",
    "language-held-out-source-bias": "language models, bias with the source held out",
    "language-unknown-stack-bias": "language models, bias with the stack unknown",
    # Days of whole trainings of language models, their family of models left out.
    "whole-run-coverage": "whole trainings, share of days inside the 90 % interval, family held out",
    "whole-run-bias": "whole trainings, bias of days, family held out",
    "whole-run-half-width": "whole trainings, half width of the 90 % interval, median",
    # Trainings of networks of one's own, their team left out.
    "own-networks-coverage": "own networks, 90 % interval of rates, team held out",
    "own-networks-bias": "own networks, bias of rates, team held out",
    "own-networks-half-width": "own networks, half width of the 90 % interval, median",
    # Other networks of MLPerf Training v1.0 and later.
    "modern-rate-in-sample-median": "MLPerf v1.0 to v5.1: rate in sample, median",
    "modern-rate-system-left-out-median": "MLPerf v1.0 to v5.1: rate with the system held out, median",
    "modern-rate-newest-round-left-out-median": "MLPerf v5.1 from v1.0 to v5.0: rate, median",
    "modern-time-in-sample-median": "MLPerf v1.0 to v5.1: time to train in sample, median",
    "modern-time-system-left-out-median": "MLPerf v1.0 to v5.1: time to train with the system held out, median",
    "modern-time-newest-round-left-out-median": "MLPerf v5.1 from v1.0 to v5.0: time to train, median",
    "modern-least-coverage": "MLPerf v1.0 to v5.1: share inside the 90 % interval, lowest check",
    "modern-most-coverage": "MLPerf v1.0 to v5.1: share inside the 90 % interval, highest check",
    "modern-largest-bias": "MLPerf v1.0 to v5.1: bias, largest of all checks",
    # Serving of language models: tokens/s, where nothing else is said.
    "serving-median": "serving, tokens/s in sample, median",
    "serving-cell-left-out-median": "serving, tokens/s, model x engine x GPU x precision held out, median",
    "serving-cell-left-out-p90": "serving, tokens/s, the same, 90th percentile",
    "serving-cell-left-out-time-per-token-median": "serving, time per token, the same, median",
    "serving-gpu-left-out-median": "serving, tokens/s, GPU held out, median",
    "serving-model-left-out-median": "serving, tokens/s, model held out, median",
    "serving-engine-left-out-median": "serving, tokens/s, engine held out, median",
    "serving-cell-left-out-first-token-median": "serving, time to the first token, combination held out, median",
    "serving-cell-left-out-first-token-coverage": "serving, time to the first token, share inside the 90 % interval",
    "serving-least-coverage": "serving, tokens/s, share inside the 90 % interval, lowest check",
    "serving-most-coverage": "serving, tokens/s, share inside the 90 % interval, highest check",
    "serving-half-width-cell-left-out": "serving, tokens/s, half width of the interval, combination held out",
    "serving-half-width": "serving, tokens/s, half width of the interval, in sample",
    "serving-mlperf-offline-unfitted-median": "serving, MLPerf offline, none of its rows fitted, median",
    "serving-mlperf-server-unfitted-median": "serving, MLPerf server, none of its rows fitted, median",
    "serving-mlperf-interactive-unfitted-median": "serving, MLPerf interactive, none of its rows fitted, median",
    "serving-mlperf-unfitted-largest-bias": "serving, MLPerf, none of its rows fitted, largest bias of a scenario",
    "serving-mlperf-half-of-systems-left-out-median": "serving, MLPerf, half of the systems held out, median",
    "serving-memory-loads-and-refusals": "serving, published loads and refusals that memory explains",
    "serving-memory-limits-median": "serving, published limits of requests in flight, median",
    # Emulated accelerators of MLPerf Storage.
    "storage-system-left-out-median": "MLPerf Storage: rate of emulated accelerators with the system held out, median",
    "storage-system-left-out-coverage": "MLPerf Storage: share inside the 90 % interval, system held out",
    "storage-limit-of-nodes-left-out-median": "MLPerf Storage: what nodes carry, configuration held out, median",
    "storage-limit-of-clients-left-out-median": "MLPerf Storage: what clients take, configuration held out, median",
}


@dataclass(frozen=True)
class AccuracyTarget:
    """One measure of accuracy and the range that the calibration must reach."""

    measure: str  # key of MEASURES
    value: float  # a fraction
    low: float  # what is asked for: low <= value <= high
    high: float
    rows: int  # rows that it was measured on

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"no measure of accuracy is called {self.measure!r}")

    @property
    def text(self) -> str:
        """What is measured, in words."""
        return MEASURES[self.measure]

    @property
    def is_reached(self) -> bool:
        """Whether it lies where it must."""
        return self.low <= self.value <= self.high
