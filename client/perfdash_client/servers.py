"""Which perfdash is meant, and the token for it: options, environment, then the stored logins."""

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from perfdash_client.errors import BadUse

URL, TOKEN = "PERFDASH_URL", "PERFDASH_TOKEN"
LOGIN_FIRST = f"Log in first: perfdash login URL; or set {URL} and {TOKEN}."


@dataclass(frozen=True, slots=True)
class Login:
    """A perfdash and a token for it. The token is in no repr, so in no message either."""

    url: str
    token: str = field(repr=False)


@dataclass(slots=True)
class Stored:
    """Logins by name, and the current one."""

    current: str = ""
    logins: dict[str, Login] = field(default_factory=dict)


def place(environment: Mapping[str, str]) -> Path:
    """Where logins are stored."""
    above = environment.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(above):  # the specification: a relative one is to be ignored
        above = str(Path.home() / ".config")
    return Path(above, "perfdash", "servers.json")


def read(path: Path) -> Stored:
    """Read the stored logins; none where there is no such file. Raise BadUse."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)
        data = json.loads(path.read_text(encoding="utf-8"))
        logins = {
            str(name): Login(str(login["url"]), str(login["token"]))
            for name, login in data["servers"].items()
        }
        return Stored(str(data.get("current", "")), logins)
    except FileNotFoundError:
        return Stored()
    except OSError as error:
        raise BadUse(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadUse(f"{path} is damaged. Remove it, and log in again.") from None


def write(path: Path, stored: Stored) -> None:
    """Store logins in a file that only its owner reads. Raise BadUse."""
    data = {
        "current": stored.current,
        "servers": {
            name: {"url": login.url, "token": login.token} for name, login in stored.logins.items()
        },
    }
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)  # which has the mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2, ensure_ascii=False)
            file.write("\n")
        os.replace(name, path)
    except OSError as error:
        raise BadUse(f"{path} cannot be written: {error.strerror}.") from None


def choose(environment: Mapping[str, str], name: str = "") -> Login:
    """Give the login that is meant: `name`, else the environment's, else the current one.

    A stored token is sent to its own URL only. Raise BadUse.
    """
    path = place(environment)
    if name:
        stored = read(path)
        if name not in stored.logins:
            known = ", ".join(stored.logins) or "none"
            raise BadUse(
                f"There is no login “{name}”; there are: {known}. perfdash login --name {name}"
            )
        return stored.logins[name]
    url, token = environment.get(URL, ""), environment.get(TOKEN, "")
    if url and token:
        return Login(checked_url(url, URL), checked_token(token, TOKEN))
    stored = read(path)
    if url:
        url = checked_url(url, URL)
        for login in stored.logins.values():
            if login.url == url:
                return login
        raise BadUse(f"{URL} is {url}, but there is no token for it. Set {TOKEN}.")
    current = stored.logins.get(stored.current)
    if current is None:
        raise BadUse(f"Which perfdash? {LOGIN_FIRST}")
    return Login(current.url, checked_token(token, TOKEN)) if token else current


def checked_url(text: str, what: str = "The URL") -> str:
    """Give the base URL without the API's path or a slash at its end. Raise BadUse."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise BadUse(f"{what} “{text}” is none: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not text.isprintable():
        raise BadUse(f"{what} “{text}” is none. Write it as https://perfdash.example.org.")
    if parts.username or parts.password:
        raise BadUse(f"{what} holds a user name. perfdash takes a token; leave the name out.")
    if parts.query or parts.fragment:
        raise BadUse(f"{what} has more than an address: leave out what follows ? or #.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix("/api/v1")
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}"


def checked_token(text: str, what: str = "The token") -> str:
    """Give the token without blanks around it. Raise BadUse, without a word of it."""
    text = text.strip()
    if not text:
        raise BadUse(f"{what} is empty. Tokens are made on the page Account of perfdash.")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise BadUse(f"{what} holds characters that no token has. Copy it again, as a whole.")
    return text


def is_readable_on_the_way(url: str) -> bool:
    """Whether others between here and there could read the token."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return parts.scheme == "http" and not (
        host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")
    )
