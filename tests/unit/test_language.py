"""Visible text: all of it can be translated, every translation is checked, numbers and dates follow the language."""

import ast
import datetime
import html
import importlib.util
import json
import re
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest
from jinja2 import Environment

from sizer.base.errors import ReportError, RequestError
from sizer.base.estimate import Estimate
from sizer.base.language import (
    Language,
    date_text,
    language_of,
    locales,
    read_language,
    speaking,
    spoken,
    tr,
    translated,
    trc,
    trn,
)
from sizer.base.quantities import duration, grouped, plain, si, significant, with_commas
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import statements
from sizer.catalog.schema import CATEGORIES, Device
from sizer.drawings.datapath import datapath
from sizer.drawings.pages import design_pages
from sizer.export.design_json import design_document, to_json
from sizer.physical.counted import NAMES, network_text, plane_text
from sizer.physical.growth import growth
from sizer.report import render, words
from sizer.report.edition import Edition
from sizer.report.translations import install_translations
from sizer.sizing.size import size
from sizer.workload.quote import Category
from sizer.workload.request import SizingRequest

ROOT = Path(__file__).resolve().parents[2]
CODE = sorted((ROOT / "sizer").rglob("*.py"))
# Function -> how many of its first arguments must be literals.
MARKS = {"tr": 1, "trn": 2, "trc": 2, "mark": 1, "mark_forms": 2}
EXAMPLES = ("dgx1-f800-resnet50", "small-team")
DAY = datetime.date(2019, 3, 1)
HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: {rule};\\n"\n\n'
ONE_AND_MANY = HEADER.format(rule="nplurals=2; plural=(n != 1)")


def tool():
    """tools/text.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("text_tool", ROOT / "tools" / "text.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEXT = tool()


@cache
def messages():
    return [message for message in TEXT.catalog() if message.id]


@cache
def pseudo():
    """A translation of everything: each message between brackets."""
    found = {}
    for message in messages():
        forms = (message.id,) if isinstance(message.id, str) else message.id
        context = f"{message.context}\x04" if message.context else ""
        found[context + forms[0]] = tuple(f"⟦{form}⟧" for form in forms)
    return Language(locale="xx", messages=found, decimal=",")


@cache
def catalog():
    return load_catalog()


@cache
def answer(name, is_translated):
    request = SizingRequest.from_file(ROOT / "examples" / f"{name}.toml")
    with speaking(pseudo() if is_translated else Language()):
        return size(request, catalog())


@pytest.fixture
def german(tmp_path):
    file = tmp_path / "de.po"
    file.write_text(ONE_AND_MANY, encoding="utf-8")
    return read_language("de", file)


# --- collecting


def test_pot_holds_the_texts_of_the_code_and_the_templates():
    assert TEXT.POT.read_text(encoding="utf-8") == TEXT.text(), "visible texts have changed: run make text"


def calls(names):
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in names:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", name, node


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_every_marked_text_is_a_literal():
    wrong = [
        place
        for place, name, call in calls(MARKS)
        if len(call.args) < MARKS[name] or not all(map(is_text, call.args[: MARKS[name]]))
    ]
    assert not wrong


def test_every_field_of_a_text_is_given_and_plain():
    """A format or an attribute in a field is nothing for a translator; what is given and not printed is a slip."""
    wrong = []
    for place, name, call in calls({"tr", "trn"}):
        texts = [arg.value for arg in call.args[: MARKS[name]] if is_text(arg)]
        given = {keyword.arg for keyword in call.keywords}
        fields = set()
        for text in texts if given else ():
            for _, field, spec, conversion in Formatter().parse(text):
                if field is not None:
                    fields.add(field)
                    if not field.isidentifier() or spec or conversion:
                        wrong.append(f"{place}: {{{field}}}")
        # ** gives fields whose names are not seen here.
        if fields != given - {None} and None not in given:
            wrong.append(f"{place}: {fields ^ given}")
    assert not wrong


def test_every_counted_noun_has_a_plural():
    known = {message.id[0] for message in messages() if not isinstance(message.id, str)}
    nouns = {
        call.args[1].value
        for _, _, call in calls({"plural", "plural_of"})
        if len(call.args) > 1 and is_text(call.args[1])
    }
    assert nouns <= known


def test_every_role_and_network_can_be_translated():
    shown = set(get_args(Category))
    for name in EXAMPLES:
        parts = answer(name, False).design.quantities
        shown |= {part.role for part in parts.components} | {net.name for net in parts.networks}
    assert shown <= set(NAMES)


# --- pseudo-translation


def left_out(text):
    """Words of a text that stand outside of all brackets."""
    before = None
    while before != text:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    assert "⟦" not in text, before
    assert "⟧" not in text, before
    for name in catalogue_names():
        text = text.replace(name, " ")
    text = re.sub(r"\u202f[A-Za-z/]+", " ", text)  # units
    return re.findall(r"[A-Za-z]{2,}", text)


@cache
def items():
    return [item for folder in CATEGORIES for item in catalog().folder(folder).values()]


@cache
def catalogue_names():
    """Names and vendors, which no language changes; the longest first."""
    names = {name for item in items() for name in (item.name, item.vendor)}
    return sorted(names - {""}, key=len, reverse=True)


def sentences(result):
    design = result.design
    yield from (result.verdict, result.selection, result.runner_up_reason, design.binding_limit, *result.advice)
    yield from (*design.warnings, *design.quantities.notes, *design.plan.warnings, *design.bill.warnings)
    yield from (*design.plan.questions, *result.questions, *result.ruled_out, design.name)
    for net in design.quantities.networks:
        yield from (net.purpose, net.note, net.subnet_manager)
    for work in design.workloads:
        yield from (work.target, *work.warnings, *(stage.how for stage in work.stages))
    for step in growth(design.plan):
        yield step.limit
    for _, drawing in design_pages(design, catalog()):
        yield drawing.title
    for work in design.workloads:
        yield datapath(design, work, words.sample_unit(work.dnn)).title


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_sentence_escapes_translation(name):
    result = answer(name, True)
    workloads = {work.workload.name for work in result.design.workloads}
    with speaking(pseudo()):
        told = [text for text in sentences(result) if text]
    for workload in workloads:
        told = [text.replace(workload, " ") for text in told]
    assert len(told) > 20
    assert [(text, escaped) for text in told if (escaped := left_out(text))] == []
    assert not any("{" in text or "%(" in text for text in told)
    assert result.design.platform.server.name in result.verdict


@pytest.mark.parametrize("name", EXAMPLES)
def test_assumptions_escape_only_where_the_catalogue_speaks(name):
    said = {text for item in items() for one in statements(item) for text in (one.note, one.value)}
    result = answer(name, True)
    workloads = {work.workload.name for work in result.design.workloads}
    for one in result.assumptions:
        what = one.what
        for workload in workloads:
            what = what.replace(workload, " ")
        assert not left_out(what), one
        assert one.note in said or not left_out(one.note), one


@pytest.mark.parametrize("name", EXAMPLES)
def test_machines_read_the_same_numbers_in_every_language(name):
    english, other = (json.loads(to_json(design_document(answer(name, is_other)))) for is_other in (False, True))
    assert list(leaves(english)) == list(leaves(other))


def leaves(node):
    """Everything but texts, in its order."""
    if isinstance(node, dict):
        for value in node.values():
            yield from leaves(value)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value)
    elif not isinstance(node, str):
        yield node


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_language_leaves_nothing_behind(name):
    answer(name, True)
    request = SizingRequest.from_file(ROOT / "examples" / f"{name}.toml")
    assert "⟦" not in to_json(design_document(size(request, catalog())))
    assert spoken().locale == "en-GB"


# --- the guide


# Units, and names of technology, which are messages where they stand in a sentence and plain names elsewhere.
SYMBOLS = frozenset({"GPU", "TB", "PCIe 3.0"})


@cache
def guide_outside(name):
    """Texts of the full guide in the pseudo-language that stand outside of all brackets, one an element."""
    # A fixture would make the page anew for every test.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "language_of", lambda _: pseudo())
        page = render.guide_html(answer(name, True), catalog(), Edition("full"))
    body = re.sub(r"<(style|script|head)\b.*?</\1>|<p class=\"equation\">.*?</p>", " ", page, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]*>", "\n", body))
    before = None
    while before != text:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    # A label of a drawing that is broken or cut has its brackets in several elements, or has lost the last one.
    text = re.sub(r"⟦[^\n]*|^[^\n]*⟧", " ", text, flags=re.MULTILINE)
    return tuple(line for line in map(str.strip, text.split("\n")) if re.search("[A-Za-z]{2}", line))


@cache
def data_text():
    """All that the catalogue, its sources and the published runs say: data, which no language changes."""
    said = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "catalog").rglob("*.csv"))]
    for file in sorted((ROOT / "catalog").rglob("*.toml")):
        said += texts(tomllib.loads(file.read_text(encoding="utf-8")))
    return " ".join("\n".join(said).split())


def texts(node):
    """Texts of a table, and the keys: names of features are keys."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)
    elif isinstance(node, str):
        yield node


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_english_sentence_stands_in_a_guide_of_another_language(name):
    """Three small English words in a row are a sentence, or a part of one.

    What may stand there: notes, values, places in sources and titles of sources, which are data of the catalogue and
    of the published runs; and texts of the request, which its author wrote.
    """
    said = data_text()
    asked = " ".join((ROOT / "examples" / f"{name}.toml").read_text(encoding="utf-8").split())
    outside = guide_outside(name)
    assert len(outside) > 300
    runs = {run for line in outside for run in re.findall(r"\b[a-z]{2,}(?: [a-z]+){2,}\b", line)}
    assert len(runs) > 20, "the notes of the catalogue are no longer found: does the search still work?"
    assert sorted(run for run in runs if run not in said and run not in asked) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_label_of_a_guide_is_left_untranslated(name):
    """A whole text of the page that is a message too, and yet has no brackets, was printed past the translation.

    What may stand there: names and values of the catalogue that happen to be the same, and SYMBOLS.
    """
    forms = {form for message in messages() for form in ((message.id,) if isinstance(message.id, str) else message.id)}
    labels = {label for item in items() if isinstance(item, Device) for label in item.features}
    values = {str(fact.value) for item in items() for fact in statements(item)}
    data = {small(text) for text in (*labels, *values, *catalogue_names(), *SYMBOLS)}
    known = {small(form) for form in forms} - data
    assert sorted(line for line in set(guide_outside(name)) if small(line) in known) == []


def small(text):
    return text[:1].lower() + text[1:]


# --- translations


def read(tmp_path, body, name="de", header=ONE_AND_MANY):
    file = tmp_path / f"{name}.po"
    file.write_bytes(body if isinstance(body, bytes) else (header + body).encode())
    return read_language(name, file)


def test_translation_is_used(tmp_path):
    body = (
        'msgid "{n} of {all}"\nmsgstr "{n} von {all}"\n\n'
        'msgid "one server"\nmsgid_plural "{n} servers"\nmsgstr[0] "ein Server"\nmsgstr[1] "{n} Server"\n\n'
        'msgctxt "answer"\nmsgid "no"\nmsgstr "nein"\n\nmsgctxt "how many"\nmsgid "no"\nmsgstr "keine"\n\n'
        '#, fuzzy\nmsgid "rack"\nmsgstr "vielleicht"\n\nmsgid "tray"\nmsgstr ""\n'
    )
    with speaking(read(tmp_path, body)):
        assert tr("{n} of {all}", n=1, all=2) == "1 von 2"
        assert [trn("one server", "{n} servers", n, n=n) for n in (1, 2)] == ["ein Server", "2 Server"]
        assert (trc("answer", "no"), trc("how many", "no")) == ("nein", "keine")
        # What is not finished stays English.
        assert [translated(text) for text in ("rack", "tray", "shelf")] == ["rack", "tray", "shelf"]
    assert tr("{n} of {all}", n=1, all=2) == "1 of 2"


def test_plural_rule_is_that_of_the_language(tmp_path):
    """Rule of Polish, GNU gettext manual, section Plural forms: 1, then 2 to 4 but not 12 to 14, then the others."""
    rule = "nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
    body = 'msgid "{n} file"\nmsgid_plural "{n} files"\n' + "".join(
        f'msgstr[{number}] "{{n}} {word}"\n' for number, word in enumerate(("plik", "pliki", "plików"))
    )
    with speaking(read(tmp_path, body, "pl", HEADER.format(rule=rule))):
        found = {n: trn("{n} file", "{n} files", n, n=n).partition(" ")[2] for n in (1, 2, 5, 12, 22, 25)}
    assert found == {1: "plik", 2: "pliki", 5: "plików", 12: "plików", 22: "pliki", 25: "plików"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('msgid "takes {time}"\nmsgstr "dauert"\n', ("'takes {time}'", "'dauert' lacks the field {time}")),
        ('msgid "takes {time}"\nmsgstr "{time} {zeit}"\n', ("'takes {time}'", "unknown field {zeit}")),
        ('msgid "takes {time}"\nmsgstr "{time:.9999999f}"\n', ("'takes {time}'", "unknown field {time:.9999999f}")),
        ('msgid "takes {time}"\nmsgstr "{time.real}"\n', ("'takes {time}'", "unknown field {time.real}")),
        ('msgid "takes {time}"\nmsgstr "{time"\n', ("'takes {time}'", "cannot be filled in")),
        ('msgid "%(n)s of 5 %%"\nmsgstr "%(n)s von 5 %"\n', ("single %",)),
        ('msgid "{n} a"\nmsgid_plural "{n} b"\nmsgstr[0] "{n} c"\n', ("'{n} a'", "1 of the 2 forms")),
        ('msgid "rack"\nmsgstr "Schrank\n', ("line 7", "'msgstr \"Schrank'")),
        ("Schrank\n", ("line 6", "'Schrank'")),
        (b'msgid "rack"\nmsgstr "\xff"\n', ("not UTF-8",)),
    ],
)
def test_broken_translation_names_file_and_message(tmp_path, body, said):
    with pytest.raises(ReportError) as caught:
        read(tmp_path, body)
    assert str(tmp_path / "de.po") in str(caught.value)
    for words_ in said:
        assert words_ in str(caught.value)


def test_all_faults_of_a_translation_are_listed(tmp_path):
    with pytest.raises(ReportError) as caught:
        read(tmp_path, 'msgid "a {x}"\nmsgstr "b"\n\nmsgid "c {y}"\nmsgstr "d"\n')
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("de", "nplurals=2; plural=(n >> 1", "plural rule"),
        ("de", "nplurals=two; plural=0", "not a translation"),
        ("german?", "nplurals=2; plural=(n != 1)", "no locale"),
    ],
)
def test_header_and_name_of_a_translation_are_checked(tmp_path, name, rule, said):
    with pytest.raises(ReportError, match=said):
        read(tmp_path, "", name, HEADER.format(rule=rule))


def test_unknown_language_names_the_known_ones():
    assert locales()[:2] == ("en-GB", "en-US")
    with pytest.raises(
        RequestError, match=r"language 'en-GP' is not known; did you mean 'en-GB'.* known are en-GB, en-US"
    ):
        language_of("en-GP")


def test_every_translation_that_is_there_can_be_read():
    for name in locales():
        assert language_of(name).locale == name


# --- numbers and dates


def test_numbers_take_the_decimal_sign_of_the_language(german):
    """German writes a comma (Unicode CLDR, locale de); thousands keep the narrow space of all our documents."""
    with speaking(german):
        assert grouped(1234.5, 1) == "1\u202f234,5"
        assert significant(0.03125) == "0,0312"
        assert si(22.2e12, "B") == "22,2\u202fTB"
        assert duration(750) == "12,5\u202fmin"
        assert plain(2.5) == "2,5"
        assert with_commas(1234.5, 2) == "1\u202f234,50"
        assert words.money(Decimal("1234.50"), "EUR") == "EUR 1\u202f234,50"
        assert words.percent(0.075) == "7,5\u202f%"
        assert words.estimate(Estimate.log_normal(4.2, 0.3), "h") == "4,2\u202fh (2,6 to 6,9)"
    assert (grouped(1234.5, 1), with_commas(1234.5, 2)) == ("1\u202f234.5", "1,234.50")


def test_dates_follow_the_language(german):
    found = []
    for language in (language_of("en-GB"), language_of("en-US"), german):
        with speaking(language):
            found.append(date_text(DAY))
    assert found == ["1 March 2019", "March 1, 2019", "1. März 2019"]


def test_english_needs_no_translation():
    assert language_of("en-US").messages == language_of("en-GB").messages == {}
    with speaking(language_of("en-US")):
        assert grouped(1234.5, 1) == "1\u202f234.5"
        assert trn("{n} rack", "{n} racks", 2, n=2) == "2 racks"


def test_names_of_networks_are_keys_until_they_are_shown():
    with speaking(pseudo()):
        assert network_text("compute fabric, rail 2") == "⟦compute fabric⟧, ⟦rail 2⟧"
        assert network_text("management") == "⟦management⟧"
        assert plane_text("a") == "a"


# --- templates


def test_templates_are_translated_with_their_signs():
    environment = Environment(autoescape=True)
    install_translations(environment)
    page = environment.from_string(
        "{% trans a=name %}90 % of\n   {{ a }}{% endtrans %}|{{ _('5 sorts') }}|"
        "{% trans count=n %}{{ count }} rack{% pluralize %}{{ count }} racks{% endtrans %}"
    )
    assert page.render(name="<b>", n=2) == "90 % of &lt;b&gt;|5 sorts|2 racks"
    other = {
        "90 %% of %(a)s": ("%(a)s: 90 %%",),
        "5 sorts": ("5 % sorts",),
        "%(count)s rack": ("%(count)s Schrank", "%(count)s Schränke"),
    }
    with speaking(Language("de", other)):
        assert page.render(name="<b>", n=2) == "&lt;b&gt;: 90 %|5 % sorts|2 Schränke"
