"""Runs the sandbox as a process of its own, for tests and demonstrations."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.grammar import entry_path
from sandbox.katello.process import SimulatedKatello
from sandbox.pulp.process import SimulatedPulp
from sandbox.settings import Feed

_PROJECT = Path(__file__).resolve().parent.parent
_STOP_SECONDS = 10


class DidNotStart(Exception):
    """The process ended before it listened; the message has its output."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox that runs. `base_url` has no slash at its end."""

    base_url: str
    pid: int
    simulated_pulp: SimulatedPulp | None = None
    simulated_katello: SimulatedKatello | None = None

    @property
    def pulp(self) -> SimulatedPulp:
        """The simulated Pulp. Raise LookupError where there is none."""
        if self.simulated_pulp is None:
            raise LookupError("start the sandbox with running(pulp={}) to have a simulated Pulp")
        return self.simulated_pulp

    @property
    def katello(self) -> SimulatedKatello:
        """The simulated Katello. Raise LookupError where there is none."""
        if self.simulated_katello is None:
            raise LookupError(
                "start the sandbox with running(katello={}) to have a simulated Katello"
            )
        return self.simulated_katello

    def manifest(self, **settings: object) -> str:
        """Give the URL of a manifest: `manifest(files=100, size=20480, latency=20)`."""
        return self.base_url + entry_path(Feed.FILE, **settings)

    def rpm(self, **settings: object) -> str:
        """Give the base URL, with its slash, of an RPM repository: `rpm(packages=200)`."""
        return self.base_url + entry_path(Feed.RPM, **settings).removesuffix(Feed.RPM.entry)

    def stats(self) -> dict[str, Any]:
        """Give the counts (plain HTTP only)."""
        with urllib.request.urlopen(f"{self.base_url}/stats") as response:  # noqa: S310 - it is ours, over HTTP
            counts: dict[str, Any] = json.load(response)
        return counts

    def reset(self) -> None:
        """Let the counts begin anew (plain HTTP only)."""
        request = urllib.request.Request(f"{self.base_url}/stats/reset", method="POST")  # noqa: S310
        urllib.request.urlopen(request).close()  # noqa: S310


@contextmanager
def running(
    host: str = "127.0.0.1", port: int = 0, *, tls: tuple[Path, Path] | None = None,
    pulp: Mapping[str, object] | None = None, katello: Mapping[str, object] | None = None,
) -> Iterator[Sandbox]:  # fmt: skip
    """Run a sandbox, by default on a free port, and stop it at the end of the block.

    It also stops where this process ends in any way. `pulp`, `katello`: settings of a simulated
    Pulp or Katello, on a free port of its own. Raise DidNotStart where it cannot listen.
    """
    command = [sys.executable, "-m", "sandbox", "--host", host, "--port", str(port), "--until-eof"]
    if tls:
        command += ["--tls-cert", str(tls[0].resolve()), "--tls-key", str(tls[1].resolve())]
    if pulp is not None:
        command += ["--pulp-port", "0", "--pulp", json.dumps(pulp)]
    if katello is not None:
        command += ["--katello-port", "0", "--katello-tls-port", "0"]
        command += ["--katello", json.dumps(katello)]
    with subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command, cwd=_PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            message = process.stdout.readline() if process.stdout else ""
            if not message.startswith("sandbox listening on "):
                raise DidNotStart(f"{' '.join(command)} ended with {process.wait()}; see above")
            base_url, simulated_pulp, other = message.split()[-1], None, None
            if pulp is not None and process.stdout:
                simulated_pulp = SimulatedPulp(process.stdout.readline().split()[-1])
            if katello is not None and process.stdout:
                parts = process.stdout.readline().split()
                other = SimulatedKatello(parts[-3], parts[-1])
            yield Sandbox(base_url, process.pid, simulated_pulp, other)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
