"""A clock for tests of time limits: it moves on by a second each time that it is asked."""

from dataclasses import dataclass


@dataclass
class CountingClock:
    seconds: float = 0

    def __call__(self) -> float:
        self.seconds += 1
        return self.seconds
