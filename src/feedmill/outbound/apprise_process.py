"""A process that sends one message with Apprise, and can do nothing else.

    python -I -B -m feedmill.outbound.apprise_process < request.json > answer.json

Apprise has its own HTTP and SMTP clients, follows redirects, and some of its addresses name files or programs. So it
runs in a process of its own whose audit hook refuses connections to addresses that the operator does not allow, files
outside Python's own, and programs. The hook sees the IP address that is really connected to, also after a redirect.
"""

import json
import os
import ssl
import sys
from base64 import b64decode
from typing import Any

from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.apprise_schemes import MAIL_SCHEMES, SCHEMES, scheme_of

MAIL_PORTS = frozenset({25, 465, 587, 2525})
# Apprise makes their text from the HTML.
HTML_MAIL_SCHEMES = MAIL_SCHEMES | {"mailgun", "sendgrid", "ses", "smtp2go", "sparkpost", "postmark", "resend", "brevo"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
FORBIDDEN_EVENTS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn", "pty.spawn"}
    | {"socket.sendto", "socket.sendmsg", "ctypes.dlopen", "os.remove", "os.rename", "os.mkdir", "os.rmdir"}
    | {"os.chmod", "os.link", "os.symlink", "os.truncate", "shutil.copyfile", "shutil.move"}
)
READABLE_FILES = ("/dev/urandom", "/dev/null", "/etc/mime.types", "/etc/localtime")
MAX_DETAIL = 200


class Guard:
    """The audit hook. `refused` says whether something was refused, and which kind of thing."""

    def __init__(self, policy: AddressPolicy, allows_mail_ports: bool) -> None:
        self._policy = policy
        self._allows_mail_ports = allows_mail_ports
        self._folders = tuple(os.path.realpath(folder) + os.sep for folder in _readable_folders())
        self.refused = ""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            if not self._may_connect(arguments[1]):
                self._refuse("address")
        elif event == "open":
            if not self._may_open(arguments[0], arguments[2]):
                self._refuse("file")
        elif event in FORBIDDEN_EVENTS:
            self._refuse("local")

    def _refuse(self, what: str) -> None:
        self.refused = self.refused or what
        raise PermissionError(f"a notification may not use this {what}")

    def _may_connect(self, address: object) -> bool:
        if not isinstance(address, tuple) or not isinstance(address[0], str):
            return False
        verdict = self._policy.verdict(address[0], int(address[1]))
        is_mail = self._allows_mail_ports and verdict == "port" and int(address[1]) in MAIL_PORTS
        return verdict in ("public", "allowed") or is_mail

    def _may_open(self, path: object, flags: object) -> bool:
        """Files of Python and of certificates, to be read; a number is a file that is open already."""
        if isinstance(path, int):
            return True
        if isinstance(flags, int) and flags & WRITING and path != "/dev/null":
            return False
        real = os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]
        return real in READABLE_FILES or real.startswith(self._folders)


def _readable_folders() -> list[str]:
    own = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path.endswith(("site-packages", "src")))}
    paths = ssl.get_default_verify_paths()
    found = {paths.capath, paths.openssl_capath, paths.cafile and os.path.dirname(paths.cafile)}
    return [path for path in {*own, *found, "/etc/ssl", "/usr/share/zoneinfo"} if path]


def send(request: dict[str, Any]) -> dict[str, Any]:
    """Sends the message; `reason` is the code of what went wrong, `detail` what Apprise says about it."""
    import apprise  # noqa: PLC0415 (only here, and before the guard: it looks for its plugins)

    scheme = scheme_of(request["url"])
    if scheme not in SCHEMES:
        return {"reason": "local", "detail": ""}
    guard = Guard(AddressPolicy(request["allow_private"]), scheme in MAIL_SCHEMES)
    # Imports the modules of all services, some of which look at this machine.
    apprise.Apprise.instantiate("json://localhost")
    sys.addaudithook(guard)
    with apprise.LogCapture(  # type: ignore[no-untyped-call]
        level=apprise.logging.WARNING, fmt="%(message)s"
    ) as said:
        sender = apprise.Apprise()
        if not sender.add(request["url"]):
            return {"reason": guard.refused or "not_understood", "detail": ""}
        is_html = bool(request["html"]) and scheme in HTML_MAIL_SCHEMES
        body_format = apprise.NotifyFormat.HTML if is_html else apprise.NotifyFormat.TEXT
        body = request["html" if is_html else "body"]
        pictures = _attached(sender, request["pictures"])
        is_sent = sender.notify(title=request["title"], body=body, body_format=body_format, attach=pictures)
        detail = said.getvalue().strip().partition("\n")[0]
    return {"reason": "" if is_sent else guard.refused or "not_sent", "detail": detail[:MAX_DETAIL]}


def _attached(sender: Any, pictures: list[dict[str, str]]) -> Any:
    """The pictures as attachments that the HTML of a mail shows; None without pictures."""
    if not pictures:
        return None
    from apprise.attachment.memory import AttachMemory  # noqa: PLC0415 (as Apprise itself)

    for service in sender:
        service.inline = True
    return [
        AttachMemory(b64decode(each["content"]), each["name"], each["content_type"])  # type: ignore[no-untyped-call]
        for each in pictures
    ]


def main() -> None:
    answer = send(json.loads(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
