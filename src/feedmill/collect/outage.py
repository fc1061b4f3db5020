"""Is it them or us? When most hosts can't be reached at once, it is our own network that is down."""

from collections import deque
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from feedmill.model.outcome import Deferred, Outcome, Retryable

WINDOW = timedelta(minutes=5)
FEWEST_HOSTS = 5
MOST_REACHED = 0.2
OUR_KINDS = frozenset({"dns", "connect", "timeout"})


class OutageGuard:
    """Remembers which hosts answered in the last minutes."""

    def __init__(self) -> None:
        self._seen: deque[tuple[datetime, str, bool]] = deque(maxlen=10_000)

    def saw(self, url: str, outcome: Outcome, now: datetime) -> None:
        """Takes note of what came of asking `url`."""
        if not isinstance(outcome, Deferred):
            reached = not (isinstance(outcome, Retryable) and outcome.kind in OUR_KINDS)
            self._seen.append((now, urlsplit(url).hostname or "", reached))

    def is_down(self, now: datetime) -> bool:
        """Whether hardly any of several hosts that were tried lately could be reached."""
        # What is later than now was seen before the clock was set back.
        while self._seen and not now - WINDOW <= self._seen[0][0] <= now:
            self._seen.popleft()
        latest = {host: reached for at, host, reached in self._seen if at <= now}
        return len(latest) >= FEWEST_HOSTS and sum(latest.values()) <= MOST_REACHED * len(latest)
