"""A mail server on loopback, the real thing: keeps what it takes, or answers as it is told."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


@dataclass
class Mailbox:
    """`answer`: to RCPT, where it is not to be taken. `password`: of ada, whom alone it lets in then.

    `encrypted`: of each mail that came, whether it came over TLS. `typed`: passwords that were sent.
    """

    answer: str = ""
    password: str = ""
    got: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    port: int = 0

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if self.answer:
            return self.answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        parsed = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        tls = server.transport.get_extra_info("ssl_object")
        self.encrypted.append(tls is not None)
        self.got.append((list(envelope.rcpt_tos), parsed))
        return "250 taken"

    def let_in(
        self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.typed.append(data.password.decode())
        good = (data.login, self.typed[-1]) == (b"ada", self.password)
        return AuthResult(success=good, handled=False)


@contextmanager
def mailbox(
    starttls: ssl.SSLContext | None = None, tls: ssl.SSLContext | None = None, password: str = ""
) -> Iterator[Mailbox]:
    """`starttls`: it wants TLS after the greeting; `tls`: from the start."""
    box = Mailbox(password=password)
    with socket.create_server(("127.0.0.1", 0)) as free:
        box.port = free.getsockname()[1]
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=box.port,
        ready_timeout=10,
        ssl_context=tls,
        tls_context=starttls,
        require_starttls=starttls is not None,
        authenticator=box.let_in,
        auth_required=bool(password),
        auth_require_tls=starttls is not None,
    )
    controller.start()
    try:
        yield box
    finally:
        controller.stop()


@contextmanager
def silent() -> Iterator[int]:
    """A port where somebody takes connections and says a letter now and then, for ever."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    while not ended.wait(0.05):
                        connection.sendall(b"2")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            ended.set()
            thread.join(5)


@contextmanager
def mute(*, until_starttls: bool) -> Iterator[int]:
    """A port where somebody never says a word of TLS: not from the start, or not once it is agreed on."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection, connection.makefile("rb") as lines:
                    if until_starttls:
                        for words in (
                            b"220 box\r\n",
                            b"250-box\r\n250 STARTTLS\r\n",
                            b"220 go on\r\n",
                        ):
                            connection.sendall(words)
                            lines.readline()
                    ended.wait(60)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            ended.set()
            thread.join(5)
