"""Makes reports/fonts/web/: the fonts of the guide's web page, cut to Latin letters and signs and packed as WOFF2.

Run it again after the fonts in reports/fonts/ change. Needs the development packages (fontTools comes with WeasyPrint).
"""

import sys
from pathlib import Path

from fontTools import subset

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sizer.present.fonts.files import FONTS, WEB_RANGES  # noqa: E402

FEATURES = ["kern", "mark", "mkmk", "ccmp", "tnum", "calt"]


def main() -> None:
    """Cut and pack every font that the style sheet uses."""
    source = ROOT / "reports" / "fonts"
    target = source / "web"
    target.mkdir(exist_ok=True)
    for font in FONTS:
        options = subset.Options(flavor="woff2", layout_features=FEATURES)
        face = subset.load_font(str(source / font.file), options)
        # The time of the change would make every run another file.
        face.recalcTimestamp = False
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=[code for first, last in WEB_RANGES for code in range(first, last + 1)])
        cutter.subset(face)
        path = target / font.web_file
        subset.save_font(face, str(path), options)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} B")


if __name__ == "__main__":
    main()
