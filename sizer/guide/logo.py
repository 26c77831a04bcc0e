"""Sanitized logo of a user: pixel images of limited size, re-encoded without metadata."""

import base64
import io
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

MAX_LOGO_BYTES = 2_000_000
# More than a printed page needs; 64 MB of memory when decoded.
MAX_LOGO_PX = 4000
# 170 mm at 180 dots per inch.
LOGO_PX = 1200

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# What Pillow's readers raise on damaged files, besides its own errors.
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError, IndexError, struct.error, zlib.error)
_VECTOR_STARTS = (b"<svg", b"<?xml", b"<!doctype svg", b"<!--")

_reading = threading.Lock()


def logo_uri(data: bytes) -> str:
    """Data URI of an image: PNG of at most 1200 by 1200 pixels, without metadata.

    ``data``: a PNG, JPEG, WebP or GIF file, recognized by its content. The first frame of an animation is used.
    Raises ValueError as a predicate without subject, if the file is too large, damaged, an SVG drawing or not an
    image.
    """
    if len(data) > MAX_LOGO_BYTES:
        raise ValueError(f"is {len(data) / 1e6:.1f} MB; the limit is {MAX_LOGO_BYTES / 1e6:g} MB")
    if data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_VECTOR_STARTS):
        raise ValueError("is an SVG drawing, which can contain scripts and links; save it as PNG")
    return f"data:image/png;base64,{base64.b64encode(_as_png(data)).decode('ascii')}"


def _as_png(data: bytes) -> bytes:
    from PIL import Image, ImageOps, UnidentifiedImageError

    with _whole_pictures_only(), warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            # Only the header has been read.
            if max(image.size) > MAX_LOGO_PX:
                raise _too_large(f"has {image.width} × {image.height} pixels")
            # Cameras store the orientation as metadata, which is removed below.
            upright = ImageOps.exif_transpose(image)
            has_clear_parts = upright.has_transparency_data
            plain = upright.convert("RGBA" if has_clear_parts else "RGB")
        except _TooLargeError:
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise _too_large("has over 80 million pixels") from None
        except UnidentifiedImageError:
            raise ValueError("is not a PNG, JPEG, WebP or GIF image") from None
        except _DAMAGED as error:
            raise ValueError(f"is a damaged image ({error})") from None
    plain.thumbnail((LOGO_PX, LOGO_PX))
    # A new image has no colour profile, text or thumbnail of the file.
    clean = Image.new(plain.mode, plain.size)
    clean.paste(plain)
    stream = io.BytesIO()
    clean.save(stream, format="PNG", optimize=True)
    return stream.getvalue()


class _TooLargeError(ValueError):
    pass


def _too_large(what: str) -> _TooLargeError:
    return _TooLargeError(f"{what}; the limit is {MAX_LOGO_PX} × {MAX_LOGO_PX}")


@contextmanager
def _whole_pictures_only() -> Iterator[None]:
    """Reject truncated files, which WeasyPrint makes Pillow accept in the whole process."""
    from PIL import ImageFile

    with _reading:
        before, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before
