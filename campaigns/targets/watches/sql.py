"""What sources over PostgreSQL's protocol share: the place that the rules allow, and a bound for servers that hang. Pure."""

from contextlib import AbstractContextManager
from time import monotonic
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg

from campaigns.kit import sql_bounds
from campaigns.kit.checked_addresses import allowed_addresses
from campaigns.kit.network import SQL_SCHEMES, NetworkError, check_url
from campaigns.targets.watches.base import Access, WatchFailed
from campaigns.targets.watches.polling import Missed

SENDER = "perfdash watch"
CONNECT_SECONDS = 5
SHOWN = 300


def connect(
    address: str, access: Access, sender: str = SENDER, **options: Any
) -> psycopg.Connection[Any]:
    """Connect to a URL with a login, at an address that the rules allow. Raise WatchFailed, Missed, psycopg.Error."""
    try:
        endpoint = check_url(address, access.rules, SQL_SCHEMES)
        place = allowed_addresses(endpoint.host, endpoint.port, access.rules)[0]
    except NetworkError as error:
        raise WatchFailed(str(error)) from None
    except OSError as error:
        raise Missed(f"“{endpoint.host}” does not resolve: {error}.", hopeless=True) from None
    return psycopg.connect(
        host=endpoint.host,
        hostaddr=place,
        port=endpoint.port,
        dbname=unquote(urlsplit(address).path.strip("/")),
        user=access.username,
        password=access.password,
        gssencmode="disable",
        application_name=sender,
        connect_timeout=CONNECT_SECONDS,
        keepalives_idle=2,
        keepalives_interval=1,
        keepalives_count=2,
        autocommit=True,
        **options,
    )


def text_of(error: psycopg.Error) -> str:
    """Return what a server said, on one line, without the last dot."""
    text = error.diag.message_primary or str(error)
    return " ".join(text.split()).removeprefix("connection failed: ").rstrip(".")[:SHOWN]


def bounded(connection: psycopg.Connection[Any], seconds: float) -> AbstractContextManager[None]:
    """Cut the connection where the server does not answer at all, or without end."""
    until = monotonic() + seconds
    return sql_bounds.bounded(connection, lambda: monotonic() > until)
