"""How much two sketches have in common: titles, first words, texts, numbers."""

from enum import Enum
from functools import cached_property
from itertools import pairwise
from operator import eq

from feedmill.collect.stories.sketch import DIGIT_BIT, Sketch

Words = tuple[int, ...]

# Words that a site adds to a title: its name, "Update:", "Video".
_MAX_ADDED_WORDS = 5
_SIMILAR_TITLE = 0.3


class Titles(Enum):
    """How two titles relate. EXTENDED: one has a few words more, before or after, and none of them a number."""

    EQUAL = 1
    EXTENDED = 2
    SIMILAR = 3
    DIFFERENT = 4
    MISSING = 5


class Comparison:
    """What two sketches have in common. Each property is computed when it is asked for: mostly the first ones decide.

    Shares are between 0 and 1; 0 where one of the two has no text.
    """

    def __init__(self, one: Sketch, other: Sketch) -> None:
        self._one, self._other = one, other
        self.title_length = min(one.title_length, other.title_length)
        self.text_count = min(one.text_count, other.text_count)
        self.longer_count = max(one.text_count, other.text_count)

    @cached_property
    def titles(self) -> Titles:
        return _compare_titles(self._one.title, self._other.title)

    @cached_property
    def lead(self) -> float:
        """The share of the pairs of first words of the one with fewer."""
        return _lead_overlap(self._one.lead, self._other.lead)

    @cached_property
    def numbers(self) -> float:
        """The share of the numbers among the first words."""
        return _number_overlap(self._one.lead, self._other.lead)

    @cached_property
    def resemblance(self) -> float:
        """The estimated share of groups of three words that both texts have."""
        return _resemblance(self._one.minima, self._other.minima)

    @property
    def containment(self) -> float:
        """The estimated share of the shorter text that is in the longer one."""
        common = self.resemblance / (1 + self.resemblance) * (self.text_count + self.longer_count)
        return min(common / self.text_count, 1.0) if self.text_count else 0.0

    @property
    def numbered_apart(self) -> bool:
        """Whether the titles have other numbers."""
        return _have_other_numbers(self._one.title, self._other.title)

    @property
    def swapped(self) -> bool:
        """Whether each title has a word that the other title lacks, and so have the texts.

        So it is in a template that is filled in twice.
        """
        return _has_own_words(self._one, self._other) and _has_own_words(self._other, self._one)


def _has_own_words(one: Sketch, other: Sketch) -> bool:
    """Whether a word of the title is in the own first words, and neither in the other title nor in its first words."""
    return not ({*one.title} & {*one.lead}).issubset((*other.title, *other.lead))


def _compare_titles(one: Words, other: Words) -> Titles:
    if not one or not other:
        return Titles.MISSING
    if one == other:
        return Titles.EQUAL
    short, long = sorted((one, other), key=len)
    if _extends(short, long):
        return Titles.EXTENDED
    common = len({*one} & {*other}) / len({*one, *other})
    return Titles.SIMILAR if common >= _SIMILAR_TITLE else Titles.DIFFERENT


def _extends(short: Words, long: Words) -> bool:
    added = len(long) - len(short)
    if not 0 < added <= min(_MAX_ADDED_WORDS, len(short)):
        return False
    if long[:-added] == short:
        extra = long[-added:]
    elif long[added:] == short:
        extra = long[:added]
    else:
        return False
    return not any(word & DIGIT_BIT for word in extra)


def _have_other_numbers(one: Words, other: Words) -> bool:
    numbers, other_numbers = ([word for word in title if word & DIGIT_BIT] for title in (one, other))
    return bool(numbers and other_numbers) and numbers != other_numbers


def _lead_overlap(one: Words, other: Words) -> float:
    pairs, other_pairs = {*pairwise(one)}, {*pairwise(other)}
    least = min(len(pairs), len(other_pairs))
    return len(pairs & other_pairs) / least if least else 0.0


def _number_overlap(one: Words, other: Words) -> float:
    numbers, other_numbers = ({word for word in lead if word & DIGIT_BIT} for lead in (one, other))
    least = min(len(numbers), len(other_numbers))
    return len(numbers & other_numbers) / least if least else 1.0


def _resemblance(one: bytes, other: bytes) -> float:
    if not one or len(one) != len(other):
        return 0.0
    equal: int = sum(map(eq, one, other))
    return equal / len(one)
