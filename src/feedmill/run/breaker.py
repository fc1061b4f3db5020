"""When our own storage fails, feeds are left alone for a while: they would be fetched for nothing."""

from datetime import datetime, timedelta

FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=10)


class Breaker:
    """Closed while storage works; each failure after a pause doubles the next pause."""

    def __init__(self) -> None:
        self._failures = 0
        self._pause: tuple[datetime, datetime] | None = None

    def worked(self) -> None:
        self._failures = 0
        self._pause = None

    def failed(self, now: datetime) -> None:
        if self.is_open(now):
            return
        self._pause = now, now + min(FIRST_PAUSE * 2**self._failures, LONGEST_PAUSE)
        self._failures = min(self._failures + 1, 20)

    def is_open(self, now: datetime) -> bool:
        """Whether no new work should be started. A clock that was set back ends the pause."""
        return self._pause is not None and self._pause[0] <= now < self._pause[1]
