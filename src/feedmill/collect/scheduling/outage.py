"""Detects an outage of our own network: hardly any host could be reached in the last minutes."""

from datetime import datetime, timedelta

from feedmill.model.fetch_outcome import Deferred, FetchOutcome, Refused, Retryable
from feedmill.model.hosts import host_of

WINDOW = timedelta(minutes=5)
FEWEST_HOSTS = 5
MOST_REACHED = 0.2
# Refused before a request is sent.
NOT_SENT = frozenset({"url", "scheme", "blocked", "address", "port", "options"})


class OutageDetector:
    """Keeps which hosts were reached in the last minutes."""

    def __init__(self) -> None:
        # By host, the least recent request first.
        self._latest: dict[str, tuple[datetime, bool]] = {}

    def record(self, url: str, outcome: FetchOutcome, now: datetime) -> None:
        """Records the outcome of a request."""
        if isinstance(outcome, Deferred) or (isinstance(outcome, Refused) and outcome.kind in NOT_SENT):
            return
        host = host_of(url)
        self._latest.pop(host, None)
        self._latest[host] = now, not (isinstance(outcome, Retryable) and outcome.may_be_ours)
        self._forget(now)

    def is_down(self, now: datetime) -> bool:
        """Whether hardly any of several hosts could be reached."""
        # Times later than now are from before the clock was set back.
        recent = [reached for at, reached in self._latest.values() if now - WINDOW <= at <= now]
        return len(recent) >= FEWEST_HOSTS and sum(recent) <= MOST_REACHED * len(recent)

    def _forget(self, now: datetime) -> None:
        while self._latest:
            oldest = next(iter(self._latest))
            if now - WINDOW <= self._latest[oldest][0] <= now:
                return
            del self._latest[oldest]
