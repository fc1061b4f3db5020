"""Articles from a Zipf-like vocabulary, one in eight of them Chinese; article `n` is always the same."""

import random
from functools import cache
from html import escape
from typing import NamedTuple

VOCABULARY = 40_000
WORDS = 30
CHINESE_ONE_IN = 8
SYLLABLES = [
    a + b for a in ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr") for b in "aeiou"
]
HAN = (
    "数据新闻技术城市经济音乐天气历史今天明日市场花园信号纸张窗口冬季"
    "电池语言河流引擎世界时间问题公司国家工作学习生活发展研究"
)


class Article(NamedTuple):
    title: str
    link: str
    text: str


@cache
def words() -> list[str]:
    """The vocabulary, the most common word first."""
    chance = random.Random("vocabulary")
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chance.choices(SYLLABLES, k=chance.choice((1, 2, 2, 3, 3, 4))))] = None
    return list(found)


@cache
def han_words() -> list[str]:
    chance = random.Random("han")
    return ["".join(chance.sample(HAN, 2)) for _ in range(2000)]


@cache
def _weights(count: int) -> list[float]:
    """Cumulative weights: the word of rank `n` is chosen in proportion to 1 / (n + 3)."""
    total, sums = 0.0, []
    for rank in range(count):
        total += 1 / (rank + 3)
        sums.append(total)
    return sums


def write_article(number: int | str, length: int = WORDS) -> Article:
    """`length` is how many words it has on average."""
    chance = random.Random(f"article {number}")
    count = chance.randint(length * 2 // 3, length * 4 // 3)
    if chance.randrange(CHINESE_ONE_IN) == 0:
        chosen = chance.choices(han_words(), cum_weights=_weights(2000), k=count // 2)
        title, text = (
            "".join(chosen[:4]),
            "，".join("".join(chosen[place : place + 4]) for place in range(4, len(chosen), 4)),
        )
    else:
        chosen = chance.choices(words(), cum_weights=_weights(VOCABULARY), k=count)
        title, text = " ".join(chosen[:5]).capitalize(), " ".join(chosen[5:]).capitalize()
    return Article(title, f"https://news.example/{chance.randrange(16**6):06x}-{number}", f"{text}.")


def rss_item(article: Article, guid: str, published: str) -> str:
    return (
        f'<item><guid isPermaLink="false">{guid}</guid>'
        f"<title>{escape(article.title)}</title><link>{article.link}</link>"
        f"<pubDate>{published}</pubDate><description>{escape(article.text)}</description></item>"
    )


def rss(title: str, items: str) -> bytes:
    head = f"<title>{title}</title><link>https://news.example/</link><description>For the run at scale</description>"
    return f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()
