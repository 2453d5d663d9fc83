"""Sends one message: reads the request from stdin as JSON, and writes a line of JSON to stdout.

Plug-ins of apprise make their connections themselves, and take neither a session nor an address. So this process has its resolver
replaced and every connection watched (`keep_to`), in place of `campaigns.kit.checked_addresses`.
"""

import json
import logging
import resource
import signal
import socket
import sys
from importlib import import_module
from typing import Any

import requests
from apprise import AppriseAsset

from campaigns.kit.chat_services.services import BadAddress, Place, place_of
from campaigns.kit.mappings import JsonObject
from campaigns.kit.network import NetworkError, Refused, Rules, unwrapped

LONGEST_SECONDS = 40
"""The process that starts it ends it sooner, unless it was killed."""

MOST_MEMORY = 1 << 30
MOST_CPU_SECONDS = 20
NEVER = frozenset(
    {
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
        *("os.forkpty", "pty.spawn", "socket.bind", "socket.sendto", "socket.sendmsg"),
    }
)


class Complaints(logging.Handler):
    """Collects warnings of apprise, which returns only whether it succeeded."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def main() -> None:
    """Send the message and print the failure, or an empty text."""
    signal.alarm(LONGEST_SECONDS)
    request = json.load(sys.stdin)
    complaints = Complaints()
    log = logging.getLogger("apprise")
    log.handlers, log.propagate = [complaints], False
    failure = _send(request)
    if failure and complaints.lines:
        failure = complaints.lines[-1]
    print(json.dumps({"failure": failure}))  # noqa: T201 - it is the answer


def _send(request: JsonObject) -> str:
    """Send the message; return the failure, or an empty text."""
    rules = Rules.from_json(request["rules"])
    try:
        plugin = _plugin(request["address"], place_of(request["address"], rules))
        keep_to(rules)
        sent = plugin.notify(body=request["body"], title=request["title"], body_format="text")
    except (BadAddress, NetworkError) as refused:
        return str(refused)
    except MemoryError:
        return "the answer was too large"
    except Exception as error:  # noqa: BLE001 - any exception of a plugin is a failure
        return _innermost(error)
    return "" if sent else "the service did not take it"


def _plugin(address: str, place: Place) -> Any:
    """Return the plugin for an address. Raise BadAddress where apprise cannot parse it."""
    module = import_module(f"apprise.plugins.{place.service.module}")
    plugin = getattr(module, place.service.plugin)
    native = address.startswith("https://")
    parsed = plugin.parse_native_url(address) if native else plugin.parse_url(address)
    if not parsed:
        raise BadAddress(f"{place.service.label} has no such address; copy it whole.")
    asset = AppriseAsset(http_redirects=False, storage_path=None, plugin_paths=[])
    try:
        return plugin(**parsed | {"asset": asset, "redirect": False, "verify": True})
    except TypeError as error:
        raise BadAddress(f"{place.service.label} does not take this address: {error}") from None


def _innermost(error: BaseException) -> str:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return f"{type(error).__name__}: {error}"[:300]


# An audit hook cannot be removed, and runs before each connection, program and datagram.
# Names are resolved by one function, which drops what the rules exclude and notes what they allow: a
# connection goes to an address that was looked at, not to what a name has come to mean since.
def keep_to(rules: Rules) -> None:
    """Prevent this process from connecting elsewhere, starting programs and writing files."""
    allowed: set[tuple[str, int]] = set()
    resolve = socket.getaddrinfo

    def checked(host: Any, port: Any, *arguments: Any, **named: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        entries = resolve(host, port, *arguments, **named)
        number = int(entries[0][4][1])
        permitted = rules.allowed_of(entries, number, name, lambda entry: str(entry[4][0]))
        allowed.update((str(unwrapped(str(entry[4][0]))), number) for entry in permitted)
        return permitted

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in NEVER:
            raise Refused(f"A chat service may not do this: {event}.")
        if event == "socket.connect":
            made, address = arguments
            if made.family not in (socket.AF_INET, socket.AF_INET6):
                raise Refused("A chat service may only connect by TCP.")
            plain, number = str(unwrapped(str(address[0]))), int(address[1])
            if (plain, number) not in allowed:
                rules.check(plain, number)

    sys.dont_write_bytecode = True
    socket.getaddrinfo = checked
    requests.Session.get_redirect_target = lambda *_: None  # type: ignore[method-assign]
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))
    sys.addaudithook(watch)


if __name__ == "__main__":
    main()
