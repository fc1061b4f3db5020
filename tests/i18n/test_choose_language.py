"""The language of a browser by its Accept-Language header."""

import pytest

from feedmill.i18n.choose_language import choose_language


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-DE,de;q=0.9", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh_CN"),
        ("en-GB;q=0.7, zh-TW;q=0.9", "zh_CN"),
        ("fr, en;q=0.5, zh;q=0.1", "en"),
        ("en;q=nonsense", "en"),
    ],
)
def test_the_browsers_wish_chooses_the_language(accepted: str, language: str) -> None:
    assert choose_language(accepted) == language
