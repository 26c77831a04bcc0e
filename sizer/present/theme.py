"""One palette and one type scale, turned into what CSS, Altair and Streamlit want."""

from typing import Any, Literal

from sizer.drawings.palette import BODY_PT, FONT, LEADING_PT, LIGHT, SCALE, Palette

Paper = Literal["a4", "letter"]
# Width and height of a sheet. [mm]
PAPER_MM: dict[Paper, tuple[float, float]] = {"a4": (210, 297), "letter": (215.9, 279.4)}
# WCAG 2.1, 1.4.3, level AA: text against what is behind it.
MIN_CONTRAST = 4.5

# Type in charts, in CSS pixels; 11 px print as 8.25 pt.
CHART_PX, CHART_TITLE_PX, CHART_LABEL_PX = 11, 13, 11


def contrast_ratio(one: str, other: str) -> float:
    """Contrast of two colours, 1 (none) to 21 (black on white).

    ``one``, ``other``: colours as ``#RRGGBB``. Quotient of the two relative luminances, each with 0.05 of glare added
    (WCAG 2.1, contrast ratio). [-]
    """
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.1, definition of relative luminance)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _muted_on(band: str, text: str) -> str:
    """Colour of secondary text on a band: as near to the band as the contrast allows, three quarters text at least.

    Opacity would do the same to the eye, but text under it is no tagged text of a PDF.
    """
    pairs = [(int(text[place : place + 2], 16), int(band[place : place + 2], 16)) for place in (1, 3, 5)]
    for share in (0.75, 0.8, 0.85, 0.9, 0.95):
        mixed = "#" + "".join(f"{round(share * over + (1 - share) * under):02X}" for over, under in pairs)
        if contrast_ratio(mixed, band) >= MIN_CONTRAST:
            return mixed
    return text


def css_variables(palette: Palette = LIGHT, banner: str = "", paper: Paper = "a4") -> str:
    """``:root`` rule with every colour and size of the guide.

    ``banner``: colour behind the white title of the cover. ``paper``: sheet that the guide is printed on.
    """
    colours = {
        "background": palette.background,
        "surface": palette.surface,
        "ink": palette.ink,
        "muted": palette.muted,
        "hairline": palette.hairline,
        "accent": palette.accent,
        "banner": banner or palette.ink,
        "banner-muted": _muted_on(banner or palette.ink, palette.background),
        "other": palette.other,
        "open": palette.stages["decode"],  # amber: a check that a missing fact leaves open
        **{f"stage-{key}": value for key, value in palette.stages.items()},
    }
    sizes = {
        "body": f"{BODY_PT}pt",
        "leading": f"{LEADING_PT}pt",
        "small": f"{BODY_PT / SCALE**0.5:.2f}pt",
        "h3": f"{BODY_PT * SCALE**0.5:.2f}pt",
        "h2": f"{BODY_PT * SCALE:.2f}pt",
        "lead": f"{BODY_PT * SCALE:.2f}pt",
        "h1": f"{BODY_PT * SCALE**3:.2f}pt",
        "cover": f"{BODY_PT * SCALE**6:.2f}pt",
        "metric": f"{BODY_PT * SCALE**3:.2f}pt",
    }
    lines = [f"  --{name}: {value};" for name, value in colours.items()]
    lines += [f"  --size-{name}: {value};" for name, value in sizes.items()]
    width, height = PAPER_MM[paper]
    lines += [f"  --page-width: {width:g}mm;", f"  --page-height: {height:g}mm;"]
    return ":root {\n" + "\n".join([*lines, f'  --font: "{FONT}";']) + "\n}\n"


def altair_config(palette: Palette = LIGHT) -> dict[str, Any]:
    """Vega-Lite config of every chart: quiet axes, horizontal grid, one font."""
    axis: dict[str, Any] = {
        "labelColor": palette.muted,
        "titleColor": palette.muted,
        "labelFontSize": CHART_PX,
        "titleFontSize": CHART_PX,
        "titleFontWeight": "normal",
        "titlePadding": 9,
        "labelPadding": 5,
        "domainColor": palette.hairline,
        "tickColor": palette.hairline,
        "gridColor": palette.hairline,
        "gridOpacity": 0.7,
    }
    return {
        "font": FONT,
        "background": palette.background,
        "padding": {"left": 0, "right": 4, "top": 4, "bottom": 2},
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": palette.ink,
            "fontSize": CHART_TITLE_PX,
            "fontWeight": 600,
            "offset": 14,
            "subtitleColor": palette.muted,
            "subtitleFontSize": CHART_PX,
            "subtitlePadding": 4,
        },
        "axis": axis,
        "axisX": {"grid": False, "ticks": True, "tickSize": 4},
        "axisY": {"domain": False, "ticks": False},
        "text": {"color": palette.ink, "fontSize": CHART_LABEL_PX, "font": FONT},
        "rule": {"color": palette.ink},
        "legend": {"labelColor": palette.ink, "titleColor": palette.muted, "labelFontSize": CHART_PX},
    }
