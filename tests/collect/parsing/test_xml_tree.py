"""Large documents are handed to expat in pieces; where they are cut makes no difference."""

import pytest

from feedmill.collect.parsing import xml_tree
from feedmill.collect.parsing.xml_tree import IllFormed, read_strictly


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_document_of_any_length_around_a_piece_is_read_whole(extra: int, pieces: int) -> None:
    length = pieces * xml_tree._PIECE + extra
    document = b"<a>" + b"x" * (length - len(b"<a></a>")) + b"</a>"

    root = read_strictly(document)

    assert len(document) == length
    assert len(root.text or "") == length - len(b"<a></a>")


@pytest.mark.parametrize("document", [b"", b"<a>", b"<a>" + b"x" * xml_tree._PIECE])
def test_a_document_that_ends_too_early_is_refused(document: bytes) -> None:
    with pytest.raises(IllFormed):
        read_strictly(document)
