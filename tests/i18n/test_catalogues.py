"""Every message of the source has its text in every language, with the same parameters."""

import string

import pytest

from feedmill.i18n.catalogue import Text, catalogue, language_names
from tests.i18n.message_codes import made_messages


@pytest.mark.parametrize("language", language_names())
def test_every_message_has_its_text_with_its_parameters_in_every_language(language: str) -> None:
    texts = catalogue(language)

    wrong = [
        (made.place, code, sorted(made.parameters), sorted(parameters_of(texts[code])))
        for made in made_messages()
        for code in ([code for code in texts if made.makes(code)] or [made.code])
        if code not in texts or parameters_of(texts[code]) | {"n"} != made.parameters | {"n"}
    ]

    assert wrong == []


@pytest.mark.parametrize("language", language_names())
def test_a_number_that_a_text_needs_is_given(language: str) -> None:
    texts = catalogue(language)

    wrong = [
        (made.place, made.code)
        for made in made_messages()
        if made.code in texts
        and "n" not in made.parameters
        and (isinstance(texts[made.code], dict) or "n" in parameters_of(texts[made.code]))
    ]

    assert wrong == []


@pytest.mark.parametrize("language", language_names())
def test_no_text_is_there_that_no_message_uses(language: str) -> None:
    made_groups = {group_of(made.code) for made in made_messages() if "." in made.code} - {"job"}
    # The rest of the catalogue is asked for by pages.
    ours = {code for code in catalogue(language) if group_of(code) in made_groups}

    assert {code for code in ours if not any(made.makes(code) for made in made_messages())} == set()


def group_of(code: str) -> str:
    return code.partition(".")[0]


def parameters_of(text: Text) -> frozenset[str]:
    forms = text.values() if isinstance(text, dict) else [text]
    return frozenset(name for form in forms for _, name, _, _ in string.Formatter().parse(form) if name)
