"""A small web on loopback that does what a test tells it to, down to the bytes."""

from tests.www.names import ScriptedNames
from tests.www.web import Answer, Seen, Web, Wire

__all__ = ["Answer", "ScriptedNames", "Seen", "Web", "Wire"]
