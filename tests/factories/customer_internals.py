"""What no file for a customer may hold besides the secrets of the quote: the way to the answer, what was excluded."""

from sizer import SizingRequest, SizingResult
from sizer.base.quantities import grouped
from sizer.base.resources import data_dir
from sizer.present.text.assumptions import assumption_rows
from tests.factories.customer_secrets import EXAMPLE, QUOTE, RENTAL

# Competitors that the request rules out, by id and by name.
EXCLUDED = {
    "forbidden_servers": {"dgx-2": "DGX-2", "dgx-2h": "DGX-2H", "dss-8440": "DSS 8440", "apollo-6500": "Apollo 6500"},
    "forbidden_storage": {"hnas-4100": "HNAS 4100", "wekaio": "WekaIO", "netapp-a800": "AFF A800"},
}
# Words of the tool: of its search, its fit and its records.
TOOL_WORDS = (
    *("catalog_digest", "calibration_digest", "digest", "n_designs", "ruled_out", "pareto", "Pareto", "gpu_log_sd"),
    *("posterior", "calibrates", "designs evaluated", "inputs are assumptions", "assumptions", "quotes_to_settle"),
    *("forbidden", "Excluded servers", "excluded by the request", "/tmp", "Traceback", "log file", "observations"),
)


def excluding_request() -> SizingRequest:
    """The request with the secret quote, which also names the competitors that it excludes."""
    asked = SizingRequest.from_file(data_dir("examples") / f"{EXAMPLE}.toml").model_dump(exclude_none=True)
    platforms = asked["platforms"] | {key: list(names) for key, names in EXCLUDED.items()}
    more = {"date": "2026-11-21", "quote": QUOTE, "rental": RENTAL, "platforms": platforms}
    return SizingRequest.from_dict({**asked, **more})


def internals(result: SizingResult) -> list[str]:
    """Texts by which a file would show how the answer was found, or what the request excluded."""
    runs = [run for work in result.design.workloads for run in work.evidence]
    return [
        *TOOL_WORDS,
        *(name for names in EXCLUDED.values() for pair in names.items() for name in pair),
        *(result.catalog_digest, result.catalog_digest[:8], result.calibration_digest, result.calibration_digest[:8]),
        *(f"{grouped(result.n_designs)} designs", f"{len(result.assumptions)} assumptions"),
        *(run.id for run in runs),
        *(run.where for run in runs if "/" in run.where),
        *(row.note for row in assumption_rows(result) if len(row.note) > 40),
    ]
