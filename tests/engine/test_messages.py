"""Jobs as messages: few, plain, and the same when they come out again."""

import json

from feedmill.engine.celery_app import VISIBILITY_TIMEOUT, make_celery
from feedmill.engine.celery_tasks import MAX_RETRY_SECONDS
from feedmill.engine.jobs import ArchiveImages, BatchComplete, Job, Priority, RefreshFeed, ScanComplete
from feedmill.engine.messages import FEEDS_PER_MESSAGE, jobs_of_chunk, message_of, messages_of
from feedmill.engine.task_names import DEFAULT_QUEUE, HIGH_QUEUE


def test_a_scan_is_sent_in_chunks() -> None:
    jobs = [RefreshFeed(number, "token", lane=f"host{number % 300}") for number in range(1000)]

    messages = messages_of(jobs, Priority.SCHEDULED)

    assert len(messages) == 1000 / FEEDS_PER_MESSAGE
    assert {message.queue for message in messages} == {DEFAULT_QUEUE}


def test_feeds_of_one_host_travel_together() -> None:
    jobs = [RefreshFeed(number, "token", lane=f"host{number % 8}") for number in range(16 * FEEDS_PER_MESSAGE // 5)]

    chunks = [set(message.arguments["feeds"]) for message in messages_of(jobs, Priority.SCHEDULED)]

    assert max(map(len, chunks)) <= 3


def test_a_chunk_has_one_claim_and_one_batch() -> None:
    jobs = [RefreshFeed(1, "a"), RefreshFeed(2, "b"), RefreshFeed(3, "a", 5), RefreshFeed(4, "a")]

    chunks = [message.arguments for message in messages_of(jobs, Priority.MANUAL)]

    assert [(chunk["token"], chunk["batch_id"], chunk["feeds"]) for chunk in chunks] == [
        ("a", None, {"": [1, 4]}),
        ("a", 5, {"": [3]}),
        ("b", None, {"": [2]}),
    ]


def test_a_chunk_comes_out_as_it_went_in() -> None:
    jobs = [RefreshFeed(number, "token", 7, lane) for number, lane in enumerate(["a", "a", "b", ""])]

    [message] = messages_of(jobs, Priority.SCHEDULED)
    arrived = json.loads(json.dumps(message.arguments))

    assert set(jobs_of_chunk(arrived["feeds"], arrived["token"], arrived["batch_id"])) == set(jobs)


def test_what_a_person_waits_for_has_a_queue_of_its_own() -> None:
    jobs: list[tuple[Job, Priority]] = [
        (RefreshFeed(1), Priority.MANUAL),
        (BatchComplete(1), Priority.SCHEDULED),
        (ScanComplete("x"), Priority.SCHEDULED),
        (RefreshFeed(1), Priority.SCHEDULED),
        (ArchiveImages(), Priority.MANUAL),
    ]

    assert [message_of(job, priority).queue for job, priority in jobs] == [HIGH_QUEUE] * 3 + [DEFAULT_QUEUE] * 2


def test_messages_are_json_and_acknowledged_late_and_no_wait_is_longer_than_they_are_held() -> None:
    conf = make_celery("redis://localhost").conf

    assert (conf.task_serializer, conf.result_serializer, conf.accept_content) == ("json", "json", ["json"])
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost) == (True, True)
    assert conf.result_expires.total_seconds() == 24 * 3600
    assert VISIBILITY_TIMEOUT.total_seconds() > MAX_RETRY_SECONDS
