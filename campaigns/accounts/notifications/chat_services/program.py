"""Sends one message: takes its request on stdin as JSON, and answers with a line of JSON on stdout."""

import json
import logging
import signal
import sys
from importlib import import_module
from typing import Any

from apprise import AppriseAsset

from campaigns.accounts.notifications.chat_services import guard
from campaigns.accounts.notifications.chat_services.errors import BadAddress
from campaigns.accounts.notifications.chat_services.services import Place, place_of
from campaigns.kit.network import NetworkError, Rules

LONGEST_SECONDS = 40
"""Its starter ends it sooner, unless that was killed."""


class Complaints(logging.Handler):
    """Keeps what apprise complains of; it tells its callers no more than yes or no."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(record.getMessage())


def main() -> None:
    """Send it, and say how that ended."""
    signal.alarm(LONGEST_SECONDS)
    request = json.load(sys.stdin)
    complaints = Complaints()
    log = logging.getLogger("apprise")
    log.handlers, log.propagate = [complaints], False
    words = _send(request)
    if words and complaints.lines:
        words = complaints.lines[-1]
    print(json.dumps({"failure": words}))  # noqa: T201 - it is the answer


def _send(request: dict[str, Any]) -> str:
    """Send; give the words of a failure, or nothing."""
    rules = Rules.from_json(request["rules"])
    try:
        plugin = _plugin(request["address"], place_of(request["address"], rules))
        guard.keep_to(rules)
        sent = plugin.notify(body=request["body"], title=request["title"], body_format="text")
    except (BadAddress, NetworkError) as refused:
        return str(refused)
    except MemoryError:
        return "the answer was too large"
    except Exception as error:  # noqa: BLE001 - anything of a plugin is a failure to be told
        return _innermost(error)
    return "" if sent else "the service did not take it"


def _plugin(address: str, place: Place) -> Any:
    """Make the plugin of an address. Raise BadAddress where apprise cannot read it."""
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


if __name__ == "__main__":
    main()
