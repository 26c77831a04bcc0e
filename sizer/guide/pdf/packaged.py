"""What a PDF may load: packaged fonts, and pictures and fonts inside the page. Nothing from disk or network."""

import re
from collections.abc import Mapping
from typing import Any

from weasyprint.urls import URLFetcher, URLFetcherResponse

from sizer.present.fonts.files import ASSETS, FONTS

# Start of the address of a file that is put into the PDF.
ATTACHED = "attached:"
_INSIDE = re.compile(r"data:(?:image/(?:png|jpeg|gif|webp)|font/(?:ttf|woff2));base64,[A-Za-z0-9+/=]*")
_SHOWN = 80


class PackagedOnly(URLFetcher):  # type: ignore[misc]
    """Fetcher that fails on any other address.

    No text of a user becomes an address, so whatever is refused is a fault of a template.

    Attributes
    ----------
    refused : list of str
        A sentence for each refusal. Inside a drawing WeasyPrint goes on after one.
    """

    def __init__(self) -> None:
        super().__init__(allow_redirects=False, fail_on_errors=True)
        self.refused: list[str] = []

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:
        """Content of an address.

        Raises ValueError if the guide may not load it.
        """
        try:
            return self._given(url, headers)
        except (OSError, ValueError) as error:  # a damaged data address is an OSError or ValueError of urllib
            self.refused.append(str(error))
            raise

    def _given(self, url: str, headers: dict[str, str] | None) -> Any:
        if _INSIDE.fullmatch(url):
            return super().fetch(url, headers)
        font = next((one for one in FONTS if url == ASSETS + one.file), None)
        if font is None:
            shown = url if len(url) <= _SHOWN else f"{url[:_SHOWN]}…"
            raise ValueError(f"the guide may not load {shown}")
        return URLFetcherResponse(url, font.path.read_bytes(), {"Content-Type": "font/ttf"})


class AttachedOnly(URLFetcher):  # type: ignore[misc]
    """Fetcher of the files to attach to a PDF, each with its media type."""

    def __init__(self, files: Mapping[str, tuple[bytes, str]]) -> None:
        super().__init__(allow_redirects=False, fail_on_errors=True)
        self._files = files

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:  # noqa: ARG002 -- as in the base class
        """Content of a file by its address.

        Raises ValueError if it is none of the files.
        """
        found = self._files.get(url.removeprefix(ATTACHED)) if url.startswith(ATTACHED) else None
        if found is None:
            raise ValueError(f"no file {url[:_SHOWN]} is attached")
        data, media_type = found
        return URLFetcherResponse(url, data, {"Content-Type": media_type})
