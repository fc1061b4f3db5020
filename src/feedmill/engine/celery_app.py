"""The Celery app and its settings."""

from datetime import timedelta
from typing import Any

from celery import Celery  # type: ignore[import-untyped]
from celery.backends.redis import RedisBackend  # type: ignore[import-untyped]
from kombu.entity import Exchange, Queue

from feedmill.engine.celery_logs import log_as_outages
from feedmill.engine.task_names import DEFAULT_QUEUE, HIGH_QUEUE, MAINTENANCE, QUEUES, SCAN_DUE_FEEDS

RESULT_EXPIRY = timedelta(hours=24)
# Messages that a killed worker had taken are delivered again after this; no countdown may be longer.
VISIBILITY_TIMEOUT = timedelta(seconds=300)
RESTORE_EVERY = timedelta(seconds=5)
SCAN_EVERY = timedelta(minutes=1)
MAINTENANCE_EVERY = timedelta(minutes=10)
# A broker that does not answer within this is unavailable.
RESPONSE_TIMEOUT = 2
# One retry on a new connection: the old one may have been closed while it was idle.
PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2}


def make_celery(redis_url: str) -> Celery:
    """Creates the Celery app with this Redis as broker and result backend. JSON only: a message is never code."""
    log_as_outages()
    results = f"feedmill.engine.celery_app:CeleryResultBackend+{redis_url}"
    celery = Celery("feedmill", broker=redis_url, backend=results, set_as_current=False)
    celery.conf.update(
        task_serializer="json",
        result_serializer="json",
        accept_content=["json"],
        task_default_queue=DEFAULT_QUEUE,
        # The default exchange needs no bindings, which would be lost when Redis is wiped.
        task_default_exchange="",
        task_default_routing_key=DEFAULT_QUEUE,
        task_queues=[_queue(name) for name in QUEUES],
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        result_expires=RESULT_EXPIRY,
        beat_schedule=_beat_schedule(),
        timezone="UTC",
        **_broker(),
        **_results(),
    )
    return celery


def _queue(name: str) -> Queue:
    return Queue(name, Exchange(""), routing_key=name)  # type: ignore[no-untyped-call]


def _beat_schedule() -> dict[str, dict[str, object]]:
    """A message that has not started when the next is sent expires: the next one does the whole work."""
    times = {SCAN_DUE_FEEDS: SCAN_EVERY, MAINTENANCE: MAINTENANCE_EVERY}
    return {
        name: {"task": name, "schedule": every, "options": {"queue": HIGH_QUEUE, "expires": every.total_seconds()}}
        for name, every in times.items()
    }


def _broker() -> dict[str, object]:
    return {
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # Running tasks store what they fetched; a message delivered again finds its claims gone.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_TIMEOUT.total_seconds(),
            # With Celery's own settings redelivery takes five times the visibility timeout.
            "unacked_restore_throttle": 1,
            "unacked_restore_interval": RESTORE_EVERY.total_seconds(),
            "socket_connect_timeout": RESPONSE_TIMEOUT,
            # Without it, sending to a broker that hangs would block forever.
            "socket_timeout": RESPONSE_TIMEOUT,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        "task_publish_retry_policy": PUBLISH_RETRY_POLICY,
    }


def _results() -> dict[str, object]:
    return {
        "redis_socket_connect_timeout": RESPONSE_TIMEOUT,
        "redis_socket_timeout": RESPONSE_TIMEOUT,
        "result_backend_transport_options": {"retry_policy": PUBLISH_RETRY_POLICY},
    }


class CeleryResultBackend(RedisBackend):  # type: ignore[misc]
    """A result backend that only writes: outcomes are in the database, results are for other programs."""

    def on_task_call(self, producer: Any, task_id: str) -> None:
        """Does not subscribe: that would be a Redis channel for each message."""

    def add_pending_result(self, result: Any, weak: bool = False, start_drainer: bool = True) -> Any:
        """Does not wait: otherwise each part of a chord would be subscribed to."""
        return result

    def remove_pending_result(self, result: Any) -> Any:
        return result
