"""The control interface of a simulator in another process, for tests."""

from dataclasses import dataclass
from typing import Any

from sandbox.pulp.control import PATH
from sandbox.remote import say


@dataclass(frozen=True, slots=True)
class SimulatedPulp:
    """A simulated Pulp that runs. `base_url` has no slash at its end."""

    base_url: str

    def behave(self, **settings: object) -> None:
        """Change settings: `behave(unavailable=True)`; see sandbox.pulp.behaviour."""
        self._say("PATCH", "", settings)

    def expire_sessions(self) -> None:
        """End all sessions."""
        self._say("POST", "sessions/expire")

    def kill_worker(self) -> None:
        """Kill a worker, one with a task where there is one: its task stays running."""
        self._say("POST", "workers/kill")

    def stop_worker(self) -> None:
        """Stop a worker in order: its task fails. Another setting `workers` starts it again."""
        self._say("POST", "workers/stop")

    def replace_workers(self) -> None:
        """Let Pulp miss the killed workers: their tasks fail, others take their place."""
        self._say("POST", "workers/replace")

    def commit(self) -> None:
        """Commit all transactions that `commit_seconds` holds."""
        self._say("POST", "commit")

    def restart(self, seconds: float = 1.0) -> None:
        """Refuse connections for so long; what was there is there again after."""
        self._say("POST", "restart", {"seconds": seconds})

    def add_content(self, name: str = "theirs", files: int = 0, orphans: int = 0) -> None:
        """Add a repository of somebody else, with files, and files of no repository."""
        self._say("POST", "content", {"name": name, "files": files, "orphans": orphans})

    def renew(self) -> None:
        """Be as at the start: nothing stored, the first settings."""
        self._say("POST", "renew")

    def reset_counts(self) -> None:
        """Let the counts begin anew."""
        self._say("POST", "counts/reset")

    def told(self) -> dict[str, Any]:
        """Give the behaviour, the counts of requests, and how often a password was sent."""
        return self._say("GET", "")

    def _say(self, method: str, what: str, body: object = None) -> dict[str, Any]:
        return say(f"{self.base_url}{PATH}{what}", method, body)
