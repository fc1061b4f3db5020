"""A refresh with many matching filters takes as many statements as with two: D1 limits their number."""

from datetime import UTC, datetime

from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.database import Step
from feedmill.store.filters.apply_filters import LabelledEntry, steps_to_block_entries, steps_to_label_entries
from feedmill.store.filters.record_matches import MatchedFilter, steps_to_record_matches
from feedmill.store.stories.drop_read_copies import steps_to_drop_unread_of

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
GUIDS = ("a", "b")
WITH_TARGETS = (FilterAction.LABEL, FilterAction.POOL, FilterAction.SAVE)


def matched(number: int) -> MatchedFilter:
    """A filter of a subscriber of its own, with every action."""
    changes = {(action, number if action in WITH_TARGETS else 0): GUIDS for action in FilterAction}
    return MatchedFilter(number, number, number, GUIDS, changes)


def statement_count(steps: list[Step]) -> int:
    """Each step has one set of parameters, so that each is one statement."""
    assert all(isinstance(step.params, dict) for step in steps)
    return len(steps)


def steps_for(filters: int) -> list[Step]:
    return steps_to_record_matches(1, "token", [matched(number) for number in range(1, filters + 1)], NOW, NOW)


def test_many_filters_need_as_many_statements_as_two() -> None:
    assert statement_count(steps_for(200)) == statement_count(steps_for(2)) <= 25


def test_the_rules_of_many_subscribers_need_as_many_statements_as_those_of_one() -> None:
    blocked = steps_to_block_entries(1, dict.fromkeys(range(200), GUIDS))
    labelled = steps_to_label_entries(1, [LabelledEntry(number, number, "a") for number in range(200)])

    read_before = steps_to_drop_unread_of(1, dict.fromkeys(range(200), GUIDS))

    assert (statement_count(blocked), statement_count(labelled), statement_count(read_before)) == (2, 1, 2)
