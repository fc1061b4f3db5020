"""Actions of a user in a browser window."""

from dataclasses import dataclass

from playwright.sync_api import Page, expect

# Marks that the server does not have yet wait there.
NO_MARK_WAITS = "() => !Object.keys(localStorage).some((key) => key.startsWith('feedmill.marks.'))"


@dataclass(frozen=True)
class BrowserUser:
    page: Page

    def sign_in(self, name: str, password: str) -> None:
        self.page.goto("/login")
        # By the names of the fields: the page may be in any language.
        self.page.locator("input[name=name]").fill(name)
        self.page.locator("input[name=password]").fill(password)
        self.page.locator("main form button").click()
        self.page.wait_for_url("**/unread")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def press_until_sent(self, key: str) -> None:
        """Presses a key that marks something, and waits until the server has it."""
        self.page.keyboard.press(key)
        self.until(NO_MARK_WAITS)

    def until(self, is_so: str, arg: object = None) -> None:
        """Waits for it. Not `wait_for_function`: that evaluates in the page, which our policy forbids."""
        for _ in range(1200):
            if self.page.evaluate(is_so, arg):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it never came to be: {is_so}")

    def let_go_of(self, timers: int) -> None:
        """Lets timers of this length that are held go off now; see `page_timers`."""
        self.page.evaluate("(length) => letGo(length)", timers)

    def titles(self) -> list[str]:
        """Also of rows that are out of sight, which have no inner text."""
        return [title.strip() for title in self.page.locator(".row .title").all_text_contents()]

    def unread(self) -> int:
        return int(self.page.locator("#count-unread").text_content() or 0)

    def reads(self, title: str) -> None:
        """The article with that title is open."""
        expect(self.page.locator(".article h1")).to_contain_text(title)
