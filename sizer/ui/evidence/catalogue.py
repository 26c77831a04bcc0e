"""Page Catalogue: every part with its facts and sources, unknown facts, and cited documents."""

from collections import Counter
from datetime import UTC, datetime
from html import escape

import streamlit as st

from sizer.base.errors import CalibrationError
from sizer.calibrate.observations import load_observations
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.sale import of_generation, orderable_on
from sizer.catalog.schema import Source
from sizer.evidence.catalogue_tables import (
    KINDS,
    Gap,
    cited_sources,
    gaps,
    gaps_table,
    https_address,
    kind_table,
    matches_table,
    matching,
    part_name,
    part_table,
    price_table,
    sources_table,
    uses_of,
)
from sizer.present.tables import Table
from sizer.present.words import SECONDARY, listed, plural
from sizer.sizing.design.assumptions import items_of
from sizer.ui import look, state
from sizer.ui.state import View
from sizer.ui.typed import plain

PARAMETER = "part"
_PARTS, _UNKNOWN, _SOURCES = "Parts", "Unknown facts", "Sources"
_LONGEST_ID = 60
_MAX_RESULTS = 60
_MAX_QUERY = 80
_HEIGHT = 620  # [px]
# Plain keys of the session: the part shown, its kind, the last link that was followed, and a number in the keys of the
# fields, which changes where a link and not the user chooses.
_PART, _KIND, _FOLLOWED, _TURN = "catalogue_part", "catalogue_kind", "catalogue_followed", "catalogue_turn"


def show(view: View) -> None:
    """Draw the page."""
    st.header("Catalogue", anchor=False)
    _follow_link(view.catalog)
    shown = st.segmented_control(
        "Show",
        (_PARTS, _UNKNOWN, _SOURCES),
        default=_PARTS,
        required=True,
        key=_key("view"),
        persist_state="session",
        label_visibility="collapsed",
    )
    if shown == _UNKNOWN:
        _unknown(view)
    elif shown == _SOURCES:
        _sources(view)
    else:
        _parts(view)


def _listed(table: Table, catalog: Catalog) -> None:
    """A long table in a window of its own, so that what follows stays in reach."""
    with st.container(height=_HEIGHT, border=False):
        look.table(table, _told(catalog))


def _told(catalog: Catalog) -> dict[str, Source]:
    """Sources of facts by key; weak ones have their names in the list of sources alone."""
    named = {"title": SECONDARY}
    sources = catalog.sources.items()
    return state.once(
        catalog.digest,
        "told sources",
        lambda: {key: one.model_copy(update=named) if one.is_weak else one for key, one in sources},
    )


def _key(name: str) -> str:
    return f"catalogue-{name}-{st.session_state.get(_TURN, 0)}"


def _follow_link(catalog: Catalog) -> None:
    """Show the part that the address names, once; the address follows the choice from then on."""
    named = st.query_params.get(PARAMETER, "")
    if not named or named == st.session_state.get(_FOLLOWED):
        return
    st.session_state[_FOLLOWED] = named
    try:
        if len(named) > _LONGEST_ID:
            raise KeyError(named)
        kind = catalog.category_of(named)
    except KeyError:
        st.warning(
            f"The part in the link is not in the catalogue: {plain(named[:_LONGEST_ID])}. Choose one below.",
            icon=":material/link_off:",
        )
        return
    st.session_state[_PART], st.session_state[_KIND] = named, kind
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1


def _parts(view: View) -> None:
    catalog = view.catalog
    left, right = st.columns(2)
    kinds = list(KINDS)
    kind = left.selectbox(
        "Kind of part",
        kinds,
        kinds.index(st.session_state.get(_KIND, "gpus")),
        key=_key("kind"),
        format_func=lambda folder: f"{KINDS[folder]} ({len(catalog.folder(folder))})",
        persist_state="session",
    )
    st.session_state[_KIND] = kind
    text = right.text_input(
        "Search all parts",
        max_chars=_MAX_QUERY,
        placeholder="Name, vendor or part number",
        key=_key("search"),
        persist_state="session",
    )
    if text.strip():
        items = matching(catalog, text)
        look.note(f"{len(items)} of {plural(len(list(catalog.items())), 'part')} match.")
        if not items:
            st.info("No part matches all words in name, vendor, description or part number. Remove a word.")
            return
        _listed(matches_table(items[:_MAX_RESULTS], catalog), catalog)
    else:
        items = _filtered(list(catalog.folder(kind).values()), kind, catalog)
        if not items:
            st.info("No part of this kind passes the filters. Choose another generation or all parts.")
            return
        ids = tuple(item.id for item in items)
        table = state.once(catalog.digest, "parts", lambda: kind_table(kind, catalog, items), kind, ids)
        _listed(table, catalog)
    chosen = _chosen(items, catalog)
    if chosen is not None:
        _part(chosen, view)


def _filtered(items: list[Item], kind: str, catalog: Catalog) -> list[Item]:
    """Parts by generation and by whether they can be ordered today."""
    left, right = st.columns(2)
    if kind in ("gpus", "servers"):
        generation = left.selectbox(
            "Generation",
            ("", *catalog.generations),
            key=_key(f"generation-{kind}"),
            format_func=lambda name: catalog.generations[name].name if name else "All generations",
        )
        if generation:
            items = of_generation(items, generation, dict(catalog.gpus))
    only_sold = right.checkbox(
        "Orderable today",
        key=_key("orderable"),
        help="Leaves out parts whose end of sale has passed and parts that come inside others. A GPU without a "
        "published end has that of its generation; where nothing tells it, the part stays.",
    )
    return orderable_on(catalog, items, datetime.now(UTC).date()) if only_sold else items


def _chosen(items: list[Item], catalog: Catalog) -> Item | None:
    """The part shown in detail, which the address names from now on; of several none before one is chosen."""
    ids = [item.id for item in items]
    start = st.session_state.get(_PART)
    names = {item.id: part_name(item, catalog) for item in items}
    # Each list has its own selection.
    chosen: str | None = st.selectbox(
        "Part details",
        ids,
        ids.index(start) if start in ids else 0 if len(ids) == 1 else None,
        format_func=names.__getitem__,
        key=_key(f"part-of-{ids[0]}-{len(ids)}"),
        placeholder="Choose a part",
    )
    if chosen is None:
        return None
    st.session_state[_PART] = st.session_state[_FOLLOWED] = chosen
    if st.query_params.get(PARAMETER) != chosen:
        st.query_params[PARAMETER] = chosen
    return catalog.item(chosen)


def _part(item: Item, view: View) -> None:
    catalog = view.catalog
    st.subheader(plain(part_name(item, catalog)), anchor=False)
    uses = [] if view.sized is None else uses_of(item.id, view.result.design)
    look.note(f"In the present design: {listed(uses)}." if uses else "Not used in the present design.")
    gap = next((one for one in _gaps(view) if one.item.id == item.id), None)
    if gap is not None and gap.missing:
        st.markdown(f"**Not published:** {plain('; '.join(gap.missing))}")
    if gap is not None and gap.assumed:
        st.markdown(f"**Assumed, as no source states it:** {plain('; '.join(gap.assumed))}")
    look.table(part_table(item, catalog), _told(catalog))
    if prices := price_table(item.id, catalog, shows_own=not view.is_customer_mode):
        st.subheader("Prices", anchor=False)
        look.table(prices, catalog.sources)
    sources = cited_sources(item, catalog)
    if sources:
        st.subheader("Documents", anchor=False)
        named = [_document(source) for source in sources if not source.is_weak]
        weak = [] if len(named) == len(sources) else [f"<li>{SECONDARY.capitalize()}: see the list of sources.</li>"]
        st.html(f'<ul class="sz-note">{"".join([*named, *weak])}</ul>')


def _document(source: Source) -> str:
    """A document as an entry of a list; its title is a link only where its place is an address for a browser.

    Markdown would make a link of every word that looks like an address.
    """
    title, address = escape(source.title), https_address(source)
    if address:
        title = f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">{title}</a>'
    facts = [source.publisher, source.date or "not dated", f"grade {source.grade}", source.where]
    return f"<li>{title}: {escape(', '.join(fact for fact in facts if fact))}</li>"


def _gaps(view: View) -> list[Gap]:
    counts_own = not view.is_customer_mode
    return state.once(view.catalog.digest, "gaps", lambda: gaps(view.catalog, counts_own_prices=counts_own), counts_own)


def _unknown(view: View) -> None:
    catalog, found = view.catalog, _gaps(view)
    look.note(
        "Facts that no source states, and values that the catalogue assumes instead. Confirm them with the vendors. "
        "The engineer's file lists every assumed value of a design."
    )
    present = {gap.kind for gap in found}
    kinds = st.multiselect(
        "Kind of part",
        [kind for kind in KINDS if kind in present],
        format_func=KINDS.__getitem__,
        placeholder="Any",
        key=_key("unknown-kinds"),
        persist_state="session",
    )
    used = None
    if view.sized is not None and st.toggle(
        "Only parts of the present design", key=_key("unknown-used"), persist_state="session"
    ):
        used = {item.id for item in items_of(view.result.design, catalog)}
    table = gaps_table([gap for gap in found if not kinds or gap.kind in kinds], catalog, used)
    if table.rows:
        look.note(f"{plural(len(table.rows), 'part')} with unknown facts.")
        _listed(table, catalog)
    else:
        st.info("No unknown facts of this kind. Choose other kinds.")


def _sources(view: View) -> None:
    text = st.text_input(
        "Search documents",
        max_chars=_MAX_QUERY,
        placeholder="Title, publisher or place",
        key=_key("source-search"),
        persist_state="session",
    )
    table = sources_table(view.catalog, _measurements(), text, with_weak=not view.is_customer_mode)
    if table.rows:
        look.note(
            f"{plural(len(table.rows), 'document')}. Grades: A vendors, standards and papers; B operators and curated "
            "collections; C press and community; D weak or assumed. Higher grades take precedence."
        )
        _listed(table, view.catalog)
    else:
        st.info("No document matches all words in title, publisher or place. Remove a word.")


@st.cache_resource(show_spinner=False)
def _measurements() -> Counter[str]:
    """Published values by the key of their source; none where the observations cannot be read, as Evidence reports."""
    try:
        return Counter(row.source for row in load_observations())
    except CalibrationError:
        return Counter()
