"""Celery as it is used here: its settings."""

from datetime import timedelta

from celery import Celery  # type: ignore[import-untyped]
from kombu.entity import Exchange, Queue

from feedmill.engine.names import CHORES, DEFAULT, HIGH, QUEUES, SCAN

RESULTS_FOR = timedelta(hours=24)
# What a killed worker had taken is delivered again after this, and no countdown may be longer.
VISIBILITY = timedelta(seconds=300)
RESTORE_EVERY = timedelta(seconds=5)
SCAN_EVERY = timedelta(minutes=1)
CHORES_EVERY = timedelta(minutes=10)
# A broker that does not answer within this is away.
ANSWER_WITHIN = 5


def make_celery(redis_url: str) -> Celery:
    """Celery on this Redis, for broker and results. JSON only: a message is never code."""
    results = f"feedmill.engine.results:Results+{redis_url}"
    celery = Celery("feedmill", broker=redis_url, backend=results, set_as_current=False)
    celery.conf.update(
        task_serializer="json",
        result_serializer="json",
        accept_content=["json"],
        task_default_queue=DEFAULT,
        # The nameless exchange needs no bindings, which a Redis that was wiped would have lost.
        task_default_exchange="",
        task_default_routing_key=DEFAULT,
        task_queues=[_queue(name) for name in QUEUES],
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        result_expires=RESULTS_FOR,
        beat_schedule=_beat_schedule(),
        timezone="UTC",
        **_broker(),
        **_results(),
    )
    return celery


def _queue(name: str) -> Queue:
    return Queue(name, Exchange(""), routing_key=name)  # type: ignore[no-untyped-call]


def _beat_schedule() -> dict[str, dict[str, object]]:
    """What is not begun before its next time comes is dropped: the next one does all of it."""
    times = {SCAN: SCAN_EVERY, CHORES: CHORES_EVERY}
    return {
        name: {"task": name, "schedule": every, "options": {"queue": HIGH, "expires": every.total_seconds()}}
        for name, every in times.items()
    }


def _broker() -> dict[str, object]:
    return {
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # Whatever they have fetched, they store; a message that comes again finds its claims gone.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY.total_seconds(),
            # With Celery's own settings redelivery takes five times the visibility timeout.
            "unacked_restore_throttle": 1,
            "unacked_restore_interval": RESTORE_EVERY.total_seconds(),
            "socket_connect_timeout": ANSWER_WITHIN,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2},
    }


def _results() -> dict[str, object]:
    return {
        "redis_socket_connect_timeout": ANSWER_WITHIN,
        "redis_socket_timeout": ANSWER_WITHIN,
        "result_backend_transport_options": {
            "retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2}
        },
    }
