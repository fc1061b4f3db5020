"""Arguments of tasks as other programs send them."""

import pytest

from feedmill.engine.jobs import Priority
from feedmill.engine.task_arguments import known_arguments, named_arguments, read_feed_ids, read_id, read_priority
from feedmill.model.max_id import MAX_ID


def test_positional_arguments_have_the_order_of_the_documents() -> None:
    sent = ["111", "https://example.org/rss.xml", "Example", "user-abc", 30, "new_feed", True, "one too many"]

    named = named_arguments("refresh_feed", sent[:1], {"priority": "normal"}), named_arguments("refresh_feed", sent, {})

    assert named[0] == {"feed_id": "111", "priority": "normal"}
    assert (named[1]["feed_id"], named[1]["refresh_interval"], named[1]["priority"]) == ("111", 30, "new_feed")


def test_arguments_that_a_task_does_not_know_are_left_out() -> None:
    def work(task: object, feed_id: int) -> None: ...

    assert known_arguments(work, {"feed_id": 1, "feed_url": "…", "task": "forged"}) == {"feed_id": 1}


@pytest.mark.parametrize(
    ("given", "read"),
    [(7, 7), ("7", 7), (0, 0), (str(MAX_ID), MAX_ID), (MAX_ID + 1, None), ("9" * 5000, None), ("٧", None)]
    + [(value, None) for value in (-1, True, 1.0, None, "", "+7", "a1b2c3d4-e5f6-7890-abcd-ef1234567890", [7])],
)
def test_an_id_is_a_number_or_its_digits(given: object, read: int | None) -> None:
    assert read_id(given) == read


def test_a_priority_is_a_word_or_a_number() -> None:
    words = [read_priority(word) for word in ("manual", "new_feed", "Normal", "whatever")]

    assert words == [Priority.MANUAL, Priority.MANUAL, Priority.SCHEDULED, Priority.SCHEDULED]
    assert [read_priority(int(priority)) for priority in Priority] == list(Priority)


def test_feeds_are_ids_or_rows_with_an_id() -> None:
    assert read_feed_ids([1, "2", {"id": "3", "url": "…"}, {"feed_id": 4}, {"url": "…"}, "x", None]) == [1, 2, 3, 4]
    assert (read_feed_ids("12"), read_feed_ids(None)) == ([], [])
