"""Formats counts and sizes for the terminal."""

from feedmill.i18n.byte_sizes import format_bytes


def pluralize(n: int, one: str, many: str = "") -> str:
    """`1 feed`, `2 feeds`, `2 entries`."""
    return f"{n} {one if n == 1 else many or f'{one}s'}"


def format_size(size: float) -> str:
    """`12.3 kB`, with an ordinary space, which `grep` finds."""
    return format_bytes(size, " ")
