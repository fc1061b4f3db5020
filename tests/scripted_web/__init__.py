"""A scripted web server on loopback; a test decides every byte of its responses."""

from tests.scripted_web.resolver import ScriptedResolver
from tests.scripted_web.server import Answer, ClientConnection, ReceivedRequest, Web, web_on_one_port

__all__ = ["Answer", "ClientConnection", "ReceivedRequest", "ScriptedResolver", "Web", "web_on_one_port"]
