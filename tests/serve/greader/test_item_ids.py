"""Ids of entries in every form that apps send."""

import pytest

from feedmill.serve.greader.item_ids import long_id, parse_item_id, short_id


@pytest.mark.parametrize("entry_id", [1, 7, 4_294_967_295, 10**12])
def test_every_form_leads_back_to_the_entry(entry_id: int) -> None:
    number = 10**15 + entry_id
    bare_hex = f"{number:016x}"

    forms = [short_id(entry_id), long_id(entry_id), bare_hex, bare_hex.upper(), long_id(entry_id).replace("/00", "/")]

    assert [parse_item_id(form) for form in forms] == [entry_id] * len(forms)
    assert (len(short_id(entry_id)), bare_hex[:2]) == (16, "00")


@pytest.mark.parametrize(
    "written",
    [
        "",
        "0",
        "-1",
        "1",
        "x",
        "tag:google.com,2005:reader/item/",
        "tag:google.com,2005:reader/item/zz",
        "9" * 30,
        "٣" * 16,
    ],
)
def test_what_names_no_entry_is_nothing(written: str) -> None:
    assert parse_item_id(written) is None
