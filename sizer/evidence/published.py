"""Published numbers with the runs they belong to, filtered for browsing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.notes import PREDICTED, FitNote, RowStatus, RowUse, note
from sizer.calibrate.observations import Observation, load_observations
from sizer.calibrate.reports import built_in_report
from sizer.calibrate.validate import ValidatedRow, ValidationReport, load_cross_validation
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Source
from sizer.evidence import rows as facts
from sizer.evidence.parity import source_title

NOT_STATED = "not stated"
# Use of a number by the fit: key -> name of the filter.
FITTED, FORETOLD, SET_ASIDE, NOT_PREDICTED = "fitted", "predicted", "excluded", "not predicted"
PARTS = {
    FITTED: "fitted",
    FORETOLD: "predicted, not fitted",
    SET_ASIDE: "excluded from the fit",
    NOT_PREDICTED: "not predicted",
}
# Largest ln(predicted / published) that a percentage can still tell; beyond it e to that power overflows a table.
_MOST_ERROR = math.log(1e6)
# Numbers that the accuracy of the model is based on.
JUDGED = (FITTED, FORETOLD)
INSIDE, OUTSIDE = "inside", "outside"
# Names of benchmarks' files that are no part of the catalogue.
_NAMES = {
    "alibaba-8x-v100": "Alibaba Cloud, 8 × V100",
    "apollo-6500": "HPE Apollo 6500",
    "aws-p3.16xlarge": "AWS p3.16xlarge",
    "aws-p3.2xlarge": "AWS p3.2xlarge",
    "aws-p3dn": "AWS p3dn.24xlarge",
    "c4130": "PowerEdge C4130",
    "dgx-1-p100": "DGX-1 with P100",
    "dgx-station": "DGX Station",
    "gcp-8x-v100": "Google Cloud, 8 × V100",
    "generic-8x-v100-sxm2": "8 × V100 SXM2, maker not stated",
    "m40": "Tesla M40",
    "p100": "P100, board not stated",
    "p40": "Tesla P40",
    "pascal": "Pascal, GPU not stated",
    "v100": "V100, board not stated",
}


@dataclass(frozen=True)
class Published:
    """One published number: the run as its source describes it, and what two kinds of fit say."""

    run: Observation
    seen: ValidatedRow  # as the fit in use predicts it
    unseen: ValidatedRow  # as a fit without its source does; without a prediction where there was no such fit
    dnn: str  # names as a page shows them
    gpu: str
    server: str
    stack: str
    part: str  # key of PARTS

    def row(self, *, is_unseen: bool) -> ValidatedRow:
        """The number beside one of its predictions, named by its run in words."""
        return self.unseen if is_unseen else self.seen


@dataclass(frozen=True)
class Choice:
    """A filter of numbers. An empty field lets everything pass."""

    measure: str = ""  # title of one of evidence_rows.MEASURES
    is_unseen: bool = True  # predicted by fits without the source of the number
    dnns: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()  # keys
    parts: tuple[str, ...] = ()  # keys of PARTS

    def passes(self, one: Published) -> bool:
        """Whether a number passes the filter."""
        pairs = (
            (self.dnns, one.dnn),
            (self.gpus, one.gpu),
            (self.sources, one.run.source),
            (self.parts, one.part),
        )
        return all(not wanted or value in wanted for wanted, value in pairs) and self.measure in (
            "",
            facts.measure(one.run.quantity).title,
        )


@dataclass(frozen=True)
class PublishedEvidence:
    """All published numbers, and the validation report on them."""

    report: ValidationReport
    published: tuple[Published, ...]

    def chosen(self, choice: Choice) -> tuple[Published, ...]:
        """The numbers that a choice asks for, in the order of the files."""
        return tuple(one for one in self.published if choice.passes(one))


def built_in_evidence(catalog: Catalog) -> PublishedEvidence:
    """Everything that the project ships, predicted: takes seconds.

    Raises CalibrationError if observations, calibration and checks do not belong together.
    """
    report = built_in_report(catalog)
    runs = {run.id: run for run in load_observations()}
    left_out = load_cross_validation(stored_calibration()).by_source
    if set(runs) != {row.id for row in report.rows}:
        raise CalibrationError("the report is not about the observations that are read; run 'sizer calibrate'")
    return PublishedEvidence(report, published(report.rows, runs, left_out, catalog))


def published(
    rows: Iterable[ValidatedRow],
    runs: Mapping[str, Observation],
    left_out: Mapping[str, tuple[float, float, float]],
    catalog: Catalog,
) -> tuple[Published, ...]:
    """Predicted rows with their runs.

    ``rows``: as the fit in use predicts them. ``runs``: observation of every row by its id. ``left_out``: id ->
    prediction by a fit without the row's source, and its 90 % interval. ``catalog``: where the names of parts are
    looked up.
    """
    names = {item.id: item.name for _, item in catalog.items()}
    return tuple(_published(row, runs[row.id], left_out.get(row.id), names) for row in rows)


def _published(
    row: ValidatedRow, run: Observation, triple: tuple[float, float, float] | None, names: Mapping[str, str]
) -> Published:
    dnn, gpu, server = (_name(key, names) for key in (run.dnn, run.gpu, run.server))
    stack = run.software or NOT_STATED
    part = _part(row)
    # A chart counts what the fit was meant to describe. Here a reader may ask for the others, too.
    # A run in words: 'ResNet-50, 8 × Tesla V100 SXM2 16 GB, DGX-1, MXNet NGC 19.07'.
    gpus = f"{run.gpus} × {gpu}" if run.gpus and gpu != NOT_STATED else f"{run.gpus} GPUs" if run.gpus else gpu
    words = [word for word in (dnn, gpus, server, stack) if word != NOT_STATED]
    seen = replace(
        row, id=", ".join(words) or facts.task_name(run.task), status=row.status if row.predicted is None else PREDICTED
    )
    only_in_fit = triple is None and row.predicted is not None
    status = RowStatus(RowUse.OUTSIDE, note(FitNote.NO_FIT_WITHOUT_SOURCE)) if only_in_fit else seen.status
    unseen = replace(seen, estimate=None if triple is None else Estimate(*np.array(triple)), status=status)
    return Published(run, seen, unseen, dnn, gpu, server, stack, part)


def _part(row: ValidatedRow) -> str:
    if row.predicted is None:
        return NOT_PREDICTED
    if row.status.use in (RowUse.CALIBRATED, RowUse.CALIBRATED_HOST):
        return FITTED
    return FORETOLD if row.status.use is RowUse.PREDICTED else SET_ASIDE


def _name(key: str, names: Mapping[str, str]) -> str:
    if not key:
        return NOT_STATED
    if key in names:
        return names[key]
    return _NAMES.get(key) or key.replace("-", " ")


def rows_of(publisheds: Sequence[Published], choice: Choice) -> list[ValidatedRow]:
    """The chosen numbers beside the predictions that the choice asks for."""
    return [one.row(is_unseen=choice.is_unseen) for one in publisheds]


def lines(publisheds: Sequence[Published], choice: Choice, sources: Mapping[str, Source]) -> list[dict[str, object]]:
    """The chosen numbers as lines of a table: title of a column -> text, or a number; None where there is none."""
    return [_line(one, one.row(is_unseen=choice.is_unseen), sources) for one in publisheds]


def _line(one: Published, row: ValidatedRow, sources: Mapping[str, Source]) -> dict[str, object]:
    off = row.log_error
    return {
        "Task": facts.task_name(row.task),
        "Quantity": facts.quantity_name(row.quantity),
        "Neural network": one.dnn,
        "GPUs": one.run.gpus,
        "GPU": one.gpu,
        "Server": one.server,
        "Software stack": one.stack,
        "Published": facts.value_text(row.published, row.quantity),
        "Predicted": facts.value_text(row.predicted, row.quantity),
        "Error, %": None if off is None else 100 * math.expm1(min(off, _MOST_ERROR)),
        "90 % interval": {True: INSIDE, False: OUTSIDE, None: "none"}[row.is_covered],
        "In the fit": PARTS[one.part] if row.predicted is not None else facts.reason_text(row.status),
        "Source": source_title(row.source, sources),
        "Place in it": facts.shortened(one.run.where),
    }
