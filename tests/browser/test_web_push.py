"""Notifications in a browser: allowed on the settings page, shown and opened by the service worker.

The browser of the tests grants no notifications and has no push service. What it lacks is scripted; the pages, the
service worker and the delivery of a push to it are real.
"""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import CDPSession, Worker, expect

from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer
from tests.browser.test_offline import with_worker

BrowserUserMaker = Callable[..., BrowserUser]

PATH = "/settings/notifications"
KEY = "BLd_Ghxs-T_G5RVc7BQmHLnjExi9yGaV_j7RikmXfIEVgFhPyvdRNZP5JqMvG6vkEaix4oW9p8FQCronTocdxp4"
SCRIPTED_BROWSER = f"""
Object.defineProperty(Notification, "permission", {{ get: () => localStorage.permission ?? "default" }});
Notification.requestPermission = async () => (localStorage.permission = localStorage.answer);
const made = {{
  endpoint: "https://push.example/of-this-browser",
  toJSON: () => ({{ endpoint: made.endpoint, keys: {{ p256dh: "{KEY}", auth: "AAECAwQFBgcICQoLDA0ODw" }} }}),
}};
Object.assign(PushManager.prototype, {{
  getSubscription: async () => (localStorage.subscribed ? made : null),
  subscribe: async ({{ applicationServerKey }}) => {{
    if (localStorage.fails) throw new Error("no push service");
    localStorage.subscribed = applicationServerKey;
    return made;
  }},
}});
"""
RECORD_NOTIFICATIONS = """() => {
  self.shown = [];
  registration.showNotification = async (title, { body, data }) => shown.push({ title, body, data });
  // A click of a person would allow it.
  WindowClient.prototype.focus = async function () { return this; };
  self.opened = [];
  const { navigate } = WindowClient.prototype;
  WindowClient.prototype.navigate = function (url) { opened.push(url); return navigate.call(this, url); };
}"""
CLICK = """(path) => {
  const event = new ExtendableEvent("notificationclick");
  const notification = { data: path, close: () => (self.closed = true) };
  Object.assign(event, { notification, waitUntil: (opened) => opened });
  dispatchEvent(event);
}"""


def _at_settings(browser_user: BrowserUserMaker, **stored: str) -> BrowserUser:
    alice = with_worker(browser_user)
    alice.page.add_init_script(SCRIPTED_BROWSER)
    alice.page.evaluate("(stored) => Object.assign(localStorage, stored)", stored)
    alice.page.goto(PATH)
    return alice


def _worker(alice: BrowserUser) -> Worker:
    [worker] = alice.page.context.service_workers
    worker.evaluate(RECORD_NOTIFICATIONS)
    return worker


def _registration(cdp: CDPSession, alice: BrowserUser) -> str:
    found: list[str] = []

    def note(event: dict[str, list[dict[str, str]]]) -> None:
        found.extend(each["registrationId"] for each in event["registrations"])

    cdp.on("ServiceWorker.workerRegistrationUpdated", note)
    cdp.send("ServiceWorker.enable")
    while not found:
        alice.page.evaluate("0")
    return found[0]


def test_a_browser_subscribes_and_knows_itself_afterwards(browser_user: BrowserUserMaker) -> None:
    page = _at_settings(browser_user, answer="granted").page

    page.get_by_role("button", name="Allow notifications in this browser").click()

    expect(page.get_by_text("This browser is notified. Send a test message")).to_be_visible()
    page.goto(PATH)
    path = page.locator("th [data-browser]").get_attribute("href") or ""
    expect(page.locator("[data-push=on] a")).to_have_attribute("href", path)
    expect(page.locator("[data-push=allow]")).to_be_hidden()
    key = page.locator("[data-push-key]").get_attribute("data-push-key")
    assert page.evaluate("localStorage.subscribed") == key
    assert serious(page) == []


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({"answer": "denied"}, "Notifications of this site are blocked"),
        ({"answer": "granted", "fails": "yes"}, "The browser could not subscribe"),
    ],
)
def test_a_browser_that_does_not_subscribe_says_why(
    browser_user: BrowserUserMaker, stored: dict[str, str], said: str
) -> None:
    page = _at_settings(browser_user, **stored).page

    page.get_by_role("button", name="Allow notifications in this browser").click()

    expect(page.get_by_text(said)).to_be_visible()
    expect(page.locator("[data-push=allow]")).to_be_hidden()


def test_without_scripts_the_page_says_what_it_needs(browser_user: BrowserUserMaker) -> None:
    page = browser_user(at=PATH, java_script_enabled=False).page

    expect(page.get_by_text("This needs a browser with web push")).to_be_visible()
    expect(page.get_by_role("button", name="Allow notifications in this browser")).to_be_hidden()


def test_a_push_is_shown_by_the_service_worker(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    alice = with_worker(browser_user)
    worker, cdp = _worker(alice), alice.page.context.new_cdp_session(alice.page)
    pushed = {"title": "mills: one new item", "body": "• A mill", "path": "/item/1"}
    message = {"origin": site_server.origin, "registrationId": _registration(cdp, alice), "data": json.dumps(pushed)}

    cdp.send("ServiceWorker.deliverPushMessage", message)

    while not (shown := worker.evaluate("shown")):
        alice.page.evaluate("0")
    assert shown == [{"title": pushed["title"], "body": pushed["body"], "data": pushed["path"]}]


def test_a_click_on_a_notification_opens_its_page_and_no_other_site(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    alice = with_worker(browser_user)
    worker = _worker(alice)

    worker.evaluate(CLICK, "https://elsewhere.example/")
    worker.evaluate(CLICK, "/starred")

    alice.page.wait_for_url("**/starred")
    assert worker.evaluate("closed")
    assert worker.evaluate("opened") == [f"{site_server.origin}/starred"]
