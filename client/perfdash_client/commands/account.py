"""Who I am, and at which servers: login, logout, servers, whoami."""

import sys
from typing import Annotated, Any

import typer

from perfdash_client import servers
from perfdash_client.connection import Server
from perfdash_client.errors import BadUse
from perfdash_client.session import Json, Session, session_of

NAME, FROM_STDIN = "default", "-"


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(login)
    app.command()(logout)
    app.command("servers")(list_servers)
    app.command()(whoami)


def login(
    context: typer.Context,
    url: Annotated[
        str, typer.Argument(envvar=servers.URL, help="Such as https://perf.example.org")
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            envvar=servers.TOKEN,
            help="Made on the page Account; “-” reads it from standard input. Asked for on a terminal.",
        ),
    ] = "",
    name: Annotated[str, typer.Option(help="Under which the login is stored.")] = NAME,
    json: Json = False,
) -> None:
    """Store a token for a perfdash, after the server has accepted it."""
    session = session_of(context)
    url = servers.checked_url(url or _ask(session, "URL of perfdash"))
    if token == FROM_STDIN:
        token = sys.stdin.readline()
    token = servers.checked_token(token or _ask(session, f"Token for {url}", hide=True))
    if not name.strip() or not name.isprintable():
        raise BadUse("--name is empty, or cannot be printed.")
    if servers.is_readable_on_the_way(url):
        session.out.say(
            f"Note: {url} is not encrypted; who listens on the way reads the token.", "yellow"
        )
    result = servers.Login(url, token)
    who = asked(session.reach(result))
    path = servers.place(session.environment)
    stored = servers.read(path)
    stored.logins[name], stored.current = result, name
    servers.write(path, stored)
    if session.as_json:
        session.out.give({"name": name, "url": url, "stored_in": str(path), "who": who})
    else:
        session.out.line(f"Logged in at {url} as {_user(who)}; stored as “{name}” in {path}.")
    if servers.URL in session.environment or servers.TOKEN in session.environment:
        session.out.say(
            f"Note: {servers.URL} and {servers.TOKEN} win over what is stored.", "yellow"
        )


def logout(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="Which login; the current one unless given.")] = "",
    json: Json = False,
) -> None:
    """Forget a stored token. It stays valid: revoke it on the page Account."""
    session = session_of(context)
    path = servers.place(session.environment)
    stored = servers.read(path)
    name = name or session.name or stored.current
    if name not in stored.logins:
        raise BadUse(f"There is no login “{name}”." if name else "There is no login stored.")
    url = stored.logins.pop(name).url
    if stored.current == name:
        stored.current = next(iter(stored.logins), "")
    servers.write(path, stored)
    if session.as_json:
        session.out.give({"name": name, "url": url, "current": stored.current})
    else:
        session.out.line(f"Forgot the token for {url}. Revoke it, too, on the page Account.")


def list_servers(context: typer.Context, json: Json = False) -> None:
    """List the stored logins."""
    session = session_of(context)
    stored = servers.read(servers.place(session.environment))
    rows = [
        {"name": name, "url": login.url, "current": name == stored.current}
        for name, login in stored.logins.items()
    ]
    if session.as_json:
        session.out.give(rows)
    elif rows:
        session.out.table(
            ["name", "url", ""],
            [[row["name"], row["url"], "current" if row["current"] else ""] for row in rows],
        )
    else:
        session.out.line(f"There is none. {servers.LOGIN_FIRST}")


def whoami(context: typer.Context, json: Json = False) -> None:
    """Say who the server takes me for, and what my token may do."""
    session = session_of(context)
    who = asked(session.server)
    if session.as_json:
        session.out.give({"url": session.server.url, **who})
        return
    session.out.table(
        ["", ""],
        [
            ["server", session.server.url],
            *([name.replace("_", " "), _words(who[name])] for name in who if who[name] is not None),
        ],
    )


def asked(server: Server) -> dict[str, Any]:
    """Ask who a token belongs to. Raise Refused where nobody's."""
    results: dict[str, Any] = server.get("whoami")
    return results


def _user(who: dict[str, Any]) -> str:
    user = who.get("user")
    return str(user.get("username", user) if isinstance(user, dict) else user)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _ask(session: Session, what: str, *, hide: bool = False) -> str:
    """Ask on a terminal. Raise BadUse where there is none."""
    if not sys.stdin.isatty():
        raise BadUse(
            f"{what} is missing, and there is no terminal to ask on. See perfdash login --help."
        )
    return str(typer.prompt(what, hide_input=hide, err=True))
