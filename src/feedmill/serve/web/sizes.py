"""Numbers of bytes as a person reads them; the units are the same in every language."""

UNITS = ("B", "kB", "MB", "GB", "TB")


def size_in_words(size: float) -> str:
    """`640 B`, `12.3 kB`, `4.1 MB`: three digits at most, in steps of a thousand."""
    for unit in UNITS[:-1]:
        if size < 1000:
            return _three_digits(size, unit)
        size /= 1000
    return _three_digits(size, UNITS[-1])


def _three_digits(size: float, unit: str) -> str:
    number = f"{size:.0f}" if unit == "B" or size >= 100 else f"{size:.1f}".removesuffix(".0")
    return f"{number}\N{NO-BREAK SPACE}{unit}"
