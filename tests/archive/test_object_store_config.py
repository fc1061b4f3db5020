from pathlib import Path

import pytest

from feedmill.archive.object_store_config import FolderConfig, S3Config, parse_objects_url
from feedmill.errors import BadSetting


@pytest.mark.parametrize("text", ["objects", "/var/lib/feedmill/objects", "./a b", "C:objects"])
def test_a_path_is_a_folder(text: str) -> None:
    assert parse_objects_url(text) == FolderConfig(Path(text))


def test_a_path_may_start_at_home() -> None:
    assert parse_objects_url("~/objects") == FolderConfig(Path.home() / "objects")


def test_a_bucket_alone_is_amazons() -> None:
    assert parse_objects_url("s3://media", "key", "secret") == S3Config("media", access_key="key", secret_key="secret")


def test_every_option_of_a_bucket_is_read() -> None:
    url = "s3://media/feed/mill/?endpoint=http://nas:9000/&region=auto&path_style=no&direct=no"

    config = parse_objects_url(url + "&public_url=https://img.example.org/")

    assert config == S3Config(
        "media",
        prefix="feed/mill",
        endpoint="http://nas:9000",
        region="auto",
        path_style=False,
        public_url="https://img.example.org",
        direct=False,
    )


def test_keys_do_not_show_when_a_configuration_is_printed() -> None:
    shown = repr(parse_objects_url("s3://media", "AKIA123", "hush"))

    assert "AKIA123" not in shown
    assert "hush" not in shown


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "give a folder"),
        ("  ", "give a folder"),
        ("gs://media", "gs:// is not supported"),
        ("https://bucket.example.org", "https:// is not supported"),
        ("s3://", "needs a bucket"),
        ("s3:///prefix", "needs a bucket"),
        ("s3://media:9000/x", "needs a bucket"),
        ("s3://key:hush@media", "s3_access_key"),
        ("s3://[media", "not a URL"),
        ("s3://media?endpont=http://x", "unknown option endpont"),
        ("s3://media?endpoint=nas:9000", "endpoint must start with"),
        ("s3://media?endpoint=http://", "endpoint must start with"),
        ("s3://media?endpoint=http://u:hush@nas", "plain address"),
        ("s3://media?path_style=maybe", "path_style is yes or no"),
        ("s3://media?direct=", "direct is yes or no"),
        ("s3://media/a//b", "not a valid prefix"),
        ("s3://media/../b", "not a valid prefix"),
        ("s3://media/日本", "plain ASCII"),
        ("s3://media/" + "x" * 101, "at most 100"),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_the_setting(text: str, complaint: str) -> None:
    with pytest.raises(BadSetting, match=complaint) as caught:
        parse_objects_url(text)

    assert str(caught.value).startswith("objects: ")
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("keys", [("key", ""), ("", "secret")])
def test_one_key_without_the_other_is_refused(keys: tuple[str, str]) -> None:
    with pytest.raises(BadSetting, match="go together"):
        parse_objects_url("s3://media", *keys)
