"""Ids for rows that name software and parts in free words, with what was assumed when they were chosen."""

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sizer.base.errors import CalibrationError
from sizer.base.formats.csv_records import csv_records
from sizer.calibrate.free_wording.parts import (
    suggest_dnn,
    suggest_gpu,
    suggest_intra_link,
    suggest_link,
    suggest_server,
)
from sizer.calibrate.free_wording.stacks import suggest_stack
from sizer.calibrate.observations import COLUMNS, ID_COLUMNS, Observation, observation_texts, read_rows
from sizer.catalog.model import Catalog

# Columns whose words become ids or known kinds once they are read.
_REWRITTEN = ("dnn", "gpu", "intra_link", "inter_link")


def with_ids(rows: Iterable[Observation], catalog: Catalog) -> tuple[Observation, ...]:
    """The rows, those without ids with the ones that their wording means.

    A name that means nothing known stays as it is; the prediction then says what is not known. ``assumed`` tells
    what the wording left open and how it was taken.
    """
    return tuple(row if row.has_ids else _suggested(row, catalog) for row in rows)


def files_with_ids(paths: Iterable[Path], catalog: Catalog) -> dict[str, bytes]:
    """Content of observation files with their id columns filled, by name.

    Raises
    ------
    CalibrationError
        As :func:`~sizer.calibrate.observations.load_observations`, and if two files have one name.
    """
    texts: dict[str, str] = {}
    for path in paths:
        found = observation_texts(path)
        twice = sorted(found.keys() & texts.keys())
        if twice:
            raise CalibrationError(f"{twice[0]}: two files have this name; write their copies one after the other")
        texts |= found
    return {name: _filled(text, name, catalog).encode() for name, text in texts.items()}


def _filled(text: str, place: str, catalog: Catalog) -> str:
    rows = with_ids(read_rows(text, place), catalog)
    out = io.StringIO()
    writer = csv.DictWriter(out, (*COLUMNS, *ID_COLUMNS), lineterminator="\n")
    writer.writeheader()
    head, *records = (record for record in csv_records(text) if not record.is_blank)
    for record, row in zip(records, rows, strict=True):
        writer.writerow(
            record.by_column(head.cells) | {name: getattr(row, name) for name in (*_REWRITTEN, *ID_COLUMNS)}
        )
    return out.getvalue()


def _suggested(row: Observation, catalog: Catalog) -> Observation:
    dnn, dnn_note = suggest_dnn(catalog, row.dnn) or (row.dnn, "")
    gpu, gpu_note = suggest_gpu(catalog, row) or ("", "")
    inter, inter_note = suggest_link(row.inter_link, catalog) or (row.inter_link, "")
    stack, stack_note = suggest_stack(catalog, row) or ("", "")
    server = suggest_server(catalog, row)
    # A GPU that is fully named is one of the catalogue; a partly named one keeps its words, which widen the interval.
    is_whole = bool(gpu) and not gpu_note
    return replace(
        row,
        dnn=dnn,
        gpu=gpu if is_whole else row.gpu,
        intra_link=suggest_intra_link(row.intra_link) or row.intra_link,
        inter_link=inter,
        stack=stack,
        gpu_id="" if is_whole else gpu,
        server_id=server if server and server != row.server else "",
        assumed=" ".join(note for note in (dnn_note, gpu_note, stack_note, inter_note) if note),
        has_ids=True,
    )
