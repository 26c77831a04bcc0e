"""A page in which no check finds anything, to plant faults in."""

import re

from sizer.base.resources import data_dir
from tests.guides.laid_out import Guide, read

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sound</title>
<meta name="author" content="Somebody"><meta name="description" content="A sound page">
<style>
FACES
@page { size: A4; margin: 25mm; font: 8pt Inter;
  @bottom-right { content: "Page " counter(page) " of " counter(pages) } }
body { font: 10pt/14pt Inter; margin: 0 } h2 { bookmark-level: 2; font: 14pt Inter }
h1 { font: 20pt Inter; bookmark-level: 1 } p { margin: 0 0 3mm; orphans: 1; widows: 1 }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
td, th { text-align: left; font-weight: 400 } figure { margin: 4mm 0 } a { text-decoration: none }
svg { width: 160mm; height: 60mm }
.contents a::after { content: target-counter(attr(href), page) }
</style></head><body>
<ol class="contents"><li><a href="#one">Sizes</a></li></ol>
<h1 id="one">Sizes</h1>
<p>As <a href="#draw">Figure 1</a> shows, a sentence stands before <a href="#tab">Table 1</a>.</p>
<figure id="draw"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 150">
<title>Three bars of three colours</title>
<rect x="10" y="10" width="200" height="20" fill="#123456"/><rect x="10" y="40" width="300" height="20" fill="#1a7"/>
<rect x="10" y="70" width="100" height="20" fill="#a17"/>
<text x="10" y="120" font-size="11" font-family="Inter">a label</text>
<text x="200" y="120" font-size="11" font-family="Inter">another one</text></svg>
<figcaption>Figure 1. Bars</figcaption></figure>
<figure id="tab"><figcaption>Table 1. Rows</figcaption><table><thead>
<tr><th scope="col">Head</th><th scope="col">Value</th></tr>
</thead><tbody><tr><td>first</td><td>12.5\u202fGB</td></tr><tr><td>second</td><td>3\u202fkW</td></tr></tbody></table></figure>
<p>The last sentence of the page.</p>
</body></html>"""


def sound(pattern: str = "", planted: str = "") -> Guide:
    """The page as laid out, with what matches replaced."""
    page = PAGE
    if pattern:
        page = page.replace(pattern, planted) if pattern in page else re.sub(pattern, planted, page, flags=re.DOTALL)
        assert page != PAGE
    return read("sound", lambda: pdf_of(page, pdf_variant="pdf/ua-1"))


def pdf_of(page: str = PAGE, **options: object) -> bytes:
    """The page as PDF."""
    import weasyprint

    font = (data_dir("reports") / "fonts" / "Inter-Regular.ttf").as_uri()
    page = page.replace("FACES", f'@font-face {{ font-family: Inter; src: url("{font}") }}')
    pdf: bytes = weasyprint.HTML(string=page).write_pdf(**options)
    return pdf
