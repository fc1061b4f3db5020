"""Feeds to begin with, by topic, as `starters.toml` lists them."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Starter:
    title: str
    url: str
    language: str


@dataclass(frozen=True, slots=True)
class Topic:
    """`key` is what the pages translate."""

    key: str
    feeds: Sequence[Starter]

    @property
    def urls(self) -> list[str]:
        return [feed.url for feed in self.feeds]


def _read() -> tuple[Topic, ...]:
    listed = tomllib.loads((files("feedmill.library") / "starters.toml").read_text("utf-8"))
    return tuple(Topic(key, [Starter(**feed) for feed in topic["feeds"]]) for key, topic in listed.items())


TOPICS = _read()
