"""Validation as JSON, and a fit as text."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.validate import Summary, ValidatedRow, ValidationReport, summaries
from sizer.present.text.calibration import note_text, note_texts, status_text

# Measure of accuracy -> what it is in words. Errors are |ln(predicted / published)|.
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
    "serving-half-width-after-one-measurement": "serving, tokens/s, half width near one measurement, held out",
    "serving-coverage-after-one-measurement": "serving, tokens/s, share inside the interval, the same",
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
}
# An effect whose spread the data narrowed by less than this share of its prior has learnt nothing.
_NOT_NARROWED = 0.01


def status_summaries(report: ValidationReport) -> tuple[Summary, ...]:
    """Accuracy by what a row is to the calibration, with the reason of those excluded or not predicted."""
    return summaries(list(report.rows), lambda row: status_text(row.status), only_meant=False)


def calibration_text(calibration: Calibration) -> str:
    """A fit in a few lines: its observations, spreads and exclusions."""
    c = calibration
    not_narrowed = [name for name, share in c.narrowed_fraction().items() if share < _NOT_NARROWED]
    examples = f", such as {', '.join(not_narrowed[:3])}" if not_narrowed else ""
    counts = Counter(note_text(reason) for reason in c.excluded.values())
    return "\n".join(
        [
            f"{len(c.used | c.host_used)} observations fitted with {len(c.names)} effects, {len(c.excluded)} excluded; "
            f"observations {c.digest}",
            f"scatter between sources {math.sqrt(c.tau2):.1%}, within a source: "
            + ", ".join(f"{kind} {sd:.1%}" for kind, sd in c.scatter_log_sd.items()),
            *(
                f"{task}: median error of a rate with its source held out {unseen['median_error']:.1%}"
                for task, unseen in c.unseen_sources.items()
            ),
            f"effects that the data do not narrow: {len(not_narrowed)}{examples}",
            *(f"excluded, {count}: {reason}" for reason, count in counts.most_common()),
        ]
    )


def validation_document(report: ValidationReport) -> dict[str, Any]:
    """Every published measurement with its prediction, and the accuracy of each group of them."""
    return json_document(
        "validation",
        rows=_rows(report.rows),
        summary=fields_of(
            report,
            *("by_task", "by_quantity", "by_source", "total"),
            by_status=status_summaries(report),
            figures=[
                fields_of(target, *vars(target), "is_reached", name=MEASURES[target.measure])
                for target in report.figures
            ],
            generations=report.generations,
        ),
        source_left_out=_rows(report.unseen),
    )


def calibration_document(calibration: Calibration, n_rows: int) -> dict[str, Any]:
    """A new calibration fitted to ``n_rows`` observations."""
    return json_document(
        "calibration",
        **fields_of(calibration, "digest", "unseen_sources"),
        left_out={name: note_text(reason) for name, reason in calibration.excluded.items()},
        rows=n_rows,
        effects=len(calibration.names),
    )


def _rows(rows: Sequence[ValidatedRow]) -> list[dict[str, object]]:
    return [
        fields_of(
            row,
            *("id", "task", "quantity", "source", "published", "predicted", "low", "high", "log_error"),
            status=status_text(row.status),
            notes=note_texts(row.notes),
        )
        for row in rows
    ]
