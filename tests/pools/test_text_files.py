"""Files of texts for pools: lines, JSON lines and CSV. Whatever is wrong with a line, the others are read."""

from io import BytesIO

import pytest

from feedmill.errors import BadInput
from feedmill.model.pool import PoolKind, PoolText
from feedmill.pools import text_files
from feedmill.pools.text_files import BadLine, TextFileFormat, TextFileOptions, read_text_file

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS
LINES, JSONL, CSV = TextFileFormat.LINES, TextFileFormat.JSONL, TextFileFormat.CSV
OPTIONS = TextFileOptions(TITLES, 7)


def read(data: bytes, format: TextFileFormat, kind: PoolKind = TITLES) -> tuple[list[str], list[int]]:
    """The texts of the file, and the numbers of its bad lines."""
    found = list(read_text_file(BytesIO(data), format, TextFileOptions(kind, 7)))
    texts = [f"{each[0]}: {each[1].text}" for each in found if not isinstance(each, BadLine)]
    return texts, [each.number for each in found if isinstance(each, BadLine)]


def texts_of(data: bytes, format: TextFileFormat) -> list[PoolText]:
    return [each[1] for each in read_text_file(BytesIO(data), format, OPTIONS) if not isinstance(each, BadLine)]


def test_each_line_is_a_text_and_empty_ones_are_skipped() -> None:
    assert read("\ufeffone\r\n\n 二 \nlast".encode(), LINES) == (["titles: one", "titles:  二 ", "titles: last"], [])


def test_bad_lines_are_told_with_their_number_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "MAX_LINE_BYTES", 20_000)
    data = b"one\n" + b"\xff\xfe\n" + b"two\n" + b"x" * 70_000 + b"\n" + b"nul \x00\n" + b"y" * 10_001 + b"\nthree"

    assert read(data, LINES) == (["titles: one", "titles: two", "titles: three"], [2, 4, 5, 6])


def test_json_lines_have_ids_batches_and_both_pools() -> None:
    data = b"""
{"id": 5, "text": "one", "batch_id": 9, "status": 1}
{"id": "a", "title": "two", "content": "<p>two</p>"}
"three"
"""
    found = [each for each in read_text_file(BytesIO(data), JSONL, OPTIONS) if not isinstance(each, BadLine)]

    assert found[:3] == [
        (TITLES, PoolText("5", "one", 9)),
        (TITLES, PoolText("a", "two", 7)),
        (CONTENTS, PoolText("a", "<p>two</p>", 7)),
    ]
    assert found[3][1].text == "three"


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"5",
        b"{}",
        b'{"text": ""}',
        b'{"text": ["x"]}',
        b'{"text": "x", "id": ""}',
        b'{"text": "x", "id": 1.5}',
        b'{"text": "x", "id": true}',
        b'{"text": "x", "id": 1' + b"0" * 4000 + b"}",
        b'{"text": "x", "batch_id": -1}',
        b'{"text": "x", "batch_id": "soon"}',
        b'{"text": "x", "batch_id": false}',
        b'{"text": "\\u0000"}',
        b'{"text": "\\ud83d"}',
        b"[" * 100_000,
    ],
)
def test_a_bad_line_of_json_loses_nothing_else(line: bytes) -> None:
    assert read(b'{"text": "one"}\n' + line + b'\n{"text": "two"}\n', JSONL) == (["titles: one", "titles: two"], [2])


def test_csv_has_a_header_quotes_and_line_feeds_in_fields() -> None:
    data = b'ID,Batch_Id,Text,other\r\n1,9,"a ""quoted"", text",x\r\n\r\n2,,"two\r\nlines"\r\n'

    assert texts_of(data, CSV) == [PoolText("1", 'a "quoted", text', 9), PoolText("2", "two\r\nlines", 7)]


def test_csv_as_the_tables_of_titles_and_contents_are_exported() -> None:
    data = "id,group_id,title,content,batch_id,status\n1,7,标题,<p>正文</p>,20260218,1\n2,7,Two,,20260218,1\n"

    assert read(data.encode(), CSV) == (["titles: 标题", "contents: <p>正文</p>", "titles: Two"], [])


@pytest.mark.parametrize(
    ("row", "bad"),
    [
        (b'2,"never closed', [3]),
        (b'2,"closed" too early', [3]),
        (b"2,a,b,c", [3]),
        (b"2,", [3]),
        (b"2,\xff", [3]),
        (b"2,nul \x00", [3]),
        (b'2,"never closed\n4,"x" y', [3, 4]),
        (b'2,"a field with\n\xff', [3, 4]),
    ],
)
def test_a_bad_row_of_csv_loses_nothing_else(row: bytes, bad: list[int]) -> None:
    data = b"id,text\n1,one\n" + row + b"\n5,five\n6,six\n"

    assert read(data, CSV) == (["titles: one", "titles: five", "titles: six"], bad)


def test_a_row_that_is_longer_than_any_text_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "MAX_LINE_BYTES", 200)
    rows = b"".join(b"%d,text %d\n" % (number, number) for number in range(3, 60))

    texts, bad = read(b'id,text\n2,"never closed\n' + rows, CSV)

    assert (len(texts), bad) == (57, [2])


@pytest.mark.parametrize("header", [b"", b"a,b\n1,2\n", b"\n"])
def test_csv_without_a_known_column_is_refused(header: bytes) -> None:
    if not header.strip():
        assert read(header, CSV) == ([], [])
        return
    with pytest.raises(BadInput):
        read(header, CSV)


def test_lines_go_to_the_pool_that_is_named() -> None:
    assert read(b"<p>one</p>", LINES, CONTENTS) == (["contents: <p>one</p>"], [])
    assert read(b'{"text": "one"}', JSONL, CONTENTS) == (["contents: one"], [])
