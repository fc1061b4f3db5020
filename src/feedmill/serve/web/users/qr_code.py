"""Draws QR codes, for the camera of a phone."""

from markupsafe import Markup

from feedmill.optional_imports import import_by_name

# Imported with the first code that is drawn.
MAKE_QR_CODE = "segno:make"


def draw_qr_code(text: str) -> Markup:
    """An inline SVG of the text."""
    drawn: str = import_by_name(MAKE_QR_CODE)(text, error="m", micro=False).svg_inline(scale=4, border=2)
    return Markup(drawn)  # noqa: S704 - segno writes nothing of the text but squares
