"""Observations of all-reduce bandwidth as a block of the joint fit: they tell the links apart from the frameworks."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.cases import is_known_link, link_level, observed_link_bytes_per_s
from sizer.calibrate.engine import Effect
from sizer.calibrate.fit.joint import FitBlock
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import INTRA_LINKS, Observation
from sizer.calibrate.rules import exclusion_of
from sizer.catalog.links import LinkType
from sizer.perf.exchange import (
    bus_bytes_per_s,
    hierarchical_allreduce_time_s,
    ring_allreduce_time_s,
    tree_allreduce_time_s,
)
from sizer.perf.step_terms import INTER, INTRA, TERM_NAMES
from sizer.perf.training_step import INTER_HOP_S, INTRA_HOP_S

# Below this size latency sets the time of an all-reduce, and tuning constants of the library stand for it.
MIN_MESSAGE_BYTES = 16e6
# Size of a plateau that a source prints without the message: far beyond latency.
_PLATEAU_BYTES = 1e9
_QUANTITIES = ("bus_bytes_per_s", "algorithm_bytes_per_s", "all_reduce_time_s")


@dataclass(frozen=True)
class AllReduce:
    """One measured all-reduce. Counts [-], sizes [B], rates [B/s]."""

    row: Observation
    message_bytes: float
    n_gpus_per_server: int
    n_servers: int
    intra_link: str
    inter_link: str
    line_bytes_per_s: float  # all NICs of one server; 1 on one server

    def effects(self) -> tuple[Effect, ...]:
        """Parameters that its rate depends on."""
        found: list[Effect] = []
        if self.n_gpus_per_server > 1:
            found.append((INTRA, f"intra:{self.intra_link}", 1.0))
        if self.n_servers > 1:
            found += [
                (INTER, f"inter:{self.inter_link.partition('/')[2]}", 1.0),
                (INTER, f"inter-link:{self.inter_link}", 1.0),
                (INTER, f"inter-site:{self.row.source}", 1.0),
            ]
        return tuple(found)

    def time_s(self, terms: Floats) -> tuple[float, Floats]:
        """Time of the hierarchical all-reduce, and derivatives of its logarithm by the terms. [s]"""
        intra, inter = float(np.exp(terms[INTRA])), self.line_bytes_per_s * float(np.exp(terms[INTER]))
        total = float(
            hierarchical_allreduce_time_s(
                self.message_bytes, self.n_gpus_per_server, self.n_servers, intra, inter, INTRA_HOP_S, INTER_HOP_S
            )
        )
        slopes = np.zeros(len(terms))
        slopes[INTRA] = -float(ring_allreduce_time_s(self.message_bytes, self.n_gpus_per_server, intra)) / total
        slopes[INTER] = -float(tree_allreduce_time_s(self.message_bytes, self.n_servers, inter)) / total
        return total, slopes

    def log_prediction(self, terms: Floats) -> tuple[float, Floats]:
        """Logarithm of the printed quantity, and its derivatives by the terms."""
        time_s, slopes = self.time_s(terms)
        if self.row.quantity == "all_reduce_time_s":
            return float(np.log(time_s)), slopes
        if self.row.quantity == "algorithm_bytes_per_s":
            return float(np.log(self.message_bytes / time_s)), -slopes
        n_ranks = self.n_gpus_per_server * self.n_servers
        return float(np.log(bus_bytes_per_s(self.message_bytes, n_ranks, time_s))), -slopes


def resolve_all_reduce(row: Observation, links: Mapping[str, LinkType]) -> AllReduce | CalibrationNote:
    """What a row measured, or the reason why it cannot be told."""
    if row.quantity not in _QUANTITIES:
        return note(FitNote.QUANTITY_NOT_MODELLED, row.quantity)
    message = row.extra.get("message_bytes", _PLATEAU_BYTES)
    if isinstance(message, bool) or not isinstance(message, int | float) or not 1 <= message <= 1e13:
        return note(FitNote.MESSAGE_NOT_BYTES)
    if not row.gpus or not row.servers or row.gpus < 2:
        return note(FitNote.COUNTS_NOT_STATED)
    if row.gpus % row.servers:
        return note(FitNote.UNEVEN_GPUS, row.gpus, row.servers)
    if row.servers > 1 and not row.inter_link:
        return note(FitNote.INTER_LINK_NOT_STATED)
    if row.servers > 1 and not is_known_link(row.inter_link, links):
        return note(FitNote.INTER_LINK_UNKNOWN, row.inter_link)
    intra_link = row.intra_link if row.intra_link in INTRA_LINKS else ""
    if row.gpus > row.servers and not intra_link:
        return note(FitNote.INTRA_LINK_UNKNOWN)
    link, line = "", 1.0
    if row.servers > 1:
        link = link_level(row.inter_link)
        line = observed_link_bytes_per_s(row.inter_link, links) * (row.nics_per_server or 1)
    return AllReduce(row, float(message), row.gpus // row.servers, row.servers, intra_link, link, line)


def usable_all_reduces(
    rows: tuple[Observation, ...], links: Mapping[str, LinkType]
) -> tuple[tuple[AllReduce, ...], dict[str, CalibrationNote]]:
    """Bandwidths that the fit uses, and the reason for every one that it excludes."""
    measured: list[AllReduce] = []
    excluded: dict[str, CalibrationNote] = {}
    for row in rows:
        if row.quantity not in _QUANTITIES or row.task != "network":
            continue
        one = resolve_all_reduce(row, links)
        if isinstance(one, CalibrationNote):
            excluded[row.id] = one
        elif (reason := exclusion_of(row)) is not None:
            excluded[row.id] = reason
        elif one.message_bytes < MIN_MESSAGE_BYTES:
            excluded[row.id] = note(FitNote.SMALL_MESSAGE)
        else:
            measured.append(one)
    return tuple(measured), excluded


def network_block(measured: tuple[AllReduce, ...]) -> FitBlock:
    """Logarithm of every printed bandwidth or time."""

    def law(terms: Floats) -> tuple[Floats, Floats]:
        found = [one.log_prediction(row) for one, row in zip(measured, terms, strict=True)]
        values, slopes = zip(*found, strict=True)
        return np.array(values), np.array(slopes)

    return FitBlock(
        effects=[one.effects() for one in measured],
        law=law,
        measured=np.log([one.row.value for one in measured]),
        n_terms=len(TERM_NAMES),
        sigma=np.nan,
        kind="network",
        ids=tuple(one.row.id for one in measured),
        sources=tuple(one.row.source for one in measured),
    )
