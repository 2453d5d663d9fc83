"""The requested repositories, and all counts. Pure: the clock is an argument."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.repository import Repository
from sandbox.shelf import Shelf
from sandbox.tallies import Tally

_MOST_REPOSITORIES = 4096
_MOST_BYTES_OF_TRIES = 64 * 1024 * 1024
_MOST_TRIES = 255
_MOST_SENDERS = 10_000


class Registry:
    """Keeps repositories, by path, with their counts. `clock` gives seconds, monotonic."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since = clock()
        self._all = Tally()
        self._labels: dict[str, Tally] = {}
        self._senders: dict[bytes, Tally] = {}
        self._repositories: dict[str, Repository] = {}
        self._tries: Shelf[str, bytearray] = Shelf(_MOST_BYTES_OF_TRIES)
        self._forgotten = 0
        self._connections = 0
        self._connections_max = 0

    def opened(self) -> None:
        """Count a connection."""
        self._connections += 1
        self._connections_max = max(self._connections, self._connections_max)

    def lost(self) -> None:
        """Count the end of a connection."""
        self._connections -= 1

    def find(self, path: str) -> Repository | None:
        """Give the repository that was added under a path, None where there is none (any more)."""
        return self._repositories.get(path)

    def add(self, repository: Repository) -> bool:
        """Keep a repository and count it. Say whether another one had to be forgotten for it."""
        crowded = len(self._repositories) >= _MOST_REPOSITORIES
        if crowded:
            self._forget_one()
        repository.tallies += (self._all,)
        if label := repository.settings.label:
            repository.tallies += (self._labels.setdefault(label, Tally()),)
        self._repositories[repository.path] = repository
        return crowded

    def sender(self, name: bytes) -> Tally:
        """Give the counts of one sender; of the oldest, nothing is kept where they are too many."""
        tally = self._senders.get(name)
        if tally is None:
            if len(self._senders) >= _MOST_SENDERS:
                del self._senders[next(iter(self._senders))]
            tally = self._senders[name] = Tally()
        return tally

    def _forget_one(self) -> None:
        """Forget the oldest repository, one without requests under way if there is one."""
        everyone = self._repositories.values()
        idle = (repository for repository in everyone if not repository.tally.in_flight)
        chosen = next(idle, None) or next(iter(everyone))
        del self._repositories[chosen.path]
        self._tries.drop(chosen.path)
        self._forgotten += 1
        label = chosen.settings.label
        if not any(repository.settings.label == label for repository in everyone):
            self._labels.pop(label, None)

    def attempt(self, repository: Repository, index: int) -> int:
        """Count a try at a file, and give how many there were before it since the last `anew`."""
        tries = self._tries.get(repository.path)
        if tries is None:
            tries = bytearray(repository.content.files)
            self._tries.put(repository.path, tries)
        before = tries[index]
        tries[index] = min(before + 1, _MOST_TRIES)
        return before

    def anew(self, repository: Repository) -> None:
        """Let tries begin anew."""
        self._tries.drop(repository.path)

    def reset(self) -> None:
        """Forget all counts and tries, but for what is under way."""
        self._since = self._clock()
        self._forgotten = 0
        self._connections_max = self._connections
        self._tries.clear()
        for tally in (self._all, *self._labels.values(), *self._senders.values()):
            tally.reset()
        for repository in self._repositories.values():
            repository.tally.reset()

    def report(self) -> dict[str, Any]:
        """Give all counts, as /stats shows them; without labels and paths never asked."""
        now, utc = self._clock(), datetime.now(UTC)

        def instant(moment: float) -> str:
            return (utc - timedelta(seconds=now - moment)).isoformat(timespec="milliseconds")

        return {
            "since": instant(self._since),
            "connections": {"open": self._connections, "max": self._connections_max},
            "forgotten": self._forgotten,
            "all": self._all.report(instant),
            "labels": {
                label: tally.report(instant)
                for label, tally in self._labels.items()
                if tally.asked()
            },
            "senders": {
                name.decode("latin-1"): tally.report(instant)
                for name, tally in self._senders.items()
                if tally.asked()
            },
            "repositories": {
                path: repository.tally.report(instant)
                for path, repository in self._repositories.items()
                if repository.tally.asked()
            },
        }
