"""Chooses the language for a browser by its Accept-Language header."""

from feedmill.i18n.catalogue import DEFAULT_LANGUAGE, language_names


def choose_language(accepted: str) -> str:
    """The language with texts that the header prefers; English if it names none of them."""
    for choice in sorted(accepted.split(","), key=_quality, reverse=True):
        tag = choice.partition(";")[0].strip().lower().replace("-", "_")
        if found := _closest(tag):
            return found
    return DEFAULT_LANGUAGE


def _closest(tag: str) -> str | None:
    """The language of exactly that tag, else one of the same primary tag: Chinese for any kind of Chinese."""
    names = {name.lower(): name for name in language_names()}
    related = [name for low, name in names.items() if low.partition("_")[0] == tag.partition("_")[0]]
    return names.get(tag) or next(iter(related), None)


def _quality(choice: str) -> float:
    quality = choice.partition("q=")[2].strip()
    try:
        return float(quality) if quality else 1.0
    except ValueError:
        return 0.0
