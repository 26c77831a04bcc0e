"""Lines that share what their style sets: WeasyPrint 70 makes Pango's context and font anew for every line."""

from functools import cache
from typing import Any, NamedTuple

from weasyprint.text import line_break
from weasyprint.text.constants import LST_TO_ISO, PANGO_DIRECTION
from weasyprint.text.ffi import ffi, gobject, pango, unicode_to_char_p
from weasyprint.text.fonts import font_features, get_font_description

# What a style says about the features of a font, in the order of ``font_features``.
_FEATURES = (
    "kerning",
    "variant_ligatures",
    "variant_position",
    "variant_caps",
    "variant_numeric",
    "variant_alternates",
    "variant_east_asian",
    "feature_settings",
)

_usual_set_up = line_break.Layout.setup
_usual_key = line_break._font_style_cache_key


class _Shared(NamedTuple):
    """What all lines of a style share."""

    context: Any
    language: Any
    font: Any
    features: Any  # None: the font's own


def _set_up(layout: Any, style: Any) -> None:
    """``Layout.setup`` with the objects of an earlier line of the same style."""
    if style["text_decoration_line"] != "none":  # rare, and measured besides
        _usual_set_up(layout, style)
        return
    try:
        shared: _Shared = style.shared_by_lines
    except AttributeError:
        shared = style.shared_by_lines = _shared(style)
    layout.style, layout.language, layout.first_line_direction = style, shared.language, 0
    layout.ascent = layout.underline_position = layout.strikethrough_position = None
    layout.layout = ffi.gc(pango.pango_layout_new(shared.context), gobject.g_object_unref)
    pango.pango_layout_set_auto_dir(layout.layout, False)
    pango.pango_layout_set_font_description(layout.layout, shared.font)
    if shared.features is not None:
        attributes = pango.pango_attr_list_new()
        pango.pango_attr_list_insert(attributes, shared.features)
        pango.pango_layout_set_attributes(layout.layout, attributes)


def _shared(style: Any) -> _Shared:
    known = style.font_config.font_features
    wanted = font_features(*(style[f"font_{name}"] for name in _FEATURES))
    features = None
    if wanted:
        text = ",".join(f"{name} {value}" for name, value in wanted.items()).encode()
        if text not in known:
            known[text] = pango.pango_attr_font_features_new(text)
        features = known[text]
    return _Shared(*_context(style), get_font_description(style), features)


def _context(style: Any) -> tuple[Any, Any]:
    """Pango's context of a language and direction, and the language; kept as long as the fonts of the document."""
    override = style["font_language_override"]
    name = LST_TO_ISO.get(override.lower(), override) if override != "normal" else style["lang"]
    key = (style["direction"], name)
    known: dict[tuple[Any, Any], tuple[Any, Any]] = vars(style.font_config).setdefault("contexts_of_lines", {})
    if key not in known:
        context = ffi.gc(pango.pango_font_map_create_context(style.font_config.font_map), gobject.g_object_unref)
        pango.pango_context_set_round_glyph_positions(context, False)
        pango.pango_context_set_base_dir(context, PANGO_DIRECTION[style["direction"]])
        if name:
            characters, _ = unicode_to_char_p(name)
            language = pango.pango_language_from_string(characters)
            pango.pango_context_set_language(context, language)
        else:
            language = pango.pango_language_get_default()
        known[key] = context, language
    return known[key]


def _key(style: Any, include_size: bool = False) -> str:
    """``_font_style_cache_key``, worked out once a style."""
    known: dict[bool, str] = vars(style).setdefault("keys_of_fonts", {})
    if include_size not in known:
        known[include_size] = _usual_key(style, include_size)
    return known[include_size]


@cache
def share_between_lines() -> None:
    """Make WeasyPrint share between the lines of a style, in this process."""
    line_break.Layout.setup = _set_up
    line_break._font_style_cache_key = _key
