"""Send messages through the mail server of the settings, as plain text and simple HTML."""

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.headerregistry import Address
from email.utils import formatdate
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.template.loader import render_to_string

from campaigns.accounts.notifications.errors import DeliveryFailed
from campaigns.accounts.notifications.messages import Message
from campaigns.kit.encryption import decrypt
from campaigns.kit.http.guarded import Opened
from campaigns.models import Channel, Delivery

TOTAL_SECONDS = 20.0
TOO_LONG = "it took too long"


def is_offered() -> bool:
    """Return whether this installation knows a mail server."""
    return bool(settings.EMAIL_SERVER.host)


def address_of(channel: Channel) -> str:
    """Return the address of an e-mail channel: its own, else the account's. Raise SecretUnreadable."""
    return decrypt(channel.address) or channel.user.email


def send(delivery: Delivery, message: Message) -> None:
    """Send a message by e-mail. Raise DeliveryFailed where the mail server did not accept it."""
    if not is_offered():
        raise DeliveryFailed(
            "This installation has no mail server any more; an administrator sets PERFDASH_EMAIL_URL."
        )
    to = address_of(delivery.channel)
    if not to:
        raise DeliveryFailed("The account has no e-mail address; give the channel one of its own.")
    with _deadline() as backend:
        try:
            backend.open()
            backend.send_messages([mail(delivery, message, to)])
        except (OSError, smtplib.SMTPException, ValueError) as error:
            text = TOO_LONG if backend.is_late else _text(error)
            raise DeliveryFailed(f"The mail server did not take it: {text}") from error
        with suppress(OSError, smtplib.SMTPException):
            backend.close()  # the mail was accepted; errors while closing do not matter


def mail(delivery: Delivery, message: Message, to: str) -> EmailMultiAlternatives:
    """Return the e-mail; its Message-ID is the same at every attempt."""
    choices = message.choices_url
    footer = f"\n\n-- \nYou chose to be told of this: {choices}\n" if choices else "\n"
    made = EmailMultiAlternatives(
        subject=f"[perfdash] {message.subject}",
        body=message.text + footer,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[to],
        headers={
            "Message-ID": f"<{delivery.uid}@{_domain()}>",
            "Date": formatdate(delivery.created_at.timestamp()),
            "Auto-Submitted": "auto-generated",
            **({"List-Unsubscribe": f"<{choices}>"} if choices else {}),
        },
    )
    made.attach_alternative(
        render_to_string("accounts/notifications/mail.html", {"message": message}), "text/html"
    )
    return made


@contextmanager
def _deadline() -> Iterator["_Backend"]:
    """Yield a backend whose connection is closed at the deadline, however slow the server is."""
    backend = _Backend()
    timer = threading.Timer(TOTAL_SECONDS, backend.break_off)
    timer.daemon = True
    timer.start()
    try:
        yield backend
    finally:
        timer.cancel()
        backend.end()


class _Backend(EmailBackend):
    """Django's backend, which can close its connections from another thread, also during a TLS handshake."""

    def __init__(self) -> None:
        super().__init__()
        self.is_late = False
        self._opened = Opened()
        self._begun: list[smtplib.SMTP] = []

    def break_off(self) -> None:
        """Close the connection at the deadline."""
        self.is_late = True
        self._opened.break_off()

    def end(self) -> None:
        """Close all connections."""
        self._opened.break_off()
        for each in self._begun:
            with suppress(OSError):
                each.close()

    @property
    def connection_class(self) -> Any:
        """Return the class of connections, which records each socket when it opens."""
        opened, begun = self._opened, self._begun

        class Plain(smtplib.SMTP):
            def _get_socket(self, *arguments: Any) -> socket.socket:
                begun.append(self)
                made: socket.socket = super()._get_socket(*arguments)  # type: ignore[misc]
                opened.add(made)
                return made

        class Encrypted(smtplib.SMTP_SSL, Plain):
            """Its sockets come from the other one, before it speaks TLS."""

        return Encrypted if self.use_ssl else Plain


def _domain() -> str:
    """Return the domain of Message-IDs: the host of perfdash, else the domain of its address."""
    host = urlsplit(settings.BASE_URL).hostname
    if host:
        return host
    with suppress(ValueError):
        return Address(addr_spec=settings.DEFAULT_FROM_EMAIL).domain or "perfdash.invalid"
    return "perfdash.invalid"


def _text(error: Exception) -> str:
    match error:
        case smtplib.SMTPRecipientsRefused():
            answers = [f"{code} {_decoded(text)}" for code, text in error.recipients.values()]
            return f"it refused the recipient: {'; '.join(answers)}"
        case smtplib.SMTPResponseException():
            return f"{error.smtp_code} {_decoded(error.smtp_error)}"
        case ssl.SSLCertVerificationError():
            return (
                f"its certificate is not trusted for {settings.EMAIL_HOST}: "
                f"{error.verify_message.rstrip('.')}. Nothing was sent. An administrator has it "
                "replaced, or has the authority that signed it trusted by SSL_CERT_FILE."
            )
        case ssl.SSLError():
            return (
                f"it does not speak TLS as it was asked to ({error.reason or error}). Nothing was "
                "sent. An administrator looks at the scheme and the port of PERFDASH_EMAIL_URL."
            )
        case TimeoutError():
            return TOO_LONG
    return str(error) or type(error).__name__


def _decoded(text: bytes | str) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
