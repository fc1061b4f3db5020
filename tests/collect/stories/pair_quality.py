"""How well the same stories are found among labelled pairs: precision and recall."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from feedmill.collect.stories.same_story import is_same_story
from feedmill.collect.stories.sign_entry import sign_entry
from feedmill.model.stories.signature import StoryEntry
from tests.collect.stories.labelled_pairs import LabelledPair


@dataclass(frozen=True, slots=True)
class Quality:
    """Pairs with whether they were found."""

    judged: Sequence[tuple[LabelledPair, bool]]

    @property
    def precision(self) -> float:
        found = [pair.same for pair, is_found in self.judged if is_found]
        return sum(found) / max(len(found), 1)

    @property
    def recall(self) -> float:
        same = [is_found for pair, is_found in self.judged if pair.same]
        return sum(same) / len(same)

    @property
    def recall_of_hard(self) -> float:
        return Quality([(pair, is_found) for pair, is_found in self.judged if pair.hard]).recall

    def __str__(self) -> str:
        wrong = [
            f"{'missed' if pair.same else 'wrong'}: {pair.kind} | {pair.source}"
            for pair, is_found in self.judged
            if pair.same != is_found
        ]
        return "\n".join([f"precision {self.precision:.3f}, recall {self.recall:.3f}", *wrong])


def judge_pairs(pairs: Iterable[LabelledPair]) -> Quality:
    return Quality([(pair, is_found(pair)) for pair in pairs])


def is_found(pair: LabelledPair) -> bool:
    """Whether the keys of one entry find the other, and their sketches are the same story."""
    one, other = (sign_entry(each.entry) for each in (pair.one, pair.other))
    first, second = (
        StoryEntry(number, each.feed_id, each.at, signature.sketch)
        for number, (each, signature) in enumerate(((pair.one, one), (pair.other, other)))
    )
    return not {*one.keys}.isdisjoint(other.keys) and is_same_story(first, second)
