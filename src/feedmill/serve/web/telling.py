"""What the inner folders say in English, in the language of the reader: `tell(sentence, t, when)`."""

import re
from datetime import datetime, timedelta
from typing import Any

from feedmill.model.sentences import Sentence, measured
from feedmill.serve.web.moments import Moments
from feedmill.serve.web.words import Words

# Figures, addresses and what stands in quotation marks are no part of a sentence's key.
_DATA = re.compile(r"“[^”]*”|[^\s“”]*\w[./:@]+\w[^\s“”]*|\d+(?:,\d{3})*")


def tell(sentence: str, t: Words, when: Moments | None = None) -> str:
    """The sentence by `told.json`; in English where that lacks it. `when` has the clock for moments in it."""
    if isinstance(sentence, Sentence):
        values = {name: _value(value, t, when) for name, value in sentence.values.items()}
        return t.told(sentence.template).format(**values)
    told = _whole(sentence, t)
    return t.told(": ").join(_whole(part, t) for part in sentence.split(": ")) if told == sentence else told


def key_of(sentence: str) -> str:
    """`the server says {}` of `the server says 404`."""
    return _DATA.sub("{}", sentence)


def _whole(sentence: str, t: Words) -> str:
    key = key_of(sentence)
    told = t.told(key)
    return sentence if told == key else told.format(*_DATA.findall(sentence))


def _value(value: Any, t: Words, when: Moments | None) -> Any:
    match value:
        case str():
            return tell(value, t, when)
        case timedelta():
            figure, unit = measured(value)
            return t.told(f"{{n}} {unit}").format(n=f"{figure:g}")
        case datetime():
            return when.local(value) if when else value
    return value
