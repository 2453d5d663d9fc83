"""A mail server on loopback, the real thing: keeps what it takes, or answers as it is told."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class Mailbox:
    """`answer`: to RCPT, where it is not to be taken."""

    answer: str = ""
    got: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
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
        self.got.append((list(envelope.rcpt_tos), parsed))
        return "250 taken"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        box.port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=box.port, ready_timeout=10)
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
