"""Formats numbers of bytes: `640 B`, `12.3 kB`."""

UNITS = ("B", "kB", "MB", "GB", "TB")
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def format_bytes(size: float, space: str = NO_BREAK_SPACE) -> str:
    """`640 B`, `12.3 kB`, `4.1 MB`: three digits at most, in steps of a thousand."""
    units = iter(UNITS)
    unit = next(units)
    while size >= 1000 and unit != UNITS[-1]:
        size, unit = size / 1000, next(units)
    number = f"{size:.0f}" if unit == "B" or size >= 100 else f"{size:.1f}".removesuffix(".0")
    return f"{number}{space}{unit}"
