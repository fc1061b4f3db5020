"""How text is cut into searchable words."""

import time

import pytest

from feedmill.store.search.tokenizer import (
    MAX_HTML,
    MAX_TEXT,
    MAX_WORD,
    fold_text,
    query_words,
    site_word,
    words_of,
    words_of_html,
    words_of_url,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick, brown FOX!", "the quick brown fox"),
        ("Ünïcödé façade Ångström Straße", "unicode facade angstrom strasse"),
        ("e\u0301te\u0301 decomposed", "ete decomposed"),
        ("an accent \u0301 alone", "an accent alone"),
        ("\ufc5e Arabic \ufc5e points \ufc5e", "arabic points"),
        ("“Curly” quotes – and dashes…", "curly quotes and dashes"),
        ("Ёлка и йод", "елка и иод"),
        ("ΆΝΘΡΩΠΟΣ", "ανθρωποσ"),
        ("ＦＵＬＬ　ｗｉｄｔｈ ﬁne", "full width fine"),
        ("snake_case C++ node.js 3.14", "snake case c node js 3 14"),
        ("हिन्दी में", "हिन्दी में"),
        ("العَرَبِيَّة", "العربية"),
        ("", ""),
        ("… !", ""),
    ],
)
def test_case_width_accents_and_punctuation_do_not_matter(text: str, words: str) -> None:
    assert words_of(text) == words


def test_a_word_is_the_same_next_to_any_script() -> None:
    words = [f"Aé{letter}b" for letter in map(chr, (*range(0x250), *range(0x1E00, 0x20D0)))]

    assert [words_of(f"{word} я") for word in words] == [f"{words_of(word)} я" for word in words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("你好吗", "你好 好吗 吗"),
        ("我", "我"),
        ("你好，世界。", "你好 好 世界 界"),
        ("iPhone手机 ok", "iphone 手机 机 ok"),
        ("ﾃｽﾄ", "テス スト ト"),
        ("が", "が"),
        ("서울시", "서울 울시 시"),
        ("𠮷野家", "𠮷野 野家 家"),
        ("ไทย", "ไท ทย ย"),
    ],
)
def test_scripts_without_spaces_become_pairs_and_the_last_character(text: str, words: str) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<p>One<br>two</p><p>three &amp; four&nbsp;five", "one two three four five"),
        ("in<b>side</b> a <a href='x'>w</a>ord", "inside a word"),
        ("a<script>var b</script>c<style>d{}</style>e<!-- f -->g", "a c e g"),
        ("open <script>never closed", "open"),
        ("1 < 2 and a <b", "1 2 and a b"),
        ("<P CLASS='x'>Upper</P>", "upper"),
        (None, ""),
    ],
)
def test_markup_is_not_searched(markup: str | None, words: str) -> None:
    assert words_of_html(markup) == words


def test_a_text_is_indexed_up_to_a_limit() -> None:
    assert len(words_of_html("word " * 1_000_000)) <= MAX_TEXT
    assert len(words_of_html("字" * 1_000_000)) <= 3 * MAX_TEXT


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<",
        "<!--",
        "<script",
        "<script>",
        "</",
        "&#1",
        "&",
        "<a b='",
        "&#" + "9" * 5000,
        "\u0301",
        "字<b>",
        "&amp;#",
    ],
)
def test_hostile_texts_are_tokenized_quickly(piece: str) -> None:
    began = time.process_time()

    words_of_html(piece * (MAX_HTML // len(piece)))

    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "words", "goes_on"),
    [
        ("word", ("word",), False),
        ("two words", ("two", "words"), False),
        ("node.js", ("node", "js"), False),
        ("你好", ("你好",), False),
        ("你好吗", ("你好", "好吗"), False),
        ("好", ("好",), True),
        ("新 好", ("新", "好"), True),
        ("手机 abc", ("手机", "机", "abc"), False),
        ("abc 手机", ("abc", "手机"), False),
        ("--", (), False),
    ],
)
def test_query_words_are_a_subset_of_the_indexed_words(text: str, words: tuple[str, ...], goes_on: bool) -> None:
    assert query_words(text) == (words, goes_on)


def test_a_url_is_found_by_its_words_and_by_every_parent_domain() -> None:
    words = words_of_url("https://me@www.my-blog.example.org:8080/2026/nice%20day").split()

    assert {"url0blog", "url0nice", "url0day"} <= set(words)
    assert {site_word("example.org"), site_word("my-blog.example.org")} <= set(words)
    assert site_word("org") not in words
    assert words_of_url(None) == ""


def test_a_host_name_with_endless_parts_gives_few_words() -> None:
    assert len(words_of_url(f"https://{'a.' * 10_000}org/")) < 100_000


def test_data_without_a_space_is_no_word() -> None:
    data = "x" * (MAX_WORD + 1)

    assert words_of(f"before {data} after {'y' * MAX_WORD}") == f"before after {'y' * MAX_WORD}"
    assert words_of(f"{'a ' * 400}{data}") == ("a " * 400).strip()
    assert words_of("数" * 3 * MAX_WORD).split() == ["数数"] * (3 * MAX_WORD - 1) + ["数"]
    assert query_words(data) == ((), False)
    assert words_of_url(f"https://{'x' * 250}.{'y' * 250}/").split()[1:] == [f"url0{'x' * 250}", f"url0{'y' * 250}"]


def test_names_are_compared_without_pairs() -> None:
    assert fold_text("每日新闻") in fold_text("《每日新闻》网")
    assert fold_text("ÉTÉ") == "ete"
