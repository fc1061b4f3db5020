"""No message says a thing twice in a row: "retried in 4 hrs in 4 hrs", "4 小时后 4 小时后重试"."""

import re

import pytest

from feedmill.i18n.catalogue import language_names
from tests.i18n.sample_messages import every_text, moments_of_templates, written

BETWEEN = r"(?:[\s,，、：(（]|: )*"
# A phrase of Chinese with its figures, or of whole words.
REPEATED = re.compile(
    rf"(?P<chinese>[0-9. ]*[\u4e00-\u9fff]{{2,}}){BETWEEN}(?P=chinese)"
    rf"|\b(?P<words>[A-Za-z0-9][\w.]*(?: [\w.]+)*){BETWEEN}\b(?P=words)\b(?![:.,/]\d)"
)
DOUBLED = re.compile(rf"(?P<one>[后前每在约]){BETWEEN}(?P=one)|\b(?P<word>ago|in|every|because|at|about) (?P=word)\b")


@pytest.mark.parametrize("language", language_names())
def test_no_message_repeats_itself(language: str) -> None:
    found = [(code, text) for code, text in every_text(language) if is_repeated(text)]

    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "下次抓取：4 小时后 4 小时后重试",
        "下次抓取：4 小时后（4 小时后重试，因为服务器太久没有响应）",
        "每 每天一次",
        "4 小时后后重试",
        "fetched 4 hrs ago ago",
        "the next fetch is in in 4 hrs",
        "in 4 hrs (in 4 hrs, because it failed)",
        "because because it failed",
    ],
)
def test_what_is_said_twice_is_found(text: str) -> None:
    assert is_repeated(text)


@pytest.mark.parametrize("text", ["刚刚才抓取过", "3 of 3 feeds", "at 10:10 UTC", "下次抓取：4 小时后，每 4 小时一次"])
def test_what_is_said_once_is_not_found(text: str) -> None:
    assert not is_repeated(text)


def test_the_samples_are_put_together_as_pages_do() -> None:
    assert moments_of_templates()["feed.next", "until"] == "until"
    assert any("4 小时后（重试，因为已连续失败" in text for text in written("zh_CN", "feed.next"))
    assert any("in 4 hrs (a retry, because it failed 3 times" in text for text in written("en", "feed.next"))


def is_repeated(text: str) -> bool:
    return bool(REPEATED.search(text) or DOUBLED.search(text))
