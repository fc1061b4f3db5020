"""Renders messages, and error texts that are English sentences still, in the reader's language."""

import re
from collections.abc import Mapping

from feedmill.i18n.catalogue import area_texts
from feedmill.i18n.dates import DateFormatter
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import Translator

# Figures, addresses and what stands in quotation marks are no part of a sentence's key.
# An address is looked for at the beginning of a word only, else a long word would be read from each of its letters.
_DATA = re.compile(r"“[^”]*”|(?<![^\s“”])[^\s“”]*?\w[./:@]++\w[^\s“”]*+|\d+(?:,\d{3})*")
# No sentence of ours is longer.
MAX_SENTENCE_LENGTH = 2000


def render_explanation(sentence: Message | str | None, t: Translator, when: DateFormatter | None = None) -> str:
    """The message in the reader's language, with moments by the clock of `when`; a sentence by `told.json`."""
    if isinstance(sentence, Message | None):
        return t.render(sentence, when.zone) if when else t.render(sentence)
    if len(sentence) > MAX_SENTENCE_LENGTH:
        return sentence
    told = _translate_whole(sentence, t)
    between = _told(t).get(": ", ": ")
    return between.join(_translate_whole(part, t) for part in sentence.split(": ")) if told == sentence else told


def sentence_key(sentence: str) -> str:
    """`the server says {}` of `the server says 404`."""
    return _DATA.sub("{}", sentence)


def _told(t: Translator) -> Mapping[str, str]:
    return {key: text for key, text in area_texts(t.language, "told").items() if isinstance(text, str)}


def _translate_whole(sentence: str, t: Translator) -> str:
    told = _told(t).get(sentence_key(sentence))
    return sentence if told is None else told.format(*_DATA.findall(sentence))
