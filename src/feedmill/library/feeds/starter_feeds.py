"""Starter feeds by topic, from `starters.toml`."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class StarterFeed:
    title: str
    url: str
    language: str


@dataclass(frozen=True, slots=True)
class StarterTopic:
    """`key` is what the pages translate."""

    key: str
    feeds: Sequence[StarterFeed]

    @property
    def urls(self) -> list[str]:
        return [feed.url for feed in self.feeds]


def _read() -> tuple[StarterTopic, ...]:
    listed = tomllib.loads((files("feedmill.library.feeds") / "starters.toml").read_text("utf-8"))
    return tuple(StarterTopic(key, [StarterFeed(**feed) for feed in topic["feeds"]]) for key, topic in listed.items())


TOPICS = _read()
