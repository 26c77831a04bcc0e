"""Speaker notes: the reasons behind a slide, and the documents that its figures come from."""

from collections.abc import Iterable, Iterator

from sizer.base.provenance import ASSUMPTION
from sizer.guide.context import GuideContext
from sizer.present import words

# Documents named on one slide at most; the guide lists them all.
_MOST = 8


def notes(context: GuideContext, reasons: Iterable[str], sources: Iterable[str] = ()) -> tuple[str, ...]:
    """Reasons, then the documents by title, publisher and date. ``sources`` are keys of the catalogue."""
    return (*filter(None, reasons), *_documents(context, sources))


def _documents(context: GuideContext, keys: Iterable[str]) -> Iterator[str]:
    known = context.catalog.sources
    named = dict.fromkeys(known[key].id for key in keys if key in known and key != ASSUMPTION)
    if not named:
        return
    yield "Sources of the figures:"
    for key in list(named)[:_MOST]:
        source = known[key]
        parts = (source.title.rstrip("."), source.publisher.rstrip("."), source.date)
        yield words.sentence(", ".join(part for part in parts if part))
    if len(named) > _MOST:
        yield f"{words.capital(words.spelled(len(named) - _MOST))} more are in the list of sources of the guide."
