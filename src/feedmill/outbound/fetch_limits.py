"""Limits of a request: size, times, redirects."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`max_bytes` counts decoded bytes, `read` is the longest wait for data, `total` leaves out the wait for turns."""

    max_bytes: int = 15_000_000
    connect: timedelta = timedelta(seconds=5)
    read: timedelta = timedelta(seconds=20)
    total: timedelta = timedelta(seconds=30)
    redirects: int = 5
