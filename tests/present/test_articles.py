"""The article before a product's name follows how it is spoken: letters of an abbreviation one by one."""

import pytest

from sizer.present.words import with_article


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Apollo 6500", "an Apollo 6500"),
        ("AS-8125GS-TNMR2", "an AS-8125GS-TNMR2"),
        ("XE9680", "an XE9680"),
        ("R740xd", "an R740xd"),
        ("HGX H100", "an HGX H100"),
        ("DGX-1", "a DGX-1"),
        ("DSS 8440", "a DSS 8440"),
        ("C4140", "a C4140"),
        ("UCP RS V225G", "a UCP RS V225G"),
        ("GB200 NVL72", "a GB200 NVL72"),
    ],
)
def test_the_article_follows_the_sound(name, said):
    assert with_article(name) == said
