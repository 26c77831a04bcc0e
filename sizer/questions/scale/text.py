"""The same GPUs in fewer or in more servers, as text for a terminal."""

from collections.abc import Iterator

from sizer.catalog.model import Catalog
from sizer.present.plain_table import table_text
from sizer.present.words import plural
from sizer.questions.scale.analysis import Key, Pair, SameGpus, UpOrOut
from sizer.questions.scale.comparison_text import difference, storage_words
from sizer.questions.scale.tables import (
    kept_table,
    left_out_table,
    per_gpu_table,
    rates_table,
    steps_table,
    things_table,
)
from sizer.sizing.result import SizingResult

NOTHING = "The catalogue no longer holds the parts of this design, so nothing can be set beside it."


def up_or_out_text(found: UpOrOut, result: SizingResult, catalog: Catalog, key: Key = "listed") -> str:
    """Tables and sentences of every number of GPUs.

    Parameters
    ----------
    found : UpOrOut
    result : SizingResult
        That was compared.
    catalog : Catalog
    key : {"listed", "rate", "rack-units", "watts", "ports"}
        Order of the rows; every row stays set against the first one as it is listed.
    """
    if not found.comparisons:
        return NOTHING
    parts = [part for same in found.comparisons for part in _parts(same, result, catalog, key)]
    if found.kept:
        parts += [table_text(kept_table(found.kept, number)) for number in range(len(result.design.workloads))]
    return "\n\n".join(parts)


def _parts(same: SameGpus, result: SizingResult, catalog: Catalog, key: Key) -> Iterator[str]:
    title = f"{plural(same.n_gpus, 'GPU')}: scale up or scale out"
    yield f"{title}\n{'=' * len(title)}\n{storage_words(same, result.design.storage_nodes)}"
    ways, works = same.ordered(key), result.design.workloads
    for number, answer in enumerate(works):
        if len(works) > 1:
            yield f"{answer.workload.name}:"
        for table in (rates_table(ways, number, first=same.first), steps_table(ways, number, first=same.first)):
            if table is not None:
                yield table_text(table)
    for table in (things_table(ways, catalog, first=same.first), per_gpu_table(ways, first=same.first)):
        yield table_text(table)
    pairs = [Pair(same.first, way) for way in ways if way is not same.first]
    yield "\n".join(f"- {difference(pair)}" for pair in (*pairs, *same.forms))
    left = left_out_table(same.left_out)
    if left is not None:
        yield table_text(left)
