"""Texts of the guides of whole examples: numbers that their tables print, and no raw names of programs."""

import pytest

from sizer.base.quantities import NARROW_SPACE, duration
from sizer.drawings.datapath import datapath
from sizer.drawings.workflow import workflow
from sizer.guide.acceptance import table as acceptance
from sizer.guide.acceptance.tests import acceptance_tests
from sizer.guide.chapters import decisions, overview, requirements, storage, summary
from sizer.guide.chapters.risks import next_steps
from sizer.guide.chapters.software import releases_text, stacks_table
from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.guide.plain_text import answer_text
from sizer.present.citations import Citations
from sizer.present.reference_table import reference_table
from sizer.present.storage_streams import streams_table
from sizer.questions.failures.case_text import effect_text
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
    # Eight drives of 7.68 TB in each server are 61.44 TB.
    assert rows["Storage"].replace(NARROW_SPACE, " ") == "61.4 TB usable in each server"


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


def test_releases_are_those_of_runs_on_the_gpus_and_not_of_the_rates(adapters):
    """No published run combines model, GPU, number format and stack, so the rates rest on none of these runs."""
    text = releases_text(adapters.design, catalog())
    assert text.startswith("Of the published MLPerf runs on Blackwell GPUs, the fastest used ")


def test_a_run_that_writes_one_checkpoint_writes_it_once_in_its_time(adapters):
    """79.4 minutes are 4,764 s. One checkpoint of 9.66 GB: 2.03 MB/s on average, 300 s of them 6.3 % of the time."""
    rows = {row.cells[0].text: row.cells for row in streams_table(adapters.design, adapters.result.request).rows}
    cells = [cell.text.replace(NARROW_SPACE, " ") for cell in rows["Checkpoints, written"]]
    assert cells[2:] == ["6.3 %", "2.03 MB/s"]


def test_a_server_with_its_own_operating_system_needs_no_other(adapters):
    items = [line.item for line in adapters.design.bill.lines]
    assert "dgx-os" in items
    assert "ubuntu-server" not in items


def test_tokens_end_a_training_and_an_accuracy_another(adapters, diffusion):
    assert "again, until all tokens are read" in [label.text for label in workflow(adapters.design).labels]
    assert "again, until the accuracy is reached" in [label.text for label in workflow(diffusion.design).labels]


def test_jobs_restart_from_checkpoints_where_they_are_known_to_write_them(diffusion):
    (server,) = (case for case in diffusion.failures if case.key == "server")
    assert effect_text(server) == (
        "Jobs restart on 1\xa0server, from their last checkpoint if they write any; the work since then is lost."
    )


def test_an_accepted_rate_holds_with_interruptions():
    """1e12 tokens in 30 d are 385,802/s over all; with a goodput of 99.1 % a run has to reach 389,000/s."""
    (test,) = (one for one in acceptance_tests(_context("llama-70b-dgx-h100").evaluated) if one.key == "cluster-warm")
    assert test.passes.replace(NARROW_SPACE, " ") == "at least 389 000 tokens/s"


def test_a_length_that_is_assumed_is_counted_in_tokens():
    context = _context("superpod-h100-su")
    rows = {row.cells[0].text: row.cells[2].text for row in storage.content(context)["data"]["requirement"].rows}
    assert rows["1.00 trillion tokens (assumed)"].replace(NARROW_SPACE, " ") == "4.00 B a token"
    # The layout has work for 240 of the 248 GPUs.
    assert "the same 240 of 248 GPUs" in workflow(context.design).title.replace(NARROW_SPACE, " ")


def test_other_devices_are_counted_by_what_they_are():
    tests = {one.key: one for one in acceptance_tests(_context("superpod-h100-su").evaluated)}
    counted = tests["inventory"].expect.replace("\xa0", " ")
    assert "2 fabric managers, 2 storage fabric managers, 22 switches" in counted


def test_ports_are_compared_with_the_programs_of_their_links():
    ethernet = {one.key: one for one in acceptance_tests(_context("llama-8b-continued-mi300x").evaluated)}
    assert "(ethtool, LLDP)" in ethernet["links"].run
    mixed = {one.key: one for one in acceptance_tests(_context("superpod-h100-su").evaluated)}
    assert "(ibstat, iblinkinfo, ethtool, LLDP)" in mixed["links"].run


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
