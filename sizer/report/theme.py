"""One palette and one type scale, turned into what CSS, Altair and Streamlit want."""

from typing import Any

from sizer.drawings.palette import BODY_PT, DARK, FONT, LEADING_PT, LIGHT, SCALE, Palette

__all__ = ["DARK", "LIGHT", "Palette", "altair_config", "css_variables", "streamlit_theme"]

# Type in charts, in CSS pixels; 11 px print as 8.25 pt.
CHART_PX, CHART_TITLE_PX, CHART_LABEL_PX = 11, 13, 11


def css_variables(palette: Palette = LIGHT) -> str:
    """``:root`` rule with every colour and size of the guide."""
    colours = {
        "background": palette.background,
        "surface": palette.surface,
        "ink": palette.ink,
        "muted": palette.muted,
        "hairline": palette.hairline,
        "accent": palette.accent,
        "other": palette.other,
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


def streamlit_theme(palette: Palette = LIGHT) -> dict[str, Any]:
    """Options of Streamlit's ``[theme.light]`` or ``[theme.dark]`` table."""
    stages = palette.stages
    return {
        "primaryColor": palette.accent,
        "linkColor": palette.accent,
        "backgroundColor": palette.background,
        "secondaryBackgroundColor": palette.surface,
        "textColor": palette.ink,
        "borderColor": palette.hairline,
        "dataframeBorderColor": palette.hairline,
        "blueColor": stages["storage"],
        "violetColor": stages["network"],
        "orangeColor": stages["decode"],
        "greenColor": stages["gpu"],
        "redColor": stages["exchange"],
        "grayColor": palette.other,
        "chartCategoricalColors": [*stages.values(), palette.other],
    }
