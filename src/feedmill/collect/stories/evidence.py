"""Decides from what two entries have in common whether they are the same article, and by what. Pure.

The thresholds were chosen on one half of the labelled pairs (docs/decisions/same-story.md).
"""

from datetime import timedelta
from enum import IntEnum

from feedmill.collect.stories.compare_sketches import Comparison, Titles
from feedmill.collect.stories.sketch import Sketch

# One site repeats a title with its text soon and by mistake; later it is a column that is always called so.
SITE_WINDOW = timedelta(days=2)
# A title without a text must be telling, and as old: columns have the same title again and again.
TITLE_WINDOW = timedelta(days=3)
# A text that has no words of the article may be what a paper writes below its headline.
STANDFIRST_WINDOW = timedelta(days=1)
STANDFIRST_WORDS = 40
# Episodes are told apart by what is heard. Shorter notes are often those of a whole show, below the title of each day.
NOTES_OF_EPISODE = 25
# Characters of the words of a title. "Open thread" and "Daily links" are shorter.
TELLING_TITLE, TELLING_TITLE_ALONE, TITLE_ABOVE_STANDFIRST = 16, 25, 40


class Evidence(IntEnum):
    """What shows that two entries are the same article; the higher the surer."""

    TEXT = 1
    TITLE = 2
    LINK = 3


def find_evidence(one: Sketch, other: Sketch, gap: timedelta, *, same_feed: bool) -> Evidence | None:
    """The evidence that two entries with dates so far apart are the same article; None if they are not."""
    common = Comparison(one, other)
    share_a_link = not one.links.isdisjoint(other.links)
    if same_feed or (not share_a_link and _is_same_site(one, other)):
        return Evidence.TITLE if gap <= SITE_WINDOW and _is_published_twice(common) else None
    if share_a_link:
        has_titles_alone = one.title_only or other.title_only
        return Evidence.LINK if has_titles_alone or not _is_comment(common) else None
    if one.has_media and other.has_media and common.text_count < NOTES_OF_EPISODE:
        return None
    if common.titles is Titles.MISSING:
        return Evidence.TEXT if _is_same_post(common) else None
    if one.title_only or other.title_only:
        return Evidence.TITLE if gap <= TITLE_WINDOW and _is_same_headline(common) else None
    if common.titles in (Titles.EQUAL, Titles.EXTENDED):
        return Evidence.TITLE if _is_same_titled_article(common, gap) else None
    return Evidence.TEXT if _is_same_retitled_article(common, min(one.topic, other.topic)) else None


def _is_same_site(one: Sketch, other: Sketch) -> bool:
    """Whether both have a page of their own, at the same host."""
    return one.host != 0 and one.host == other.host


def _is_published_twice(common: Comparison) -> bool:
    """Within a feed or a site only the very same title with a long text counts: all else is a template."""
    return (
        common.titles is Titles.EQUAL
        and common.title_length >= TELLING_TITLE
        and common.text_count >= 100
        and common.lead >= 0.95
        and common.resemblance >= 0.95
    )


def _is_comment(common: Comparison) -> bool:
    """Whether an entry has the link of the other one and a text of its own, as in a link blog."""
    has_own_text = common.text_count >= 30 and common.lead < 0.2 and common.resemblance < 0.2
    return has_own_text and common.titles in (Titles.DIFFERENT, Titles.SIMILAR)


def _is_same_post(common: Comparison) -> bool:
    """Whether texts without titles are the same, apart from tags at the end or a cut."""
    if common.text_count < 8 or common.numbers < 0.7:
        return False
    is_cut = common.text_count >= 12 and common.text_count * 2 >= common.longer_count
    return (common.lead >= 0.9 and common.resemblance >= 0.65) or (common.lead >= 0.95 and is_cut)


def _is_same_headline(common: Comparison) -> bool:
    """Whether titles of which one has no text are the same, and say enough."""
    return common.titles is Titles.EQUAL and common.title_length >= TELLING_TITLE_ALONE


def _is_same_titled_article(common: Comparison, gap: timedelta) -> bool:
    """Whether the texts below the same title are the same, one perhaps an excerpt, edited, or a standfirst."""
    if common.title_length < TELLING_TITLE:
        return common.lead >= 0.9 and common.resemblance >= 0.9 and common.numbers == 1
    if _continues_alike(common, excerpt_words=40):
        return True
    if common.text_count >= 60 and common.resemblance >= (0.6 if common.numbers >= 0.7 else 0.8):
        return True
    is_standfirst = common.text_count <= STANDFIRST_WORDS and common.title_length >= TITLE_ABOVE_STANDFIRST
    return is_standfirst and gap <= STANDFIRST_WINDOW


def _is_same_retitled_article(common: Comparison, topic: int) -> bool:
    """Whether the texts below different titles are the same. `topic` is the lesser one of the two."""
    if topic == 0 or max(common.resemblance, common.lead) < 0.7:
        return False
    if common.swapped or common.numbered_apart or common.numbers < 0.6:
        return False
    if topic < 20:
        return common.text_count >= 80 and common.resemblance >= 0.8
    if common.text_count >= 25 and (_is_excerpt(common) or _is_same_under_similar_title(common)):
        return True
    is_alike = common.lead >= 0.7 and common.text_count >= 60 and common.resemblance >= 0.5
    return is_alike or (common.text_count >= 80 and common.resemblance >= 0.7)


def _is_excerpt(common: Comparison) -> bool:
    """Whether nearly all of one text is the beginning of the other, which is more than an introduction in common."""
    is_shorter = common.longer_count >= common.text_count * 1.5
    return is_shorter and common.lead >= 0.9 and common.containment >= 0.75


def _is_same_under_similar_title(common: Comparison) -> bool:
    return common.titles is Titles.SIMILAR and _continues_alike(common, excerpt_words=60)


def _continues_alike(common: Comparison, excerpt_words: int) -> bool:
    """Whether both texts begin alike and go on alike, which an excerpt need not."""
    if common.lead < 0.7 or common.numbers < 0.5:
        return False
    return common.containment >= 0.5 if common.text_count >= excerpt_words else common.lead >= 0.85
