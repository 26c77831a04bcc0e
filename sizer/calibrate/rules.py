"""Which observations belong to the fit, and how incomplete ones are read, by ``catalog/benchmarks/rules.toml``."""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sizer.calibrate.notes import CalibrationNote, FitNote
from sizer.calibrate.observations import Observation, stated_table


def rules(name: str) -> Any:
    """One table of the rules."""
    return stated_table("rules.toml")[name]


def covers(rule: Mapping[str, Any], row: Observation) -> bool:
    """Whether a rule speaks of a row; what it does not state matches anything."""
    columns = {"sources": row.source, "dnns": row.dnn, "gpus": row.gpu, "precisions": row.precision}
    return (
        _is_among(row.id, rule.get("ids", ("*",)))
        and all(value in rule.get(name, (value,)) for name, value in columns.items())
        and rule.get("software_has", "") in row.software
        and row.gpus == rule.get("n_gpus", row.gpus)
    )


def _is_among(id_: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(id_, pattern) for pattern in patterns)


# Rates that a fact of the catalogue is derived from, so that they test nothing: the read rate of the Apollo's drives is
# 17,000 images/s x 150,528 B.
CATALOGUE_DERIVES_FROM = frozenset({"weka2018-googlenet-nvme-8g"})


def stated_of(row: Observation) -> str:
    """Id of the row whose rate a stated rate is a share of; empty for a printed rate."""
    main, at, _ = row.id.partition("@")
    return main if at and any(stated["id"] == main for stated in rules("stated_linear")) else ""


def stated_rows(rows: tuple[Observation, ...]) -> tuple[Observation, ...]:
    """Rates that sources state in words: the share of the servers in the rate of the largest run."""
    by_id = {row.id: row for row in rows}
    found = []
    for stated in rules("stated_linear"):
        row = by_id.get(stated["id"])
        if row is not None and row.servers and row.gpus:
            share = stated["servers"] / row.servers
            gpus = round(row.gpus * share)
            found.append(
                replace(
                    row,
                    id=f"{row.id}@{gpus}gpus",
                    servers=stated["servers"],
                    gpus=gpus,
                    value=row.value * share,
                    basis="derived",
                    where=stated["where"],
                )
            )
    return tuple(found)


def speedup_base(row: Observation) -> str | None:
    """``gpu`` or ``server``: one of which a speed-up is over; None where the row does not describe it."""
    if row.gpus is None or row.gpus < 2:
        return None
    if _is_among(row.id, rules("speedup")["over_one_gpu"]):
        return "gpu"
    said = row.notes.lower()
    return next((base for words, base in rules("speedup")["words"].items() if words in said), None)


# Batches of these DNNs are printed in tokens while their samples are sentence pairs; the catalogue's mean length.
TOKENS_PER_SAMPLE = {"transformer-big": 27.0}

# Words of the observations for a GPU whose board they do not state: levels of their own in the fit.
UNSTATED_BOARDS = ("v100", "p100", "pascal")

# Link between the GPUs of a server where a source does not state it, by the part that stands for the GPU.
USUAL_INTRA_LINK = {"sxm2": {"v100": "nvlink2", "p100": "nvlink1"}, "sxm3": {"v100": "nvswitch"}, "pcie": {}}


def exclusion_of(row: Observation) -> CalibrationNote | None:
    """Why the fit of rates excludes a row; None where it belongs."""
    return next((CalibrationNote(FitNote(rule["reason"])) for rule in rules("excluded") if covers(rule, row)), None)


def precision_of(row: Observation) -> str:
    """Precision as stated, or as a rule reads it; empty where neither knows."""
    return row.precision or next((str(rule["is"]) for rule in rules("precision") if covers(rule, row)), "")


def batch_of(row: Observation, precision: str) -> float:
    """Batch per GPU as stated, or the typical one."""
    if row.batch_per_gpu is not None:
        return row.batch_per_gpu / TOKENS_PER_SAMPLE.get(row.dnn, 1.0)
    typical = rules("typical_batch")
    return float(typical.get(row.dnn, typical["other"])[precision])


def usual_intra_link(gpu: str, form_factor: str) -> str:
    """Link between GPUs that a part of this form factor usually has."""
    family = "p100" if gpu.startswith("p100") else "v100"
    return USUAL_INTRA_LINK.get(form_factor, {}).get(family, "pcie3")
