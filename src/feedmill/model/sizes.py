"""Numbers of bytes as a person reads them; the units are the same in every language."""

UNITS = ("B", "kB", "MB", "GB", "TB")
TOGETHER = "\N{NO-BREAK SPACE}"


def size_in_words(size: float, space: str = TOGETHER) -> str:
    """`640 B`, `12.3 kB`, `4.1 MB`: three digits at most, in steps of a thousand."""
    units = iter(UNITS)
    unit = next(units)
    while size >= 1000 and unit != UNITS[-1]:
        size, unit = size / 1000, next(units)
    number = f"{size:.0f}" if unit == "B" or size >= 100 else f"{size:.1f}".removesuffix(".0")
    return f"{number}{space}{unit}"
