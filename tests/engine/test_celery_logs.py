"""A broker that is away is one outage in the log, however many of Celery's modules notice it."""

import logging
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from feedmill.dependency_outages import DEPENDENCY_OUTAGES, REDIS
from feedmill.engine.celery_logs import log_as_outages

ABOUT_THE_BROKER = [
    ("celery.worker.consumer.consumer", "consumer: Cannot connect to redis://127.0.0.1:1//: Error 111 connecting."),
    ("celery.worker.consumer.consumer", "consumer: Connection to broker lost. Trying to re-establish the connection."),
    ("celery.beat", "beat: Connection error: Error 111 connecting to 127.0.0.1:1. Trying again in 2.0 seconds..."),
    ("celery.app.amqp", "Retrying refused callback publish for 'on_scan_complete' (1/1): network:ConnectionError"),
    ("celery.app.amqp", "Giving up refused callback publish for 'on_scan_complete': network:ConnectionError"),
    ("celery.backends.redis", "Connection to Redis lost: Retry (1/1) now."),
    ("celery.backends.redis", "Chord callback for 'c' raised: OperationalError('Error 111 connecting to ::1:1.')"),
    ("celery.backends.base", "Chord 'c' raised: network:ConnectionError"),
    ("celery.worker", "Unrecoverable error: OperationalError('Error 32 while writing to socket. Broken pipe.')"),
    ("celery.worker", "Unrecoverable error: TimeoutError('Timeout reading from socket')"),
]


class Written(logging.Handler):
    """What reaches the process's log."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def written() -> Iterator[Written]:
    celery, root, log = logging.getLogger("celery"), logging.getLogger(), Written()
    before = celery.handlers[:], celery.propagate
    log_as_outages()
    root.addHandler(log)
    # Tests of a Redis that is away may have left it so.
    DEPENDENCY_OUTAGES.answered(REDIS)
    yield log
    root.removeHandler(log)
    celery.handlers[:], celery.propagate = before
    DEPENDENCY_OUTAGES.answered(REDIS)


@pytest.mark.parametrize(("logger", "message"), ABOUT_THE_BROKER)
def test_a_line_of_celery_about_its_broker_becomes_an_outage(logger: str, message: str, written: Written) -> None:
    with capture_logs() as ours:
        logging.getLogger(logger).error(message)

    assert [line["event"] for line in ours] == ["outage_began"]
    assert written.messages == []


def test_any_other_line_of_celery_is_logged_once(written: Written) -> None:
    logging.getLogger("celery.worker").error("Received unregistered task of type 'x'.")

    assert written.messages == ["Received unregistered task of type 'x'."]
