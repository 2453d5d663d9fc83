"""QR codes as one path of an SVG: no image, no data URL, drawn in the page's own colours."""

from typing import NamedTuple

QUIET = 4
"""Modules of empty border that scanners need."""


class Picture(NamedTuple):
    """A path of squares, one unit each, and the width of the whole."""

    path: str
    size: int


def qr_path(text: str) -> Picture:
    """Draw a text as a QR code."""
    import qrcode

    code = qrcode.QRCode(border=QUIET)
    code.add_data(text)
    code.make(fit=True)
    rows = code.get_matrix()
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    )
    return Picture(path, len(rows))
