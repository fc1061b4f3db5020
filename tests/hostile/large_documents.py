"""Documents as large as a feed or an article may be, in shapes that take long to parse."""

FEED_BYTES = 15_000_000
ARTICLE_BYTES = 990_000


def fill(piece: str, size: int) -> str:
    return piece * (size // len(piece))


def rss(items: str) -> bytes:
    return f"<rss version='2.0'><channel><title>Large</title>{items}</channel></rss>".encode()


def one_entry(text: str) -> bytes:
    return rss(f"<item><guid>1</guid><title>x</title><description>{text}</description></item>")


def hostile_feeds(size: int = FEED_BYTES - 1000) -> dict[str, bytes]:
    """Feeds by the name of their shape."""
    numbered = "".join(f"<item><guid>{n}</guid><title>t</title></item>" for n in range(size // 50))
    deep = size // 7
    return {
        "one huge entry": one_entry(fill("Some words, and more. ", size)),
        "tiny entries": rss(numbered),
        "huge attribute": rss(f"<item><guid>1</guid><enclosure url='{fill('a', size)}'/></item>"),
        "deep nesting": one_entry("<b>" * deep + "</b>" * deep),
        "all entities": one_entry(fill("&nbsp;&amp;", size)),
        "commas in a srcset": one_entry(f"&lt;img srcset='{fill(',', size)}'&gt;"),
        "a page": f"<html><title>x</title>{fill('<p>a', size)}".encode(),
    }


def hostile_articles(size: int = ARTICLE_BYTES) -> dict[str, str]:
    """Texts of entries by the name of their shape."""
    return {
        "prose": fill("<p>Some words, and more. ", size),
        "images": fill("<img src=a>", size),
        "srcsets": fill("<img srcset='a 1x, b 2x'>", size),
        "commas in a srcset": f"<img srcset='{fill(',', size - 50)}'>",
        "spaces in an alt": f"<img alt='x{fill(' ', size - 50)}x' src=a>",
        "frames": fill("<iframe src=a></iframe>", size),
        "videos": "".join(f"<iframe src='https://youtu.be/{n:011}'></iframe>" for n in range(size // 56)),
        "formulas": fill("<math><mi>a</mi></math>", size),
        "paragraphs": fill("<p>", size),
        "deep nesting": fill("<div>", size),
        "unknown tags": fill("<x>", size),
        "entities": fill("&lt;", size),
    }


def feed_of_articles(articles: dict[str, str]) -> bytes:
    """A feed with these entries, each with as many attached images and videos as are read."""
    images = [f"<enclosure url='https://example.org/picture-{n}.png' type='image/png'/>" for n in range(50)]
    videos = [f"<enclosure url='https://youtu.be/abcdefghi{n}'/>" for n in range(10, 60)]
    attached = "".join([*images, *videos])
    items = [
        f"<item><guid>{name}</guid><title>{name}</title>{attached}<description><![CDATA[{text}]]></description></item>"
        for name, text in articles.items()
    ]
    return rss("".join(items))
