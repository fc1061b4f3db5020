"""A name resolver with scripted answers."""

import socket
from collections.abc import Sequence


class ScriptedResolver:
    """Each name has a list of answers, returned one after the other; the last one is repeated."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers: dict[str, list[Sequence[str]]] = {}
        self.asked: list[str] = []
        for name, given in answers.items():
            self.say(name, *given)

    def say(self, name: str, *answers: Sequence[str]) -> None:
        self._answers[name] = list(answers)

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def close(self) -> None:
        """Nothing to close."""
