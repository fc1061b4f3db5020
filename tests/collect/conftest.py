"""Both ways of reading well-formed XML: expat's, and the compiled one that leaves to expat what it doubts."""

import pytest

from feedmill.collect import xml_tree

try:
    from feedmill.collect import plain_tree
except ImportError:
    plain_tree = None  # type: ignore[assignment]


@pytest.fixture(params=["compiled", "expat"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test once for each way."""
    if request.param == "compiled" and plain_tree is None:
        pytest.skip("plain_tree.pyx was not compiled")
    if request.param == "expat":
        monkeypatch.setattr(xml_tree, "read_plainly", lambda utf8: None)
