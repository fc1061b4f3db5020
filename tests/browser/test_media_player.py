"""Listening to a podcast: the player stays while one reads on, and knows where it was on every device."""

import re
import struct
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser

BrowserUserMaker = Callable[..., BrowserUser]

EPISODE = "Episode 41"
# Longer than any test takes.
SECONDS, RATE = 1000, 3000
IS_PLAYING = (
    "() => { const { paused, currentTime } = document.querySelector('.dock audio'); return !paused && currentTime > 0 }"
)
AT_LEAST = "(seconds) => document.querySelector('.dock audio').currentTime >= seconds"
# By file: seconds, when that was, and whether the server has it.
ALL_SENT = (
    "() => Object.entries(localStorage).filter(([key]) => key.startsWith('feedmill.positions.'))"
    ".every(([, places]) => Object.values(JSON.parse(places)).every(([, , isSent]) => isSent))"
)


def silence() -> bytes:
    """A WAV file of `SECONDS`."""
    data = bytes([128]) * SECONDS * RATE
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE, 1, 8)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE") + form + struct.pack("<4sI", b"data", len(data)) + data
    )


SOUND = silence()


def serve_sound(page: Page) -> list[str]:
    """Answers for the podcast's host, with ranges; the addresses that were asked for."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", route.request.headers.get("range", "bytes=0-"))
        assert wanted
        first, last = int(wanted[1]), int(wanted[2] or len(SOUND) - 1)
        headers = {"Content-Type": "audio/wav", "Content-Range": f"bytes {first}-{last}/{len(SOUND)}"}
        route.fulfill(status=206, body=SOUND[first : last + 1], headers=headers | {"Accept-Ranges": "bytes"})

    page.context.route("**/talk.mp3", answer)
    return asked


def open_episode(browser_user: BrowserUserMaker, **options: object) -> tuple[BrowserUser, list[str]]:
    alice = browser_user(at="/all", **options)
    asked = serve_sound(alice.page)
    alice.page.get_by_role("link", name=EPISODE).click()
    alice.reads(EPISODE)
    return alice, asked


def test_an_episode_plays_by_keyboard_while_one_reads_on(browser_user: BrowserUserMaker) -> None:
    alice, asked = open_episode(browser_user, width=1440)
    dock = alice.page.get_by_role("region", name="Player").and_(alice.page.locator(".dock"))
    card = alice.page.locator(".article .episode")
    expect(card.locator("> .length")).to_have_text("16:40")
    box, text = card.bounding_box(), alice.page.locator(".article .body").bounding_box()
    assert box is not None
    assert text is not None
    assert box["y"] < text["y"]
    assert asked == []

    alice.press("P")
    alice.until(IS_PLAYING)
    assert asked != []
    expect(card.locator("[data-plays]")).to_have_text("Pause")
    dock.get_by_role("button", name="Forward 30 seconds").press("Enter")
    alice.until(AT_LEAST, 30)
    dock.get_by_role("button", name="Back 15 seconds").press("Enter")
    alice.until(AT_LEAST, 15)
    dock.locator("summary[title=Chapters]").press("Enter")
    dock.get_by_role("button", name="Dressing the stone").press("Enter")
    alice.until(AT_LEAST, 65)
    dock.locator("summary[title=Speed]").press("Enter")
    dock.get_by_role("button", name="1.5×").press("Enter")
    expect(dock.locator(".speed")).to_have_text("1.5×")
    assert alice.page.evaluate("document.querySelector('.dock audio').playbackRate") == 1.5
    assert alice.page.evaluate("navigator.mediaSession.metadata.title").startswith(EPISODE)
    assert serious(alice.page) == []

    title = alice.page.locator(".article h1").inner_text()
    alice.press("j")
    expect(alice.page.locator(".article h1")).not_to_have_text(title)
    alice.until(IS_PLAYING)
    alice.press("P")
    assert alice.page.evaluate("document.querySelector('.dock audio').paused")
    alice.until(ALL_SENT)

    alice.page.goto("/starred")
    expect(dock.locator(".elapsed")).not_to_have_text("0:00")
    dock.get_by_role("button", name="Play", exact=True).press("Enter")
    alice.until(AT_LEAST, 65)
    dock.get_by_role("button", name="Close the player").press("Enter")
    expect(dock).to_have_count(0)
    alice.page.goto("/all")
    expect(alice.page.locator(".row").first).to_be_visible()
    expect(dock).to_have_count(0)


def test_another_device_goes_on_where_a_phone_was_left_without_a_connection(browser_user: BrowserUserMaker) -> None:
    phone, _ = open_episode(browser_user, width=390, height=800, has_touch=True, is_mobile=True)
    laptop, asked = open_episode(browser_user)
    dock = phone.page.locator(".dock")

    phone.page.locator(".episode [data-plays]").tap()
    phone.until(IS_PLAYING)
    assert serious(phone.page) == []
    dock.get_by_role("button", name="Pause").tap()
    phone.until(ALL_SENT)
    phone.page.context.set_offline(True)
    dock.get_by_role("button", name="Forward 30 seconds").tap()
    dock.get_by_role("button", name="Forward 30 seconds").tap()
    phone.until(AT_LEAST, 60)
    phone.until(f"() => !({ALL_SENT})()")
    phone.page.context.set_offline(False)
    phone.until(ALL_SENT)

    with laptop.page.expect_response("**/player/0"):
        laptop.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    laptop.page.locator(".episode [data-plays]").click()
    laptop.until(AT_LEAST, 60)
    assert asked != []
