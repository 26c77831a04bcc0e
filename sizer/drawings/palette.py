"""The colours and the type of everything that is drawn: guide, charts, drawings and app.

They stand on the floor of the drawings because report and export, which both use them, do not import each other.
Text and mark colours have a contrast of at least 4.5 : 1 on their background.
"""

from dataclasses import dataclass

FONT = "Inter"


@dataclass(frozen=True)
class Palette:
    """Colour of every role. A stage keeps its colour in every chart, drawing and table."""

    name: str
    background: str
    surface: str
    ink: str
    muted: str
    hairline: str
    accent: str
    other: str  # alternatives that were not chosen
    stages: dict[str, str]  # key of sizing.result.STAGES -> colour

    def colour(self, role: str) -> str:
        if role in self.stages:
            return self.stages[role]
        return str(getattr(self, role))


LIGHT = Palette(
    name="light",
    background="#FFFFFF",
    surface="#F6F8FA",
    ink="#1B2433",
    muted="#566172",
    hairline="#D5DBE3",
    accent="#0B6E75",
    other="#6B7280",
    stages={
        "storage": "#2F66B0",
        "network": "#7350A0",
        "decode": "#9A5B0B",
        "host_link": "#A3357F",
        "gpu": "#1F7A4D",
        "exchange": "#B23A36",
    },
)
DARK = Palette(
    name="dark",
    background="#10151D",
    surface="#1A222E",
    ink="#E8EDF3",
    muted="#A3AEBC",
    hairline="#2A3442",
    accent="#4FC3C9",
    other="#8A94A3",
    stages={
        "storage": "#7FB0F0",
        "network": "#BFA2E8",
        "decode": "#E6B265",
        "host_link": "#E58FC4",
        "gpu": "#6CCB9A",
        "exchange": "#F08E88",
    },
)

# Type scale: body size in points, each heading 1.25 times the one below it.
BODY_PT = 9.5
LEADING_PT = 13.5
SCALE = 1.25
# Opacity of a 90 % band, and of a stage that does not limit.
BAND_OPACITY = 0.18
QUIET_OPACITY = 0.35
# Width of the text column of the guide, in CSS pixels (A4 less two margins of 22 mm).
COLUMN_PX = 626
# The same on a landscape page.
LANDSCAPE_PX = 956
