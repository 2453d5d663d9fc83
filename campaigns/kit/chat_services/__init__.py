"""Messages to chat services through apprise, in a program that is limited to allowed addresses. No Django.

`services` lists the services and parses addresses; `program` sends one message, and limits itself and
every library in it to the rules; `send` starts it, and ends it when its time is over.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from campaigns.kit.chat_services.services import (
    LABELS,
    ChatFailed,
    Place,
    place_of,
)
from campaigns.kit.network import Rules

__all__ = ["LABELS", "ChatFailed", "Place", "place_of", "send"]

TOTAL_SECONDS = 30.0
ROOT = Path(__file__).resolve().parents[3]
"""The directory of the package `campaigns`."""
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SSL_CERT_DIR", "SSL_CERT_FILE")
"""The environment of the program: no proxy, no home, no secret."""
COMMAND = (sys.executable, "-m", "campaigns.kit.chat_services.program")


def send(address: str, title: str, body: str, rules: Rules, seconds: float = TOTAL_SECONDS) -> None:
    """Send one message. Raise ChatFailed where it was not accepted, or not in time.

    The address goes through a pipe: no list of processes shows it.
    """
    request = {"address": address, "title": title, "body": body, "rules": rules.to_json()}
    with subprocess.Popen(  # noqa: S603 - fixed arguments
        COMMAND,
        cwd=ROOT,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(json.dumps(request).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ChatFailed(f"The service took longer than {seconds:g} s.") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    try:
        failure = str(json.loads(output)["failure"])
    except (ValueError, KeyError, TypeError):
        raise ChatFailed(f"The program that sends ended with {process.returncode}.") from None
    if failure:
        raise ChatFailed(_without_secrets(failure, address))


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    trusted = {"REQUESTS_CA_BUNDLE": passed["SSL_CERT_FILE"]} if "SSL_CERT_FILE" in passed else {}
    return {**passed, **trusted, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}


def _without_secrets(message: str, address: str) -> str:
    """Remove each part of the address that may be secret from the message of a library."""
    _, _, rest = address.partition("://")
    for part in sorted(_parts(rest), key=len, reverse=True):
        message = message.replace(part, "…")
    return message


def _parts(rest: str) -> set[str]:
    for separator in "/?&=@:#":
        rest = rest.replace(separator, " ")
    _, *parts = rest.split() or [""]
    return {part for part in parts if len(part) >= 6}
