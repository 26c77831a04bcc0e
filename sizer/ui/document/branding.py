"""Branding of the documents: a profile of the session, typed in, uploaded or downloaded."""

import hashlib
import json
import re
from typing import Any

import streamlit as st
from babel import Locale

from sizer.base.errors import RequestError
from sizer.base.formats.toml_text import parse_toml, to_toml
from sizer.base.locale import LOCALES
from sizer.guide.profile import MAX_LOGO_BYTES, MAX_PROFILE_BYTES, PLAIN, Profile
from sizer.ui import look, state
from sizer.ui.fields import draw_widget
from sizer.ui.request_form.forms import FormField, Text
from sizer.ui.typed import plain

# Plain keys of the session: fields of the profile that differ from the defaults, and the file of the logo.
PROFILE, LOGO = "profile", "profile_logo"
_FAULTS = "profile_faults"
_VERSION = "profile_version"
_TEXTS = (
    FormField(("company",), "Company", "Company that issues the documents.", Text(120)),
    FormField(("contact",), "Contact", "Person or address for questions.", Text(120)),
    FormField(("confidentiality",), "Confidentiality", "Label in the footer, such as Confidential.", Text(40)),
)
_LABELS = {
    **{field.keys[-1]: field.label for field in _TEXTS},
    "legal": "Legal notice",
    "accent": "Accent colour",
    "banner": "Banner colour",
    "paper": "Paper",
    "locale": "Language and numbers",
    "logo": "Logo",
}
_PAPERS = {"a4": "A4", "letter": "Letter"}
_LOGO_FILE = "logo.png"
_PLACE = "profile"
_FIELD = re.compile(rf"(?:{_PLACE}: )?([a-z_]+)(?: = |: )")
_LONGEST_NOTICE = 2000


def profile() -> Profile:
    """The profile of the session."""
    given = st.session_state.get(PROFILE) or {}
    logo = st.session_state.get(LOGO) or b""
    try:
        return _profile(json.dumps(given, sort_keys=True), hashlib.sha256(logo).hexdigest(), logo)
    except RequestError:
        # It was valid when it was uploaded; a session older than the program may hold another kind.
        return PLAIN


@st.cache_resource(show_spinner=False, max_entries=32)
def _profile(text: str, digest: str, _logo: bytes) -> Profile:  # noqa: ARG001  (the digest stands for the logo)
    return Profile.from_dict(json.loads(text), _PLACE, logo=_logo or None)


def show_faults() -> None:
    """Show the errors of the last profile."""
    for fault in st.session_state.get(_FAULTS, ()):
        st.error(plain(fault), icon=":material/edit_off:")


def show() -> None:
    """Draw the form, and the profile as a file."""
    _form(profile())
    _files(profile())


def summary(now: Profile) -> str:
    """Summary of the profile in a few words."""
    parts = (
        now.company or "no company",
        "logo" if now.logo_uri else "no logo",
        _PAPERS[now.paper],
        _locale_name(now.locale),
        now.confidentiality,
    )
    return ", ".join(part for part in parts if part)


def _form(now: Profile) -> None:
    prefix = _prefix()
    known = list(LOCALES)
    with st.form(f"form-{prefix}", border=False):
        with st.container(horizontal=True):
            for field in _TEXTS:
                name = field.keys[-1]
                draw_widget(field, f"{prefix}/{name}", getattr(now, name), width=270)
        with st.container(horizontal=True):
            hint = "Dark enough to be readable as white text on it, and as text on white."
            st.color_picker(_LABELS["accent"], now.accent, key=f"{prefix}/accent", help=hint)
            st.color_picker(_LABELS["banner"], now.banner, key=f"{prefix}/banner", help=hint)
            st.selectbox(
                _LABELS["paper"],
                list(_PAPERS),
                list(_PAPERS).index(now.paper),
                _PAPERS.__getitem__,
                key=f"{prefix}/paper",
                width=120,
            )
            st.selectbox(
                _LABELS["locale"], known, known.index(now.locale), _locale_name, key=f"{prefix}/locale", width=260
            )
        st.text_area(_LABELS["legal"], now.legal, key=f"{prefix}/legal", max_chars=_LONGEST_NOTICE, height=90)
        st.file_uploader(
            "Logo: PNG, JPEG, WebP or GIF",
            type=["png", "jpg", "jpeg", "webp", "gif"],
            key=f"{prefix}/logo",
            max_upload_size=MAX_LOGO_BYTES // 1_000_000,
        )
        st.form_submit_button("Apply branding", on_click=_apply, args=(prefix,))


def _files(now: Profile) -> None:
    """The profile as files to use again, and a reset."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.download_button(
            "Profile, TOML",
            toml_of(now),
            "profile.toml",
            "application/toml",
            key="profile-download",
            on_click="ignore",
            icon=":material/download:",
        )
        if now != PLAIN:
            st.button("Reset branding", key="profile-plain", on_click=_reset, icon=":material/restart_alt:")
    key = f"{_prefix()}/file"
    st.file_uploader(
        "Profile from a file, TOML",
        type=["toml"],
        key=key,
        max_upload_size=1,
        on_change=state.if_stored(key, _upload),
        args=(key,),
    )
    look.note("The command line reads the same file: sizer size request.toml --profile profile.toml")


def toml_of(now: Profile) -> str:
    """A profile as its file; it names the logo, which is a separate file."""
    data = _fields(now)
    if now.logo_uri:
        data["logo"] = _LOGO_FILE
    return to_toml(data)


def _fields(now: Profile) -> dict[str, Any]:
    data: dict[str, Any] = now.model_dump(mode="json", exclude_defaults=True)
    data.pop("logo", None)
    return data


def _apply(prefix: str) -> None:
    """Apply the valid fields of the form, and note the errors of the others."""
    given = {name: st.session_state[f"{prefix}/{name}"] for name in _LABELS if name != "logo"}
    file = st.session_state[f"{prefix}/logo"]
    # Apply the form; a field with an error keeps its value.
    logo = None if file is None else file.getvalue()
    faults = [] if logo is None else [text for _, text in _faults({}, logo)]
    if logo is not None and not faults:
        st.session_state[LOGO] = logo
    before = _fields(profile())
    found = _faults(given)
    wrong = {name for name, _ in found}
    right = {name: value for name, value in given.items() if name not in wrong}
    fields = {**{name: before[name] for name in wrong if name in before}, **right}
    st.session_state[PROFILE] = _fields(Profile.from_dict(fields, _PLACE))
    st.session_state[_FAULTS] = [text for _, text in found] + faults
    if not st.session_state[_FAULTS]:
        _renew()


def _upload(key: str) -> None:
    file = st.session_state[key]
    if file is not None:
        # Apply a profile file as a whole, or note each of its errors and apply nothing.
        content = file.getvalue()
        data, faults = read_profile(content)
        st.session_state[_FAULTS] = [f"{file.name}: {fault}" for fault in faults]
        if not faults:
            names_logo = bool(data.pop("logo", "")) and not st.session_state.get(LOGO)
            st.session_state[PROFILE] = data
            if names_logo:
                st.session_state[_FAULTS] = [f"{file.name}: the logo is a separate file; upload the image too."]
        _renew()


def read_profile(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Fields of a profile file, and a sentence for each error."""
    if len(content) > MAX_PROFILE_BYTES:
        return {}, [f"The file is too large; a profile has at most {MAX_PROFILE_BYTES} B."]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return {}, [f"The file is not UTF-8 text (byte {error.start})."]
    try:
        data = parse_toml(text)
    except (ValueError, RecursionError) as error:
        return {}, [f"The file is not valid TOML: {error}."]
    logo = data.pop("logo", "")
    if not isinstance(logo, str):
        return {}, ["Logo: must be the name of a file, such as 'logo.png'."]
    faults = [text for _, text in _faults(data)]
    return ({}, faults) if faults else ({**data, **({"logo": logo} if logo else {})}, [])


def _faults(data: dict[str, Any], logo: bytes | None = None) -> list[tuple[str, str]]:
    """Field and sentence of each error."""
    try:
        Profile.from_dict(data, _PLACE, logo=logo)
    except RequestError as error:
        return [_placed(line) for line in str(error).splitlines()]
    return []


def _placed(line: str) -> tuple[str, str]:
    match = _FIELD.match(line)
    said = line.removeprefix(f"{_PLACE}: ")
    end = "" if said.endswith((".", "?", "!")) else "."
    if match is None or match[1] not in _LABELS:
        return "", f"{said[:1].upper()}{said[1:]}{end}"
    rest = line[match.end(1) :].removeprefix(":").strip()
    return match[1], f"{_LABELS[match[1]]}: {rest.removeprefix('= ')}{end}"


def _reset() -> None:
    st.session_state[PROFILE], st.session_state[LOGO], st.session_state[_FAULTS] = {}, b"", []
    _renew()


def _prefix() -> str:
    return f"profile/{st.session_state.get(_VERSION, 0)}"


def _renew() -> None:
    """Give the fields new keys, so that they show the profile as it is now."""
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _locale_name(name: str) -> str:
    return Locale.parse(name, sep="-").get_display_name("en") or name
