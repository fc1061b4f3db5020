"""A producer of refresh tasks as the second design document has it: it declares its tasks, sends them, reads results.

    refresh_task_producer.py REDIS_URL <feeds.json >results.jsonl

`feeds.json` has feeds of the producer's own table, by what it does with them. Each line of the results has the name of
the call, its result, and what Redis holds under the id of the task.
"""

import json
import sys
from typing import Any

from celery import Celery
from redis import Redis

redis_url = sys.argv[1]
app = Celery("savehub", broker=redis_url, backend=redis_url)
app.conf.update(task_serializer="json", result_serializer="json", accept_content=["json"], task_default_queue="default")
redis = Redis.from_url(redis_url, decode_responses=True)


@app.task(
    bind=True,
    name="refresh_feed",
    max_retries=3,
    default_retry_delay=2,
    retry_backoff=True,
    retry_backoff_max=60,
    retry_jitter=True,
    time_limit=120,
    soft_time_limit=90,
)
def refresh_feed(
    self: Any,
    feed_id: str,
    feed_url: str,
    feed_title: str,
    user_id: str,
    refresh_interval: int,
    priority: str = "normal",
    skip_lock: bool = False,
) -> None:
    """Runs in a worker."""


@app.task(name="schedule_user_batch_refresh")
def schedule_user_batch_refresh(user_id: str, feeds: list[dict[str, Any]]) -> None:
    """Runs in a worker."""


@app.task(name="schedule_image_processing")
def schedule_image_processing(article_ids: list[str], feed_id: str) -> None:
    """Runs in a worker."""


@app.task(name="scan_due_feeds")
def scan_due_feeds() -> None:
    """Runs in a worker; Celery beat sends it every minute."""


def on_new_feed(feed_data: dict[str, Any], user_id: str) -> Any:
    """When somebody adds a feed."""
    return refresh_feed.apply_async(
        kwargs={
            "feed_id": feed_data["id"],
            "feed_url": feed_data["url"],
            "feed_title": feed_data["title"],
            "user_id": user_id,
            "refresh_interval": feed_data.get("refresh_interval", 60),
            "priority": "new_feed",
        },
        queue="high",
    )


def on_schedule(feed: dict[str, Any], user_id: str, delay_seconds: int) -> Any:
    """When a feed is due later."""
    return refresh_feed.apply_async(
        kwargs={
            "feed_id": feed["id"],
            "feed_url": feed["url"],
            "feed_title": feed["title"],
            "user_id": user_id,
            "refresh_interval": feed["refresh_interval"],
            "priority": "normal",
        },
        countdown=delay_seconds,
        queue="default",
    )


def next_refresh(feed: dict[str, Any], user_id: str) -> Any:
    """The task that a refresh leaves behind, in the third document: without a title."""
    kwargs = {
        "feed_id": feed["id"],
        "feed_url": feed["url"],
        "user_id": user_id,
        "refresh_interval": feed["refresh_interval"],
        "priority": "normal",
    }
    return app.send_task("refresh_feed", kwargs=kwargs, countdown=1, queue="default")


def on_retry(feed: dict[str, Any], user_id: str) -> Any:
    """A retry holds the lock already, says the design."""
    row = (feed["id"], feed["url"], feed["title"], user_id, feed["refresh_interval"])
    return refresh_feed.delay(*row, "manual", skip_lock=True)


def told(call: str, task: Any) -> dict[str, Any]:
    result = task.get(timeout=60)
    key = f"celery-task-meta-{task.id}"
    return {"call": call, "result": result, "stored": json.loads(redis.get(key) or "null"), "ttl": redis.ttl(key)}


def main() -> None:
    feeds = json.load(sys.stdin)
    user_id = "user-abc-123"
    sent = {
        "new_feed": on_new_feed(feeds["new_feed"], user_id),
        "scheduled": on_schedule(feeds["scheduled"], user_id, delay_seconds=1),
        "next_refresh": next_refresh(feeds["next_refresh"], user_id),
        "retry": on_retry(feeds["retry"], user_id),
        "failing": on_new_feed(feeds["failing"], user_id),
        "deleted": on_new_feed(feeds["deleted"], user_id),
        "batch": schedule_user_batch_refresh.delay(user_id, feeds["batch"]),
        "images": schedule_image_processing.delay(["article-1", "article-2"], feeds["new_feed"]["id"]),
        "scan": scan_due_feeds.delay(),
    }
    for call, task in sent.items():
        print(json.dumps(told(call, task)))


main()
