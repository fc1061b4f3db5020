"""Prints what a long run is doing, and how much time is left."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
SAY_EVERY = 15.0


class Progress:
    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        print(f"{self.seconds:7.0f} s  {text}", flush=True)

    def begin(self, step: str) -> None:
        self.say(step)

    def count(self, step: str, total: int) -> Callable[[int], None]:
        """A function that is told how many more are done."""
        self.begin(step)
        started, done, said = time.monotonic(), 0, time.monotonic()

        def more(number: int) -> None:
            nonlocal done, said
            done += number
            now = time.monotonic()
            if now - said >= SAY_EVERY and done:
                said = now
                self.say(f"  {done / total:.0%}, {(now - started) * (total - done) / done:.0f} s left: {step}")

        return more

    def follow(self, items: Sequence[Item]) -> Iterator[Item]:
        more = self.count(f"{len(items):,} rows", len(items))
        for item in items:
            yield item
            more(1)
