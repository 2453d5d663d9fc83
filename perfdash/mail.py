"""Reads the address of the mail server from a setting. No Django but its error."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
WANTED = (
    "PERFDASH_EMAIL_URL must be smtp://host:port, smtp+tls://user:password@host:587 (STARTTLS) or "
    "smtps://user:password@host:465 (TLS from the start)"
)


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where e-mail is handed in; an empty host: nowhere."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False

    @property
    def addresses(self) -> list[str]:
        """Give `host:port`, where workers never send load; nothing where there is no server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return [f"{host}:{self.port}"] if host else []


def mail_server(url: str) -> MailServer:
    """Read it. Raise ImproperlyConfigured; the URL is not quoted, it may hold a password."""
    if not url:
        return MailServer()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{WANTED}; it cannot be read: {error}.") from None
    if parts.scheme not in PORTS:
        raise ImproperlyConfigured(f"{WANTED}; its scheme is {parts.scheme!r}.")
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{WANTED}, and nothing behind that.")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isascii():  # smtplib sends no other
        raise ImproperlyConfigured(f"{WANTED}; user and password may hold ASCII only.")
    return MailServer(
        host=parts.hostname,
        port=port or PORTS[parts.scheme],
        user=user,
        password=password,
        starttls=parts.scheme == "smtp+tls",
        tls=parts.scheme == "smtps",
    )
