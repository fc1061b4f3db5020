"""Chooses the words of a title that a reader may want to mute or follow."""

import re

MOST_WORDS = 12
LONGEST_WORD = 40
# Chinese, Japanese and Korean have no spaces between words, so their shortest ones have two characters.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff"
_WORD = re.compile(rf"[{_UNSPACED}]++|[^\W_{_UNSPACED}](?:['’.+#-]?[^\W_{_UNSPACED}])*+[+#]*")
_ENDINGS = re.compile(r"['’](?:d|ll|m|re|s|t|ve)\Z", re.I)
_SHORTEST, _SHORTEST_UNSPACED = 3, 2
# fmt: off
_COMMON = frozenset({
    "about", "after", "again", "all", "also", "and", "any", "are", "back", "been", "before", "but", "can", "could",
    "did", "does", "for", "from", "get", "gets", "had", "has", "have", "her", "here", "his", "how", "into", "its",
    "just", "like", "made", "make", "may", "more", "most", "much", "near", "new", "not", "now", "off", "one", "only",
    "our", "out", "over", "own", "said", "say", "says", "she", "should", "some", "still", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "too", "two", "under", "use",
    "using", "very", "was", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "without",
    "would", "you", "your",
})
# fmt: on


def title_words(title: str) -> list[str]:
    """The words in the order of the title, each once, without very common and very short ones and numbers."""
    found: dict[str, str] = {}
    for written in _WORD.findall(title[:1000]):
        word = _ENDINGS.sub("", written)
        if len(word) <= LONGEST_WORD and _says_something(word):
            found.setdefault(word.casefold(), word)
    return list(found.values())[:MOST_WORDS]


def _says_something(word: str) -> bool:
    if word.casefold() in _COMMON or not any(letter.isalpha() for letter in word):
        return False
    # Two capitals are an abbreviation: EU, AI, C#.
    is_short = re.match(f"[{_UNSPACED}]", word) or word.isupper()
    return len(word) >= (_SHORTEST_UNSPACED if is_short else _SHORTEST)
