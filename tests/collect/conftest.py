"""Both ways of reading well-formed XML: expat's, and the compiled one that leaves to expat what it doubts."""

import pytest

from feedmill.collect import xml_tree
from tests.cli.disks import cannot


@pytest.fixture(params=["compiled", "expat"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test once for each way."""
    if request.param == "expat":
        monkeypatch.setattr(xml_tree, "read_plainly", lambda utf8: None)
    elif xml_tree.read_plainly.__module__ == xml_tree.__name__:
        cannot("plain_tree.pyx was not compiled")
