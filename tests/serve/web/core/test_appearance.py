"""The appearance of pages on a device is stored on that device only."""

from dataclasses import fields

from feedmill.serve.web.core.appearance import APPEARANCE_VALUES, DEFAULT_APPEARANCE, Appearance
from tests.serve.web.visitor import Visitor, text_of


def test_every_appearance_setting_has_its_choices_and_a_default() -> None:
    assert {field.name for field in fields(Appearance)} == set(APPEARANCE_VALUES)
    assert all(getattr(DEFAULT_APPEARANCE, name) in choices for name, choices in APPEARANCE_VALUES.items())


def test_an_invalid_choice_is_ignored() -> None:
    assert DEFAULT_APPEARANCE.changed(
        {"theme": "dark", "size": "99", "font": "<script>", "nonsense": "x"}
    ) == Appearance(theme="dark")


async def test_the_appearance_is_saved_and_shown(alice: Visitor) -> None:
    answer = await alice.send("/appearance", theme="sepia", size="5", language="zh_CN")
    page = await alice.see(answer.headers["location"])

    assert (page.get("data-theme"), page.get("data-size"), page.get("data-font")) == ("sepia", "5", "serif")
    assert (page.get("lang"), page.xpath("//h1/text()")) == ("zh-Hans", ["外观"])
    assert "已保存到此设备。" in text_of(page)


async def test_one_choice_leaves_the_others_as_they_are(alice: Visitor) -> None:
    await alice.send("/appearance", theme="sepia", density="cards")
    answer = await alice.send("/appearance", density="titles", next="/all", quiet="yes")

    page = await alice.see(answer.headers["location"])

    assert answer.headers["location"] == "/all"
    assert (page.get("data-theme"), page.xpath("//form/@data-density")) == ("sepia", ["titles"])
