"""Host names, and those that stand above them."""

from collections.abc import Collection, Iterator


def above(host: str) -> Iterator[str]:
    """The host itself, then each name that it is below of: `a.b.org`, `b.org`, `org`."""
    while host:
        yield host
        host = host.partition(".")[2]


def is_under(host: str, names: Collection[str]) -> bool:
    """Whether the host, or one above it, is among these names."""
    return any(name in names for name in above(host.rstrip(".")))
