"""Hands messages to the mail server of the settings: plain text, and the same as simple HTML."""

import smtplib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.headerregistry import Address
from email.utils import formatdate
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.template.loader import render_to_string

from campaigns.credentials import decrypt
from campaigns.models import Channel, Delivery
from campaigns.notifications.errors import DeliveryFailed
from campaigns.notifications.messages import Message

TOTAL_SECONDS = 20.0


def is_offered() -> bool:
    """Whether this installation knows a mail server."""
    return bool(settings.EMAIL_SERVER.host)


def address_of(channel: Channel) -> str:
    """Where an e-mail channel goes: its own address, else the account's. Raise SecretUnreadable."""
    return decrypt(channel.address) or channel.user.email


def send(delivery: Delivery, message: Message) -> None:
    """Hand it in. Raise DeliveryFailed where the server did not take it."""
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
            raise DeliveryFailed(f"The mail server did not take it: {_words(error)}") from error
        with suppress(OSError, smtplib.SMTPException):
            backend.close()  # it was taken, whatever becomes of the farewell


def mail(delivery: Delivery, message: Message, to: str) -> EmailMultiAlternatives:
    """Write the mail; its Message-ID is the same at every try."""
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
        render_to_string("notifications/mail.html", {"message": message}), "text/html"
    )
    return made


@contextmanager
def _deadline() -> Iterator[EmailBackend]:
    """A connection that is broken off when its time is over, however slowly the server talks."""
    opened: list[smtplib.SMTP] = []
    timer = threading.Timer(TOTAL_SECONDS, partial(_break_off, opened))
    timer.daemon = True
    timer.start()
    backend = _Backend(opened)
    try:
        yield backend
    finally:
        timer.cancel()
        _close(opened)


class _Backend(EmailBackend):
    """Django's, which also tells which connections it has begun."""

    def __init__(self, opened: list[smtplib.SMTP]) -> None:
        super().__init__()
        self._opened = opened

    @property
    def connection_class(self) -> Any:
        """Make a connection, and note it before it talks."""
        usual: type[smtplib.SMTP] = super().connection_class
        opened = self._opened

        class Noted(usual):  # type: ignore[valid-type,misc]
            def __init__(self, *arguments: Any, **named: Any) -> None:
                opened.append(self)
                super().__init__(*arguments, **named)

        return Noted


def _break_off(opened: list[smtplib.SMTP]) -> None:
    for each in opened:
        if each.sock is not None:
            with suppress(OSError):
                each.sock.shutdown(socket.SHUT_RDWR)


def _close(opened: list[smtplib.SMTP]) -> None:
    for each in opened:
        with suppress(OSError):
            each.close()


def _domain() -> str:
    """What stands behind the @ of a Message-ID: the host of perfdash, else that of its address."""
    host = urlsplit(settings.BASE_URL).hostname
    if host:
        return host
    with suppress(ValueError):
        return Address(addr_spec=settings.DEFAULT_FROM_EMAIL).domain or "perfdash.invalid"
    return "perfdash.invalid"


def _words(error: Exception) -> str:
    match error:
        case smtplib.SMTPRecipientsRefused():
            answers = [f"{code} {_decoded(text)}" for code, text in error.recipients.values()]
            return f"it refused the recipient: {'; '.join(answers)}"
        case smtplib.SMTPResponseException():
            return f"{error.smtp_code} {_decoded(error.smtp_error)}"
        case TimeoutError():
            return "it took too long"
    return str(error) or type(error).__name__


def _decoded(text: bytes | str) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
