"""What each answer means for an image."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.archive.images.file_types import PNG
from feedmill.archive.images.judge_download import judge_response
from feedmill.model.fetch_outcome import (
    Deferred,
    FetchOutcome,
    Freshness,
    Gone,
    HttpError,
    Refused,
    Response,
    Retryable,
    Throttled,
    Validators,
)
from feedmill.model.image import DownloadedImage, ImageDownloadFailed
from tests.archive.images import sample_images

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
MINUTES, HOUR, DAY = timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24)
URL = ("https://example.org/a.png", "https://example.org/a.png")
TIMEOUT = Retryable(*URL, "timeout", "too slow")


def answered(body: bytes, content_type: str = "image/png") -> Response:
    return Response(*URL, 200, {}, body, content_type, Validators(), Freshness(), None, True, 1, NOW, timedelta())


def again(
    wait: timedelta | None, outcome: FetchOutcome, attempts: int = 0, *, counted: bool = True, offline: bool = False
) -> bool:
    verdict = judge_response(outcome, attempts, NOW, offline=offline)
    at = None if wait is None else NOW + wait
    return isinstance(verdict, ImageDownloadFailed) and (verdict.again_at, verdict.counted) == (at, counted)


def test_an_image_is_one_whatever_the_server_calls_it() -> None:
    for content_type in ("image/png", "text/html", ""):
        assert judge_response(answered(sample_images.PNG, content_type), 0, NOW) == DownloadedImage(
            PNG, sample_images.PNG
        )


def test_the_third_attempt_is_the_last_and_the_waits_grow() -> None:
    assert again(MINUTES, TIMEOUT, 0)
    assert again(HOUR, TIMEOUT, 1)
    assert again(None, TIMEOUT, 2)


@pytest.mark.parametrize("outcome", [Gone(*URL), HttpError(*URL, 404)])
def test_what_the_server_says_is_not_there_is_given_up_at_once(outcome: FetchOutcome) -> None:
    assert again(None, outcome)


@pytest.mark.parametrize("kind", ["address", "port", "scheme", "url", "too_large"])
def test_what_breaks_a_rule_of_ours_is_given_up_at_once(kind: str) -> None:
    assert again(None, Refused(*URL, kind, "no"))  # type: ignore[arg-type]


def test_svg_is_given_up_at_once() -> None:
    assert again(None, answered(sample_images.SVG, "image/svg+xml"))


@pytest.mark.parametrize(
    "outcome",
    [HttpError(*URL, 403), Refused(*URL, "certificate", "expired"), answered(sample_images.PAGE), answered(b"")],
)
def test_what_minutes_will_not_mend_waits_for_a_day(outcome: FetchOutcome) -> None:
    assert again(DAY, outcome)
    assert again(None, outcome, 2)


def test_a_turn_that_never_came_is_not_an_attempt() -> None:
    assert again(HOUR, Deferred(*URL, NOW + HOUR), 2, counted=False)


def test_a_server_that_wants_a_rest_gets_it() -> None:
    assert again(2 * HOUR, Throttled(*URL, 429, "domain", None, NOW + 2 * HOUR))
    assert again(MINUTES, Throttled(*URL, 503, "url", None, NOW))


def test_nothing_counts_while_our_own_network_is_down() -> None:
    assert again(MINUTES, TIMEOUT, 2, counted=False, offline=True)
    assert again(None, Retryable(*URL, "http_5xx", "500", 500), 2, offline=True)


def test_an_image_on_a_blocked_host_waits_until_the_block_is_lifted() -> None:
    assert again(DAY, Refused(*URL, "blocked", "its host is blocked by an admin"), 2, counted=False)
