"""How much two sketches have in common: titles, first words, texts, numbers."""

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Shares between 0 and 1; 0 where one of the two has no text.

    `lead` is the share of the pairs of first words of the one with fewer, `numbers` that of the numbers among them.
    `resemblance` is the estimated share of groups of three words that both texts have, `containment` the share of the
    shorter text that is in the longer one. `text_count` is that of the shorter text. `numbered_apart`: the titles have
    other numbers. `swapped`: each title has a word that the other title lacks, and so have the texts, as in a template
    that is filled in twice.
    """

    titles: Titles
    title_length: int
    lead: float
    numbers: float
    resemblance: float
    containment: float
    text_count: int
    longer_count: int
    numbered_apart: bool
    swapped: bool


def compare_sketches(one: Sketch, other: Sketch) -> Comparison:
    resemblance = _resemblance(one.minima, other.minima)
    least = min(one.text_count, other.text_count)
    common = resemblance / (1 + resemblance) * (one.text_count + other.text_count)
    return Comparison(
        titles=_compare_titles(one.title, other.title),
        title_length=min(one.title_length, other.title_length),
        lead=_lead_overlap(one.lead, other.lead),
        numbers=_number_overlap(one.lead, other.lead),
        resemblance=resemblance,
        containment=min(common / least, 1.0) if least else 0.0,
        text_count=least,
        longer_count=max(one.text_count, other.text_count),
        numbered_apart=_have_other_numbers(one.title, other.title),
        swapped=_has_own_words(one, other) and _has_own_words(other, one),
    )


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
    return sum([a == b for a, b in zip(one, other, strict=True)]) / len(one)
