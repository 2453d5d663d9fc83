"""The supported chat services, and where their addresses lead. Does not load apprise.

Only these are: most others of apprise run programs, write files, speak other protocols than HTTPS, or
let the address decide what is sent where.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from campaigns.kit.network import Rules, check_url

LONGEST = 2000
QUERY = frozenset(
    {
        *("to", "mode", "thread", "threadkey", "topic", "channel", "channels", "key", "token"),
        *("id", "workflow", "workspace", "ver", "sig", "signature", "sp", "sv", "api-version"),
    }
)
"""The allowed query parameters. Others read files, follow redirects or switch off verification."""


@dataclass(frozen=True, slots=True)
class Service:
    """One service. hosts: where it runs; `*.x`: the address names the host; empty: a server of one's own."""

    label: str
    module: str
    plugin: str
    hosts: tuple[str, ...] = ()


SLACK = Service("Slack", "slack", "NotifySlack", ("hooks.slack.com", "slack.com"))
DISCORD = Service("Discord", "discord", "NotifyDiscord", ("discord.com",))
GOOGLE = Service("Google Chat", "google_chat", "NotifyGoogleChat", ("chat.googleapis.com",))
TEAMS = Service(
    "Microsoft Teams",
    "workflows",
    "NotifyWorkflows",
    ("*.logic.azure.com", "*.api.powerplatform.com"),
)
WEBEX = Service("Webex", "webexteams", "NotifyWebexTeams", ("webexapis.com", "api.ciscospark.com"))
TELEGRAM = Service("Telegram", "telegram", "NotifyTelegram", ("api.telegram.org",))
ZULIP = Service("Zulip", "zulip", "NotifyZulip")
MATTERMOST = Service("Mattermost", "mattermost", "NotifyMattermost")
ROCKET = Service("Rocket.Chat", "rocketchat", "NotifyRocketChat")
SCHEMES = {
    "slack": SLACK,
    "discord": DISCORD,
    "gchat": GOOGLE,
    "workflows": TEAMS,
    "webex": WEBEX,
    "wxteams": WEBEX,
    "tgram": TELEGRAM,
    "zulip": ZULIP,
    "mmost": MATTERMOST,
    "mmosts": MATTERMOST,
    "rocket": ROCKET,
    "rockets": ROCKET,
}
NATIVE = {
    "hooks.slack.com": SLACK,
    "discord.com": DISCORD,
    "discordapp.com": DISCORD,
    "chat.googleapis.com": GOOGLE,
    "*.logic.azure.com": TEAMS,
    "*.api.powerplatform.com": TEAMS,
    "webexapis.com": WEBEX,
    "api.ciscospark.com": WEBEX,
}
"""Hosts whose own https:// addresses are accepted."""
PLAIN = frozenset({"mmost", "rocket"})
"""Schemes without TLS."""
LABELS = tuple(dict.fromkeys(service.label for service in SCHEMES.values()))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address leads; `shown` has no secrets."""

    service: Service
    shown: str


def place_of(address: str, rules: Rules) -> Place:
    """Return where an address leads. Raise BadAddress, or what `check_url` raises where no rule allows it."""
    if len(address) > LONGEST or not address.isascii() or not address.isprintable():
        raise BadAddress(f"Give an address of at most {LONGEST} plain ASCII characters.")
    try:
        parts = urlsplit(address)
        host = unquote(parts.hostname or "")
        service = _service(parts.scheme, host)
        port = None if parts.scheme == "tgram" else parts.port  # its token holds a colon
    except BadAddress:
        raise
    except ValueError as error:
        raise BadAddress(f"The address cannot be read: {error}.") from None
    _check_query(parts.query)
    if parts.scheme == "https" and port not in (None, 443):
        raise BadAddress(f"{service.label} is at port 443; take the port out of the address.")
    if service is ZULIP and "." not in host:
        host = f"{host}.zulipchat.com"
    fixed = bool(service.hosts) and not service.hosts[0].startswith("*.")
    if service is TEAMS and not _is_of(host, service.hosts):
        raise BadAddress(
            f"{host} is not where Microsoft Teams has workflows; copy its address as Teams shows it."
        )
    place = service.hosts[0] if fixed else host
    scheme = "http" if parts.scheme in PLAIN else "https"
    number = (port or (80 if scheme == "http" else 443)) if not fixed else 443
    check_url(f"{scheme}://{_bracketed(place)}:{number}/", rules)
    return Place(
        service, service.label if fixed else f"{service.label} at {_bracketed(place)}:{number}"
    )


def _service(scheme: str, host: str) -> Service:
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    if scheme == "https":
        for known, service in NATIVE.items():
            if _is_of(host, (known,)):
                return service
    known = ", ".join(f"{each}://" for each in SCHEMES)
    raise BadAddress(
        f"No chat service that is offered has such an address ({scheme or 'without a scheme'}). Give "
        f"one of {known}; or, of another service, its webhook as a channel of the kind webhook."
    )


def _check_query(query: str) -> None:
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if name.lower() not in QUERY:
            raise BadAddress(
                f"“{name:.40}” may not stand behind the ? of an address; take it out. What may: "
                f"{', '.join(sorted(QUERY))}."
            )


def _is_of(host: str, known: tuple[str, ...]) -> bool:
    return any(
        host == each or (each.startswith("*.") and host.endswith(each[1:])) for each in known
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class ChatFailed(Exception):
    """The message was not sent; the error says why, without secrets of the address."""


class BadAddress(ValueError):
    """The address does not belong to a supported chat service; the message says what to enter."""
