"""A small web on loopback that does what a test tells it to, down to the bytes."""

from tests.www.names import ScriptedNames
from tests.www.web import Answer, Seen, Web, Wire, web_on_one_port

__all__ = ["Answer", "ScriptedNames", "Seen", "Web", "Wire", "web_on_one_port"]
