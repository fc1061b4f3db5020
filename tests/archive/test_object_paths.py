import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from feedmill.archive.object_paths import MAX_PATH_BYTES, folder_of, key_of, path_of
from feedmill.errors import ObjectKeyTooLong

any_key = st.text(st.one_of(st.characters(codec=None), st.sampled_from("aA.tTzZ09/%-")), max_size=60)


@pytest.mark.parametrize(
    "key",
    [
        "images/1/ab12cd34/0.png",
        "images/12/ab12cd34-00112233445566778899aabbccddeeff/17.svg",
        "backups/7/2026-02-18T08:30:00.123Z.xml",
    ],
)
def test_our_own_keys_are_their_own_paths(key: str) -> None:
    assert path_of(key) == key


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("note", "note%."),
        ("a/b", "a/b%."),
        ("v1.2/a.png", "v1%2e2/a.png"),
        ("../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd%."),
        ("/etc", "%/etc%."),
        ("a//b.c", "a/%/b.c"),
        ("", "%."),
        (".partial/x.y", "%2epartial/x.y"),
        ("A.png", "%41.png"),
        ("1t.png", "1%74.png"),
        ("a\\b\0.png", "a%5cb%00.png"),
        ("50%.png", "50%25.png"),
        ("é.png", "%c3%a9.png"),
        ("a" * 250 + ".png", "%/".join(["a" * 66] * 3 + ["a" * 52 + ".png"])),
    ],
)
def test_what_a_store_could_trip_over_is_spelled_out(key: str, path: str) -> None:
    assert path_of(key) == path
    assert key_of(path) == key


@given(any_key)
@example("a" * 300)
@example("é" * 100 + "/" + "." * 100)
def test_every_key_is_read_back_from_its_path(key: str) -> None:
    assert key_of(path_of(key)) == key


@given(any_key)
@example("A" * 200 + "." + "B" * 30)
def test_every_path_is_one_that_any_store_can_hold(key: str) -> None:
    names = path_of(key).split("/")

    for name in names:
        assert 0 < len(name) <= 200
        assert name.isascii()
        assert name.isprintable()
        assert not name.startswith(".")
        assert "\\" not in name


@given(any_key, any_key)
@example("a/2T", "a/2t")
@example("TT", "Tt")
@example("Straße", "STRASSE")
def test_two_keys_never_meet_even_where_case_does_not_count(one: str, other: str) -> None:
    assert (path_of(one).casefold() == path_of(other).casefold()) == (one == other)


@given(any_key, any_key)
@example("a", "b")
@example("a.b", "c")
@example("a" * 250, "b")
@example("x" * 150 + "." + "y" * 100, "b")
def test_a_file_is_never_where_another_key_needs_a_folder(key: str, rest: str) -> None:
    assert not path_of(f"{key}/{rest}").startswith(path_of(key) + "/")


@given(any_key, any_key)
def test_a_key_lies_in_the_folder_of_each_of_its_prefixes(prefix: str, rest: str) -> None:
    assert path_of(prefix + rest).startswith(folder_of(prefix))


@pytest.mark.parametrize("path", ["README.md", "lost+found", "a", "a%2", "%zz.png", "%ff.png", "a.b/c.png", "%", ""])
def test_a_path_that_no_key_has_is_not_ours(path: str) -> None:
    assert key_of(path) is None


def test_a_key_that_no_store_could_hold_is_refused() -> None:
    assert len(path_of("x" * 800)) <= MAX_PATH_BYTES

    with pytest.raises(ObjectKeyTooLong, match="too long"):
        path_of("x" * 1000)
