"""The side of the simulated smart proxy that logs in to hosts: a real SSH client, for hosts whose parameters say where they are.

It does on a host what a smart proxy in the mode *ssh* does, one session after another on one connection: log in, look whether a script
can run, take the script, its wrapper and the file of its output there, run the wrapper, remove the directory (`script_runner.rb` of
smart_proxy_remote_execution_ssh). The host key of an address and port is stored at the first login, and another one is refused later.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property

import asyncssh

PATH = "/ssh/pubkey"
PORT, BY_IP = "remote_execution_ssh_port", "remote_execution_connect_by_ip"
LOGIN_SECONDS = 60.0
_TERMINAL = "xterm"


class NotDone(Exception):
    """Something went wrong with a host. failure: its class, as of `jobs.FAILURES`."""

    def __init__(self, failure: str) -> None:
        super().__init__(failure)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be run on a host. seconds: how long it may take; None: any time."""

    job: str
    address: str
    port: int
    script: str
    seconds: float | None


@dataclass(slots=True, eq=False)
class _Client(asyncssh.SSHClient):
    """Takes the host key of a place that is new, and refuses another one of a place that is known."""

    known: dict[tuple[str, int], bytes]
    place: tuple[str, int]

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        """Whether it is the key that this place has always had."""
        return self.known.setdefault(self.place, key.public_data) == key.public_data


@dataclass(eq=False)
class Runner:
    """The smart proxy as a client of hosts. known: host keys, as its file known_hosts has them."""

    known: dict[tuple[str, int], bytes] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def _key(self) -> asyncssh.SSHKey:
        return asyncssh.generate_private_key("ssh-ed25519", comment="foreman-proxy@runner.example")

    @property
    def public_key(self) -> str:
        """The key with which it logs in, a line of OpenSSH."""
        return self._key.export_public_key().decode()

    def told(self) -> dict[str, int]:
        """Tell what it did, and how many places it knows."""
        return {"known_hosts": len(self.known), **self.counts}

    def renew(self) -> None:
        """Forget everything but its own key."""
        self.known.clear()
        self.counts.clear()

    async def run(self, errand: Errand, began: Callable[[], None]) -> int:
        """Run a script on a host, and return its exit status. Raise NotDone. began: called once the proxy is logged in."""
        place = errand.address, errand.port
        try:
            connection, _ = await asyncssh.create_connection(
                lambda: _Client(self.known, place), errand.address, errand.port,
                username="root", client_keys=[self._key], known_hosts=([], [], []), config=None,
                agent_path=None, login_timeout=LOGIN_SECONDS,
            )  # fmt: skip
        except (OSError, asyncssh.Error) as error:
            self.counts[f"not_connected: {type(error).__name__}"] += 1
            raise NotDone("connect") from None
        self.counts["logins"] += 1
        try:
            began()
            return await self._on(connection, errand)
        finally:
            connection.close()

    async def _on(self, connection: asyncssh.SSHClientConnection, errand: Errand) -> int:
        home = f"/var/tmp/foreman-ssh-cmd-{errand.job}"  # noqa: S108 - of no machine

        async def do(command: str, data: str | None = None, *, terminal: bool = False) -> int:
            self.counts["sessions"] += 1
            done = await connection.run(
                command, input=data, stdin=asyncssh.DEVNULL if data is None else asyncssh.PIPE,
                term_type=_TERMINAL if terminal else None,
            )  # fmt: skip
            return -1 if done.exit_status is None else done.exit_status

        async def upload(name: str, data: str, mode: str = "500") -> None:
            path = f"{home}/{name}"
            await must(do(f"mkdir -p {home}"))
            await must(do(f"tee {path} >/dev/null && chmod {mode} {path}", f"{data}\n"))

        try:
            await must(do("true"))
            await upload("script", "#!/bin/sh\nexec true")
            await must(do(f"{home}/script"))
            await must(do(f"rm {home}/script"))
            await upload("script", errand.script.removesuffix("\n"))
            await upload("script-wrapper", "# runs the script, and keeps its output and its status")
            await upload("output", "", "600")
            try:
                async with asyncio.timeout(errand.seconds):
                    status = await do(f"{home}/script-wrapper", terminal=True)
            except TimeoutError:
                await do(f"kill $(cat {home}/pid)")
                raise NotDone("timeout") from None
            except asyncio.CancelledError:
                await do(f"kill $(cat {home}/pid)")
                raise
            await must(do(f"rm -rf {home}"))
        except (OSError, asyncssh.Error):
            raise NotDone("connect") from None
        return status


async def must(doing: Awaitable[int]) -> None:
    """Raise NotDone where a command of the proxy's own does not succeed."""
    if await doing:
        raise NotDone("connect")
