"""Outages in the log: one line each at the beginning and at the end."""

import pytest
from structlog.testing import capture_logs

from feedmill.dependency_outages import DependencyOutages, dependency_of
from feedmill.errors import (
    BlobMissing,
    CoordinationUnavailable,
    DatabaseUnavailable,
    EngineUnavailable,
    InfrastructureError,
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_outage_is_logged_when_it_begins_and_when_it_ends_with_its_length_and_failures() -> None:
    clock = Clock()
    outages = DependencyOutages(clock)
    with capture_logs() as logged:
        for _ in range(272):
            outages.failed("refresh_feeds", DatabaseUnavailable("no route"))
        outages.failed("fill_pools", DatabaseUnavailable("no route"))
        clock.now = 12.34
        outages.worked("refresh_feeds")
        outages.worked("refresh_feeds")

    loud = [line for line in logged if line["log_level"] != "debug"]
    assert loud == [
        {
            "event": "outage_began",
            "log_level": "error",
            "dependency": "database",
            "affected": "refresh_feeds",
            "reason": "no route",
        },
        {
            "event": "outage_ended",
            "log_level": "warning",
            "dependency": "database",
            "seconds": 12.3,
            "failures": 273,
            "affected": ["fill_pools", "refresh_feeds"],
        },
    ]


def test_work_that_was_not_affected_does_not_end_an_outage() -> None:
    outages = DependencyOutages()
    outages.failed("refresh_feeds", DatabaseUnavailable("no route"))

    with capture_logs() as logged:
        outages.worked("show_presence")

    assert logged == []


@pytest.mark.parametrize(
    ("error", "dependency"),
    [
        (DatabaseUnavailable("x"), "database"),
        (BlobMissing("x"), "objects"),
        (EngineUnavailable("x"), "redis"),
        (CoordinationUnavailable("x"), "redis"),
        (InfrastructureError("x"), "own"),
    ],
)
def test_an_outage_has_the_name_that_health_has_for_its_dependency(error: InfrastructureError, dependency: str) -> None:
    assert dependency_of(error) == dependency
