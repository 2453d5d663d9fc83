"""The control interface of a simulator in another process, for tests."""

from dataclasses import dataclass
from typing import Any

from sandbox.katello.control import PATH
from sandbox.remote import fetch, say


@dataclass(frozen=True, slots=True)
class SimulatedKatello:
    """A simulated Katello that runs. No slash is at the end of `base_url` and `tls_url`."""

    base_url: str
    tls_url: str

    def ca(self) -> str:
        """Give the certificate of its CA, PEM."""
        return fetch(f"{self.base_url}{PATH}ca").decode()

    def broker_certificate(self) -> str:
        """Give a certificate with its key for an MQTT broker on this machine, PEM."""
        return fetch(f"{self.base_url}{PATH}broker").decode()

    def behave(self, **settings: object) -> None:
        """Change settings: `behave(outcome="pause")`; see sandbox.katello.behaviour."""
        self._say("PATCH", "", settings)

    def expire_sessions(self) -> None:
        """End all sessions."""
        self._say("POST", "sessions/expire")

    def cancel_tasks(self) -> None:
        """Cancel all that runs, as somebody does in Foreman."""
        self._say("POST", "tasks/cancel")

    def clear_known_hosts(self) -> None:
        """Let the smart proxy forget the host keys that it knows."""
        self._say("POST", "known_hosts/clear")

    def commit(self) -> None:
        """Commit all transactions that `commit_seconds` holds."""
        self._say("POST", "commit")

    def begin_sync(self, **sync: object) -> None:
        """Begin the sync of somebody else: `begin_sync(repository=3)`, `begin_sync(proxy=2)`."""
        self._say("POST", "syncs", sync)

    def renew(self) -> None:
        """Be as at the start."""
        self._say("POST", "renew")

    def setting(self, name: str) -> Any:
        """Read a setting of the machine."""
        return self._say("GET", f"settings/{name}")["value"]

    def set(self, name: str, value: object) -> None:
        """Change a setting of the machine; see sandbox.katello.machine."""
        self._say("PUT", f"settings/{name}", {"value": value})

    def reset_counts(self) -> None:
        """Let the counts begin anew."""
        self._say("POST", "counts/reset")

    def empty(self) -> None:
        """Forget all hosts."""
        self._say("POST", "empty")

    def told(self) -> dict[str, Any]:
        """Give the behaviour, counts of requests, tasks by state, and how often a password was sent."""
        return self._say("GET", "")

    def _say(self, method: str, what: str, body: object = None) -> dict[str, Any]:
        return say(f"{self.base_url}{PATH}{what}", method, body)
