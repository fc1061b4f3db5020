import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.html.images import find_image_urls, image_slots, replace_images
from feedmill.html.plain_text import plain_text
from feedmill.html.tags import tags

BASE = "https://example.org/blog/post"

PIECES = (
    "< > <img src= srcset= data-src= \" ' / a.png &amp; = <!-- --> <script> </script> <p> </p> , 2x é"
    " <base href= http://h/"
)
MARKUP = st.lists(st.sampled_from([*PIECES.split(), " ", "\n"]), max_size=60).map("".join)


def test_images_come_in_order_of_appearance_and_absolute():
    html = '<img src="/a.png"><p><IMG SRC=b.png><video poster="//cdn.example.org/p.jpg"></video>'

    assert find_image_urls(html, BASE) == [
        "https://example.org/a.png",
        "https://example.org/blog/b.png",
        "https://cdn.example.org/p.jpg",
    ]


def test_each_address_is_named_once():
    assert find_image_urls('<img src="a.png"><img data-src="a.png" src="a.png">', BASE) == [
        "https://example.org/blog/a.png"
    ]


@pytest.mark.parametrize(
    ("srcset", "kept"),
    [
        ("s.jpg 480w, m.jpg 1600w, l.jpg 3200w", "m.jpg"),
        ("s.jpg 480w, m.jpg 1024w", "m.jpg"),
        ("s.jpg, m.jpg 2x, l.jpg 3x", "m.jpg"),
        ("w_10,h_20/m.jpg 1x", "w_10,h_20/m.jpg"),
        ("data:image/png;base64,AAAA 2x, m.jpg 1x", "m.jpg"),
        ("  ,m.jpg,  ", "m.jpg"),
        ("m.jpg nonsense, s.jpg 0.5x", "m.jpg"),
    ],
)
def test_a_srcset_gives_the_smallest_candidate_that_is_large_enough(srcset: str, kept: str):
    assert find_image_urls(f'<img srcset="{srcset}">', BASE) == [f"https://example.org/blog/{kept}"]


def test_sources_of_a_picture_are_images_and_sources_of_a_film_are_not():
    html = '<picture><source srcset="a.webp"></picture><video><source src="film.mp4"></video>'

    assert find_image_urls(html, BASE) == ["https://example.org/blog/a.webp"]


@pytest.mark.parametrize("attribute", ["data-src", "data-original", "data-lazy-src", "data-srcset"])
def test_lazy_attributes_name_images(attribute: str):
    html = f'<img src="data:image/gif;base64,R0lG" {attribute}="real.png">'

    assert find_image_urls(html, BASE) == ["https://example.org/blog/real.png"]


@pytest.mark.parametrize(
    "address",
    [
        "data:image/png,x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "",
        " ",
        "cid:1",
        "http://[bad",
        "ftp://h/a",
    ],
)
def test_only_web_addresses_are_images(address: str):
    assert find_image_urls(f'<img src="{address}">', BASE) == []


def test_a_relative_address_without_a_base_is_left_out():
    assert find_image_urls('<img src="a.png"><img src="https://h/b.png">', None) == ["https://h/b.png"]


def test_the_base_element_is_honoured():
    assert find_image_urls('<base href="/other/"><img src="a.png">', BASE) == ["https://example.org/other/a.png"]


@pytest.mark.parametrize(
    "html",
    [
        '<a title="<img src=x.png>">',
        "<!-- <img src=x.png> -->",
        "<script>'<img src=x.png>'</script>",
        "<textarea><img src=x.png></textarea>",
        '<img alt="src=x.png">',
        "</img src=x.png>",
        '<img src="x.png',
    ],
)
def test_what_a_browser_takes_for_no_image_is_none(html: str):
    assert find_image_urls(html, BASE) == []


def test_a_cdata_section_ends_at_the_first_bracket_as_in_a_browser():
    assert find_image_urls("<![CDATA[ x><img src=a.png> ]]>", BASE) == ["https://example.org/blog/a.png"]


def test_an_image_in_noscript_counts_because_we_run_no_scripts():
    assert find_image_urls("<noscript><img src=a.png></noscript>", BASE) == ["https://example.org/blog/a.png"]


def test_ampersands_in_addresses_are_read_as_browsers_read_them():
    html = '<img src="/i?a=1&amp;b=2&copy=3&notit;&lt;">'

    assert find_image_urls(html, BASE) == ["https://example.org/i?a=1&b=2&copy=3&notit;%3C"]


def test_the_limit_holds():
    html = "".join(f"<img src={number}.png>" for number in range(50_000))

    assert len(find_image_urls(html, BASE)) == 200
    assert find_image_urls(html, BASE, limit=0) == []


# How often something is repeated, and the HTML with it.
HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "nested": (300_000, lambda n: "<div>" * n + "<img src=a.png>"),
    "attributes": (100_000, lambda n: "<img " + " ".join(f"a{number}=1" for number in range(n)) + ">"),
    "open quotes": (200_000, lambda n: '<img src="' * n),
    "quotes in quotes": (200_000, lambda n: "<a b='\"" * n),
    "open comments": (300_000, lambda n: "<!--" * n),
    "angle brackets": (1_000_000, lambda n: "<" * n),
    "open scripts": (100_000, lambda n: "<script><textarea>" * n),
    "spaces in a tag": (1_000_000, lambda n: "<a" + " " * n),
    "equals signs in a tag": (1_000_000, lambda n: "<a " + "=" * n),
    "srcset": (200_000, lambda n: "<img srcset='" + "a 1x," * n + "'>"),
    "digits of a reference": (1_000_000, lambda n: "&#" + "9" * n + ";"),
    "ampersands": (1_000_000, lambda n: "&" * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_html_takes_linear_time(name: str, size_share: float):
    count, make = HOSTILE[name]
    html = make(int(count * size_share))
    began = time.process_time()

    find_image_urls(html, BASE)
    replace_images(html, BASE, {})
    plain_text(html, None)

    assert time.process_time() - began < 10 * size_share


def test_an_image_below_any_depth_is_found():
    assert find_image_urls("<div>" * 100_000 + "<img src=a.png>", BASE) == ["https://example.org/blog/a.png"]


@given(MARKUP)
def test_tags_lie_in_order_and_inside_the_text(html: str):
    end = 0
    for tag in tags(html):
        assert end <= tag.start < tag.end <= len(html) or tag.start == tag.end == len(html)
        end = tag.end


@given(MARKUP)
def test_what_is_archived_is_what_is_replaced(html: str):
    archived = {slot.url: f"/kept/{number}" for number, slot in enumerate(image_slots(html, BASE))}

    shown = replace_images(html, BASE, archived)

    assert set(find_image_urls(shown, "https://us.example/")) <= {
        f"https://us.example{own}" for own in archived.values()
    }


def test_an_archived_image_is_shown_from_the_archive_and_the_rest_stays():
    html = '<p class=x>a &amp; b<img alt="1 &lt; 2" src="a.png"> <br/>'

    shown = replace_images(html, BASE, {"https://example.org/blog/a.png": "/images/1?x&y"})

    assert shown == '<p class=x>a &amp; b<img alt="1 &lt; 2" src="/images/1?x&amp;y"> <br/>'


def test_an_image_that_is_not_archived_keeps_its_own_address():
    assert replace_images('<img src="a.png">', BASE, {}) == '<img src="https://example.org/blog/a.png">'


def test_a_lazy_image_is_shown_in_place_of_its_placeholder():
    shown = replace_images('<img src="/spinner.gif" data-src="a.png">', BASE, {"https://example.org/spinner.gif": "/s"})

    assert shown == '<img src="https://example.org/blog/a.png">'


def test_an_archived_src_is_not_hidden_by_a_srcset_that_failed():
    shown = replace_images('<img src="a.png" srcset="b.png 2x">', BASE, {"https://example.org/blog/a.png": "/1"})

    assert shown == '<img src="/1">'


def test_html_without_images_is_returned_as_it_is():
    html = "<p onclick=x>a < b &nbsp;<script>1</script>"

    assert replace_images(html, BASE, {}) == html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("one<br>two<li>three", "one two three"),
        ("<b>bo</b>ld &amp; <i>br</i>ave", "bold & brave"),
        ("a<script>b</script><style>c</style><!-- d -->e", "a e"),
        ("x &lt;b&gt; y", "x <b> y"),
        ("3 < 5 &#x4e2d;&nbsp;!", "3 < 5 中 !"),
        ("cut <b", "cut"),
        ("", ""),
    ],
)
def test_plain_text_is_what_a_person_would_read(html: str, text: str):
    assert plain_text(html, None) == text


def test_plain_text_is_cut_between_words_within_the_limit():
    assert plain_text("<p>one two three four", 14) == "one two three…"
    assert plain_text("中" * 50, 10) == "中" * 9 + "…"
    assert plain_text("short", 5) == "short"
    assert plain_text("<i>ab</i> " * 20, 10) == "ab ab ab…"


@given(MARKUP, st.integers(0, 30))
def test_plain_text_never_exceeds_its_limit(html: str, limit: int):
    assert len(plain_text(html, limit)) <= limit
