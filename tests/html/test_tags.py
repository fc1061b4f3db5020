"""The quick search for some tags finds exactly what the careful pass over all tags finds."""

from hypothesis import given
from hypothesis import strategies as st

from feedmill.html.tags import find_tags, tags

NAMES = frozenset({"img", "source", "video"})
PIECES = [
    "<img ",
    "<IMG\n",
    "<imgs>",
    "<a ",
    "<p>",
    "</p>",
    "</img>",
    '"',
    "'",
    "=",
    ">",
    "<",
    "x",
    " ",
    "/",
    "src=",
    "a=b",
    "\n",
    "<script>",
    "</script>",
    "<title>",
    "</title",
    "<!--",
    "-->",
    "<!",
    "<video poster=",
    '<a href="',
    '<a ="x',
    "&lt;",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_the_quick_search_agrees_with_the_careful_pass(text: str) -> None:
    careful = [tag for tag in tags(text) if tag.name in NAMES and not tag.closing]

    assert list(find_tags(text, NAMES)) == careful


def test_an_image_inside_an_attribute_a_comment_or_a_script_is_none() -> None:
    text = '<a title="<img src=a>"><!-- <img src=b> --><script>"<img src=c>"</script><img src=d>'

    [tag] = find_tags(text, NAMES)

    assert text[tag.start : tag.end] == "<img src=d>"
