"""Renders reasons and error messages in the reader's language."""

import re
from datetime import datetime, timedelta
from typing import Any

from feedmill.i18n.catalogue import Translator
from feedmill.i18n.dates import DateFormatter
from feedmill.model.translatable_text import TranslatableText, split_duration

# Figures, addresses and what stands in quotation marks are no part of a sentence's key.
# An address is looked for at the beginning of a word only, else a long word would be read from each of its letters.
_DATA = re.compile(r"“[^”]*”|(?<![^\s“”])[^\s“”]*?\w[./:@]++\w[^\s“”]*+|\d+(?:,\d{3})*")
# No sentence of ours is longer.
MAX_SENTENCE_LENGTH = 2000


def render_explanation(sentence: str, t: Translator, when: DateFormatter | None = None) -> str:
    """The sentence by `told.json`; in English where that lacks it. `when` has the clock for moments in it."""
    if isinstance(sentence, TranslatableText):
        values = {name: _render_value(value, t, when) for name, value in sentence.values.items()}
        return t.told(sentence.template).format(**values)
    if len(sentence) > MAX_SENTENCE_LENGTH:
        return sentence
    told = _translate_whole(sentence, t)
    return t.told(": ").join(_translate_whole(part, t) for part in sentence.split(": ")) if told == sentence else told


def sentence_key(sentence: str) -> str:
    """`the server says {}` of `the server says 404`."""
    return _DATA.sub("{}", sentence)


def _translate_whole(sentence: str, t: Translator) -> str:
    key = sentence_key(sentence)
    told = t.told(key)
    return sentence if told == key else told.format(*_DATA.findall(sentence))


def _render_value(value: Any, t: Translator, when: DateFormatter | None) -> Any:
    match value:
        case str():
            return render_explanation(value, t, when)
        case timedelta():
            figure, unit = split_duration(value)
            return t.told(f"{{n}} {unit}").format(n=f"{figure:g}")
        case datetime():
            return when.local(value) if when else value
    return value
