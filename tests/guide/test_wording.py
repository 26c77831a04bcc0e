"""Texts of the guides of whole examples: numbers that their tables print, and no raw names of programs."""

import pytest

from sizer.base.quantities import NARROW_SPACE, duration
from sizer.drawings.datapath import datapath
from sizer.guide.acceptance import table as acceptance
from sizer.guide.acceptance.tests import acceptance_tests
from sizer.guide.chapters import decisions, overview, requirements, storage, summary
from sizer.guide.chapters.risks import next_steps
from sizer.guide.chapters.software import stacks_table
from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.guide.plain_text import answer_text
from sizer.present.citations import Citations
from sizer.present.reference_table import reference_table
from sizer.questions.scale.comparison_text import arrangements_text
from tests.factories.examples import catalog, sized


def _context(name):
    return GuideContext(sized(name), catalog(), Edition("guide"))


@pytest.fixture(scope="module")
def diffusion():
    return _context("stable-diffusion-h200")


@pytest.fixture(scope="module")
def adapters():
    return _context("llama-70b-adapters-b200")


def _texts(table):
    return [cell.text.replace(NARROW_SPACE, " ") for row in table.rows for cell in row.cells]


def test_stored_tensors_keep_their_size_on_the_data_path(diffusion):
    """32,768 values of 4 bytes are 131 kB, on the drives and for the GPUs; no network passes them."""
    drawing = datapath(diffusion.design, diffusion.answers[0], "images/s")
    lines = [label.text.replace(NARROW_SPACE, " ") for label in drawing.labels]
    assert "to 131 kB each" in lines
    assert "local drives" in lines
    assert "into each server" not in lines


def test_nothing_is_said_to_decode_what_is_stored_decoded(diffusion):
    assert not any("DALI" in text for text in _texts(requirements.workload_table(diffusion.answers[0], 1, 1)))
    assert "reads decoded tensors" in _texts(stacks_table(diffusion.design))


def test_a_release_stands_without_the_place_in_its_source(diffusion):
    assert not any(cell.where for row in stacks_table(diffusion.design).rows for cell in row.cells)


def test_each_server_counts_its_own_drives(diffusion):
    rows = {row.cells[0].text: row.cells[1].text for row in summary.numbers_table(diffusion).rows}
    assert rows["Storage"] == "2"


def test_the_chapter_on_data_has_the_capacity_that_requirements_refer_to(diffusion):
    data = storage.content(diffusion)["data"]
    assert data["title"] == "Stored data and ingest"
    assert "800 GB" in _texts(data["requirement"])


def test_a_published_run_names_the_server_and_not_the_submission(diffusion):
    table = reference_table(diffusion.answers[0], diffusion.design, 1)
    assert table is not None
    assert "XE9680L" in _texts(table)
    places = [cell.where for row in table.rows for cell in row.cells]
    assert not any("2xXE" in text for text in [*_texts(table), *places])


def test_an_assumed_limit_says_so_in_words(diffusion):
    basis = [row.cells[-1] for row in acceptance.tests_table(acceptance_tests(diffusion.evaluated)).rows]
    assert any(cell.text.endswith("without decoding; assumed.") for cell in basis)
    assert not any("assumption" in cell.cites for cell in basis)


def test_sources_of_a_guide_name_no_commits_or_patterns_of_files():
    keys = ("mlperf-t5.0",)
    (guide,) = Citations(catalog().sources, keys, are_graded=False).table().rows
    assert guide.cells[1].text.endswith("GitHub mlcommons/training_results_v5.0.")
    (engineer,) = Citations(catalog().sources, keys).table().rows
    assert "commit 0fdc28f01325" in engineer.cells[1].text


def test_expected_costs_name_what_they_rest_on(adapters):
    """No part of one DGX B200 has a published price; its range has two documents."""
    notes = [one.rejected.note for one in decisions.choices(adapters) if one.rejected is not None]
    assert notes[0].startswith("No price of this design is published: expected costs rest on price ranges")
    assert '"Epoch AI hardware prices" and "Vengineer blog"' in notes[0]
    principle = overview.principles_table(adapters).rows[0].cells[1].text
    assert principle.startswith("Lowest expected cost (price ranges, not yet quotes) for a target of")


def test_the_answer_says_where_assumptions_are_listed(adapters):
    result = adapters.result
    text = answer_text(result).replace("\u00a0", " ")
    listed = f"{len(result.assumptions)} assumptions and {len(result.questions)} points for the vendors to confirm"
    assert f"The engineer's file (engineers-file.pdf) lists {listed}" in text


def test_servers_of_one_size_are_not_called_larger_or_smaller():
    context = _context("llama-8b-continued-mi300x")
    same = context.same_gpus
    assert same is not None
    text = arrangements_text(same, same.designs[:2], context.design.storage_nodes)
    assert text.startswith("The same 32 GPUs fit in other servers of 8 GPUs each. All arrangements")
    assert any("measured on an AS-8125GS-TNMR2" in step for step in next_steps(context))


def test_one_of_eight_servers_is_an_eighth():
    """1 / 8 = 12.5 %."""
    (servers, *_) = decisions.choices(_context("llama-405b-gb200-nvl72"))
    assert f"The loss of one server takes 12.5{NARROW_SPACE}% of the GPUs." in servers.trade_off


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.032, "32.0 ms"), (0.0999, "99.9 ms"), (0.1, "0.100 s"), (25, "25.0 s")]
)
def test_short_times_are_in_milliseconds(seconds, text):
    assert duration(seconds).replace(NARROW_SPACE, " ") == text
