"""Keyboard shortcuts, changing them, and the "go to" box."""

import json
from typing import Any

import pytest

from feedmill.serve.web.core.keymap import DEFAULT_KEYMAP, PRESETS, encode_keymap, keymap_errors
from tests.serve.web.visitor import Visitor, text_of


def written(page: Any) -> dict[str, str]:
    """The fields of the form that changes shortcuts."""
    return {field.get("name"): field.get("value") for field in page.xpath("//main//input[starts-with(@id, 'k-')]")}


async def test_a_changed_key_reaches_the_scripts(alice: Visitor) -> None:
    fields = written(await alice.see("/keys/edit"))
    assert fields["star"] == "s, f"

    answer = await alice.send("/keys/edit", **fields | {"star": "w, s", "unread": "g w", "later": ""})

    assert answer.headers["location"] == "/keys"
    page = await alice.see("/keys")
    assert "The keys were saved." in text_of(page)
    [told] = page.xpath("//script[@id='keymap']/text()")
    assert json.loads(told) == {"w": "s", "f": "", "g w": "g u", "g u": "", "l": ""}
    assert page.xpath("//dt[.='Star']/following-sibling::dd/kbd/text()") == ["w", "s"]
    assert page.xpath("//main//dt[.='Read later']/following-sibling::dd/kbd/text()") == ["g l"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"star": "j"}, "This key is used twice."),
        ({"star": "1"}, "This key is used twice."),
        ({"star": "g"}, "Other key sequences begin with this key."),
        ({"star": "a b c"}, "Enter a key, or two separated by a space"),
        ({"star": "Backspace"}, "Enter a key, or two separated by a space"),
        ({"star": "a, e, h, i"}, "Enter a key, or two separated by a space"),
    ],
)
async def test_invalid_keys_are_refused_next_to_their_field(alice: Visitor, change: dict[str, str], why: str) -> None:
    fields = written(await alice.see("/keys/edit"))

    answer = await alice.send("/keys/edit", **fields | change)

    assert answer.status_code == 422
    assert why in answer.text
    assert 'id="k-star" name="star" value="' + change["star"] in answer.text
    assert (await alice.see("/unread")).xpath("//script[@id='keymap']") == []


async def test_one_button_switches_to_the_keys_of_miniflux_and_one_back(alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/keys/edit", preset="miniflux")
    [told] = (await alice.see("/unread")).xpath("//script[@id='keymap']/text()")
    assert json.loads(told) == {"n": "j", "p": "k", "s": "l", "l": ""}
    assert (await charlie.see("/unread")).xpath("//script[@id='keymap']") == []

    await alice.send("/keys/edit", preset="usual")

    assert (await alice.see("/unread")).xpath("//script[@id='keymap']") == []
    assert (await alice.send("/keys/edit", preset="emacs")).status_code == 422


async def test_other_settings_leave_the_keys_alone(alice: Visitor) -> None:
    await alice.send("/keys/edit", preset="miniflux")

    await alice.send("/settings", theme="sepia", marks="manual")

    assert (await alice.see("/unread")).xpath("//script[@id='keymap']") != []


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_valid(preset: str) -> None:
    assert keymap_errors(PRESETS[preset]) == {}
    assert (encode_keymap(PRESETS[preset]) == "") == (PRESETS[preset] == DEFAULT_KEYMAP)


async def test_go_to_finds_pages_by_name_without_scripts(alice: Visitor, charlie: Visitor) -> None:
    everything = (await alice.see("/go")).xpath("//ul[@class='places']//a/@href")
    found = await alice.see("/go?q=quiet+SYS")

    assert {"/unread", "/today", "/folder/1", "/feed/1", "/feed/2", "/feeds"} <= set(everything)
    assert len(everything) == len(set(everything))
    assert found.xpath("//ul[@class='places']//a/@href") == ["/feed/1"]
    assert found.xpath("//main//input[@name='q']/@value") == ["quiet SYS"]
    assert "Nothing has that name." in text_of(await charlie.see("/go?q=quiet+sys"))


async def test_the_go_to_box_is_the_same_list_without_the_page_frame(alice: Visitor) -> None:
    answer = await alice.client.get("/go", headers={"HX-Request": "true"})

    assert "<html" not in answer.text
    assert 'href="/feed/1"' in answer.text
