"""Detects an outage of our own network: hardly any host could be reached lately."""

from datetime import datetime, timedelta

from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Refused, Retryable
from feedmill.model.hosts import host_of

WINDOW = timedelta(minutes=5)
FEWEST_HOSTS = 5
MOST_REACHED = 0.2
# What we refuse before anybody is asked.
NOT_SENT = frozenset({"url", "scheme", "blocked", "address", "port", "options"})


class OutageDetector:
    """Remembers which hosts answered in the last minutes."""

    def __init__(self) -> None:
        # By host, the one that was asked longest ago first.
        self._latest: dict[str, tuple[datetime, bool]] = {}

    def saw(self, url: str, outcome: FetchOutcome, now: datetime) -> None:
        """Takes note of what came of asking `url`."""
        if isinstance(outcome, Deferred) or (isinstance(outcome, Refused) and outcome.kind in NOT_SENT):
            return
        host = host_of(url)
        self._latest.pop(host, None)
        self._latest[host] = now, not (isinstance(outcome, Retryable) and outcome.may_be_ours)
        self._forget(now)

    def is_down(self, now: datetime) -> bool:
        """Whether hardly any of several hosts that were tried lately could be reached."""
        # What is later than now was seen before the clock was set back.
        lately = [reached for at, reached in self._latest.values() if now - WINDOW <= at <= now]
        return len(lately) >= FEWEST_HOSTS and sum(lately) <= MOST_REACHED * len(lately)

    def _forget(self, now: datetime) -> None:
        while self._latest:
            oldest = next(iter(self._latest))
            if now - WINDOW <= self._latest[oldest][0] <= now:
                return
            del self._latest[oldest]
