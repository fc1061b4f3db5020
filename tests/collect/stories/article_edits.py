"""What other feeds do to an article before they publish it. Each function is one kind of edit, with fixed results."""

import re
from html import escape

# A sentence of any of the languages with the space after it.
_SENTENCE = re.compile(r"[^.!?。！？]+(?:[.!?](?=\s|\Z|[”»\"'])|[。！？])?[”»\"」’']*\s*|[.!?]")
# What a copy editor changes: word for word, in English and Chinese.
_COPY_EDITS = {
    "about": "roughly",
    "according to": "as reported by",
    "because": "since",
    "began": "started",
    "but": "yet",
    "first": "initial",
    "has": "now has",
    "have": "now have",
    "large": "big",
    "more than": "over",
    "said": "stated",
    "several": "a number of",
    "was": "had been",
    "will": "is going to",
    "介绍": "表示",
    "以后": "之后",
    "但": "不过",
    "今天": "本周",
    "昨天": "日前",
    "目前": "现在",
    "约": "大约",
    "表示": "称",
    "说": "告诉记者",
    "超过": "多于",
}
_WORDS = re.compile(r"\b(?:" + "|".join(key for key in _COPY_EDITS if key.isascii()) + r")\b")
_CHINESE_WORDS = re.compile("|".join(sorted((key for key in _COPY_EDITS if not key.isascii()), key=len, reverse=True)))
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")

FOOTERS = {
    True: "更多内容请关注我们的公众号。本文版权归原作者所有，未经许可不得转载。责任编辑：王宁。",
    False: "Read more in our weekend edition. Subscribe to the newsletter to get the best articles every morning.",
}
INTRODUCTIONS = {
    True: "编者按：以下内容由通讯员提供，本网经授权转载，文中观点不代表本网立场。"
    "为便于阅读，编辑对个别标点作了调整，请读者留意。",
    False: "From our partners: we publish the following text with kind permission of its authors. It has been checked "
    "by our desk, and we added the subheadings. Opinions are those of the writers.",
}
# Sentences that a later version of an article has in addition.
ADDITIONS = {
    True: ("记者将继续关注事情的进展。", "有关部门尚未对此作出进一步说明。", "多位市民对此表示欢迎。"),
    False: (
        "A spokesman declined to comment further. ",
        "This article will be updated when more is known. ",
        "Details are to be made public next week. ",
    ),
}


def is_east_asian(text: str) -> bool:
    """Whether the text is written without spaces."""
    return len(_EAST_ASIAN.findall(text)) * 3 > len(text)


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in text.strip().split("\n\n")]


def sentences(text: str) -> list[str]:
    return _SENTENCE.findall(text)


def as_html(text: str) -> str:
    """Plain paragraphs."""
    return "".join(f"<p>{escape(part, quote=False)}</p>" for part in paragraphs(text))


def as_heavy_html(text: str) -> str:
    """The same words in the markup of a newsletter: tables, styles, pictures, links, entities."""
    style = "font-family: Georgia; margin: 0 0 1em 0; line-height: 1.5"
    parts = [
        f'<tr><td style="{style}"><span>{escape(part).replace(" ", "&#32;", 1)}</span></td></tr>'
        f'<tr><td><img src="https://cdn.example/{number}.jpg" alt="" width="600"></td></tr>'
        for number, part in enumerate(paragraphs(text))
    ]
    return f'<div class="post"><style>p {{ margin: 0 }}</style><table>{"".join(parts)}</table></div>'


def excerpt(text: str, words: int) -> str:
    """The first so many words, or twice as many characters of a text without spaces, with an ellipsis."""
    plain = " ".join(text.split())
    if is_east_asian(plain):
        return f"{plain[: words * 2]}…"
    return f"{' '.join(plain.split()[:words])} […]"


def with_dateline(text: str) -> str:
    """The beginning of an agency's text."""
    return ("本报讯（记者 李明）" if is_east_asian(text) else "KELMOUTH (Northwire) – ") + text.strip()


def with_introduction(text: str) -> str:
    """A paragraph of the editors before the text."""
    return f"{INTRODUCTIONS[is_east_asian(text)]}\n\n{text.strip()}"


def with_footer(text: str) -> str:
    return f"{text.strip()}\n\n{FOOTERS[is_east_asian(text)]}"


def copy_edited(text: str) -> str:
    """Every third of the words above replaced, typographer's quotes made straight and dashes short."""
    count = 0

    def edited(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _COPY_EDITS[found[0]] if count % 3 == 0 else found[0]

    changed = _CHINESE_WORDS.sub(edited, _WORDS.sub(edited, text))
    return changed.translate(str.maketrans({"“": '"', "”": '"', "„": '"', "–": "-", "，": ","}))


def shortened(text: str, share: float) -> str:
    """The first share of the sentences: an editor cuts from the end."""
    found = sentences(text)
    return "".join(found[: max(2, round(len(found) * share))])


def edited_later(text: str) -> str:
    """A later version: every seventh sentence left out, one new one after every fifth."""
    additions = ADDITIONS[is_east_asian(text)]
    kept: list[str] = []
    for number, sentence in enumerate(sentences(text), 1):
        if number % 7:
            kept.append(sentence)
        if number % 5 == 0:
            kept.append(additions[number // 5 % len(additions)])
    return "".join(kept)


def follow_up(text: str, news: str) -> str:
    """The next day's article: new text first, then half of the old paragraphs as background."""
    old = paragraphs(text)
    return "\n\n".join([*paragraphs(news), *old[len(old) // 2 :]])
