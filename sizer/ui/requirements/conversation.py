"""The need in words: the field, examples and saved designs, what was read as chips, and what is missing as buttons."""

import zlib
from collections.abc import Sequence

import streamlit as st

from sizer.base.errors import SizerError
from sizer.catalog.model import Catalog
from sizer.ui import need, state
from sizer.ui.designs import saving
from sizer.ui.fields import unless_replaced
from sizer.ui.typed import plain
from sizer.workload.sentence.reader import MAX_CHARACTERS
from sizer.workload.sentence.reading import Answer, Question, Reading
from sizer.workload.sentence.text import Phrase

LABEL = "Describe the need"
NAME = "GPU cluster configurator"
_PURPOSE = "What to buy for training, fine-tuning and serving, with price, probability and the guide to hand over."
# Needs of today, each a sentence that can be edited.
TEMPLATES = {
    "Fine-tune a language model": "Fine-tune Llama 3 70B with LoRA on 500 million tokens overnight on H200",
    "Serve 70B to 300 users": "Serve Llama 3.3 70B to 300 users for chat",
    "Pre-train a language model": "Pre-train Llama 3 8B on 1 trillion tokens in 30 days on H100 with NDR InfiniBand",
    "Vision on 200 TB": "Train RetinaNet on 200 TB of images of 500 kB at 8,000 images/s on H200, all-flash",
    "We have two DGX H100": "We have two DGX H100; fine-tune Llama 3 70B with LoRA on 1 billion tokens within 3 days",
    # AbdomenAtlas 1.1 (arXiv:2501.11253): 9,262 volumes, here of the mean size of KiTS19's, 147 MB.
    "Medical imaging": "Train 3D U-Net on 1.4 TB of CT scans, 16 H200",
    "One NVL72 rack": "Train Llama 3 70B on one NVL72",
    "What for this budget?": "What can we get for 2 million USD to fine-tune Llama 3 8B?",
}
_RECENT = 4  # saved designs that the first page offers
_MOST_BUTTONS = 14  # answers that are in sight; the others are one click away


def show(parts: Catalog) -> None:
    """Draw the field and what follows from it."""
    with st.container(key="need", gap="small"):
        st.markdown(f"**{NAME}** :gray[{plain(_PURPOSE)}]")
        key = f"need/{st.session_state.generation}/{zlib.crc32(need.text().encode())}"  # another text is another field
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            words = st.text_area(
                LABEL,
                need.text(),
                key=key,
                height="content",
                max_chars=MAX_CHARACTERS,
                placeholder=TEMPLATES["Fine-tune a language model"],
                help="As in an e-mail: neural network, data, and a target such as a rate, a time to train or a number "
                "of GPUs. Optional: people, budget, power, racks, servers, storage, vendors, network fabric. It "
                "replaces the request; Undo restores it.",
            )
            # Leaving the field is what gives the need; the button is where to click then.
            st.button(
                "Size it",
                key="size-it",
                icon=":material/arrow_forward:",
                type="primary",
                help="Read the need and size the cluster.",
            )
        # What the field holds, not the call of a change: Streamlit may miss the first one of a new session.
        if words.strip() != need.text():
            need.give(words, parts)
            st.rerun()
        reading = need.reading(parts)
        if reading is None:
            if earlier := need.before_changes():
                st.caption(f"Read, and changed in the fields since; Undo restores it: {plain(earlier)}")
            _templates(parts)
            if not state.is_customer_mode():
                _recent()
            return
        with st.container(horizontal=True, gap="xsmall", key="chips"):
            for number, phrase in enumerate(reading.phrases):
                about, _, meaning = phrase.meaning.partition(": ")
                if phrase.words:
                    _chip(number, phrase, reading, parts)
                elif not any(about in chip.words and chip.meaning == meaning for chip in reading.phrases):
                    st.markdown(f":gray-badge[{plain(phrase.meaning)}]", width="content")
            with st.popover("Examples", key=f"examples-{st.session_state.generation}", on_change="rerun") as others:
                if others.open:
                    _templates(parts)
        # Until the network is known, numbers of its data have no place yet.
        if reading.unread and (reading.question is None or reading.question.about != "network"):
            st.caption(f":orange[:material/help:] Not understood: {plain(', '.join(reading.unread))}.")
        if reading.question is not None:
            _question(reading.question, parts)


def _templates(parts: Catalog) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="templates"):
        st.caption("Examples", width="content")
        for name, words in TEMPLATES.items():
            st.button(name, key=f"template-{name}", on_click=need.give, args=(words, parts), help=words)


def _recent() -> None:
    """The designs that were saved last; nothing where the library cannot be read, which the page Designs reports."""
    try:
        found = saving.library().search("", page=0, per_page=_RECENT).designs
    except SizerError:
        return
    if not found:
        return
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="recent"):
        st.caption("Recent designs", width="content")
        for design in found:
            st.button(plain(design.name), key=f"recent-{design.id}", on_click=_open, args=(design.id,), type="tertiary")


def _open(design_id: str) -> None:
    try:
        saving.open_revision(design_id)
    except SizerError as error:
        st.session_state.refused = f"**The design was not opened.** {plain(saving.fault_of(error))}"


def _chip(number: int, phrase: Phrase, reading: Reading, parts: Catalog) -> None:
    """Words that were read; opened, they can be changed or removed."""
    name = f"chip-{st.session_state.generation}-{number}"
    same = phrase.words.casefold() == phrase.meaning.casefold()
    label = plain(phrase.words) if same else f"{plain(phrase.words)} :gray[→ {plain(phrase.meaning)}]"
    with st.popover(label, key=name, on_change="rerun", type="secondary") as chip:
        if not chip.open:
            return
        edited = f"{name}-words"
        st.text_input(
            "Change the words",
            value=phrase.words,
            key=edited,
            max_chars=MAX_CHARACTERS,
            on_change=state.if_stored(edited, unless_replaced(_edited)),
            args=(edited, phrase, reading, parts),
        )
        st.button(
            "Remove",
            key=f"{name}-remove",
            icon=":material/close:",
            on_click=need.give,
            args=(reading.with_words(phrase, ""), parts),
            type="tertiary",
        )


def _edited(key: str, phrase: Phrase, reading: Reading, parts: Catalog) -> None:
    need.give(reading.with_words(phrase, st.session_state[key]), parts)


def _question(question: Question, parts: Catalog) -> None:
    with st.container(border=True, key="question", gap="small"):
        st.markdown(f":material/contact_support: {plain(question.text)}")
        with st.container(horizontal=True, gap="xsmall"):
            _answers(question.answers[:_MOST_BUTTONS], parts)
            if others := question.answers[_MOST_BUTTONS:]:  # that are given less often
                name = f"answers-{st.session_state.generation}"
                with st.popover(f"{len(others)} more", key=name, on_change="rerun") as more:
                    if more.open:
                        with st.container(horizontal=True, gap="xsmall"):
                            _answers(others, parts)


def _answers(answers: Sequence[Answer], parts: Catalog) -> None:
    for answer in answers:
        key = f"answer-{st.session_state.generation}-{zlib.crc32(repr(answer).encode())}"
        st.button(plain(answer.label), key=key, on_click=need.give, args=(answer.sentence, parts))
