"""Large documents are passed to expat in chunks; the boundaries make no difference."""

import pytest

from feedmill.collect.parsing import xml_tree
from feedmill.collect.parsing.xml_tree import IllFormed, read_strictly


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("pieces", [1, 2])
def test_documents_with_lengths_around_a_chunk_boundary_are_read_completely(extra: int, pieces: int) -> None:
    length = pieces * xml_tree._PIECE + extra
    document = b"<a>" + b"x" * (length - len(b"<a></a>")) + b"</a>"

    root = read_strictly(document)

    assert len(document) == length
    assert len(root.text or "") == length - len(b"<a></a>")


@pytest.mark.parametrize("document", [b"", b"<a>", b"<a>" + b"x" * xml_tree._PIECE])
def test_a_document_that_ends_too_early_is_refused(document: bytes) -> None:
    with pytest.raises(IllFormed):
        read_strictly(document)
