"""Access tokens of services, kept in memory for a while and up to a number."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

# A token of Wallabag lasts an hour; it is used for less.
TOKEN_LIFETIME = timedelta(minutes=30)
MOST_TOKENS = 1_000


class ServiceToken(NamedTuple):
    token: str
    until: datetime


@dataclass(frozen=True, slots=True)
class ServiceTokens:
    """Tokens by a key of their service, the oldest first. Those that have expired, and the oldest beyond `most`, go."""

    most: int = MOST_TOKENS
    _kept: dict[str, ServiceToken] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str, now: datetime) -> str | None:
        kept = self._kept.get(key)
        return kept.token if kept is not None and kept.until > now else None

    def put(self, key: str, token: str, now: datetime) -> None:
        self.forget(key)
        self._kept[key] = ServiceToken(token, now + TOKEN_LIFETIME)
        while len(self._kept) > self.most or self._oldest.until <= now:
            del self._kept[next(iter(self._kept))]

    def forget(self, key: str) -> None:
        self._kept.pop(key, None)

    @property
    def _oldest(self) -> ServiceToken:
        return next(iter(self._kept.values()))
