"""The site and the people of the pages' tests."""

from tests.web.conftest import alice, charlie, nobody, site

__all__ = ["alice", "charlie", "nobody", "site"]
