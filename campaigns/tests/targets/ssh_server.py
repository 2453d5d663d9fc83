"""Real SSH servers on loopback: OpenSSH's sshd where it is installed, and one within this process.

The one within this process speaks the real protocol, and runs commands through a real shell.
"""

import asyncio
import getpass
import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import asyncssh

USER = "operator"
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")


@dataclass
class Machine:
    """A server that answers. `key`: a private key that it lets in; `host_key`: its own, public."""

    port: int
    username: str
    key: str
    host_key: str


def new_key():
    return asyncssh.generate_private_key("ssh-ed25519")


def private(key):
    return key.export_private_key("openssh").decode()


def public(key):
    return key.export_public_key("openssh").decode().strip()


class _Server(asyncssh.SSHServer):
    def __init__(self, password):
        self.password = password

    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        return password == self.password


async def _serve(process):
    child = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        process.command or "true",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    pumps = asyncio.gather(_pump(child.stdout, process.stdout), _pump(child.stderr, process.stderr))
    leaves = asyncio.ensure_future(process.wait_closed())
    ends = asyncio.gather(pumps, child.wait())
    await asyncio.wait({ends, leaves}, return_when=asyncio.FIRST_COMPLETED)
    if leaves.done():
        with suppress(ProcessLookupError):
            os.killpg(child.pid, 9)
        await asyncio.gather(ends, return_exceptions=True)
        return
    leaves.cancel()
    process.exit(child.returncode)


async def _pump(source, sink):
    with suppress(BrokenPipeError, ConnectionError, asyncssh.Error):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()


@contextmanager
def within(password="a-long-password", host_key=None, port=0):  # noqa: S107
    """A server within this process, in a thread of its own."""
    host_key, user_key = host_key or new_key(), new_key()
    loop = asyncio.new_event_loop()
    started = threading.Event()
    found = {}

    async def start():
        found["server"] = await asyncssh.listen(
            "127.0.0.1",
            port,
            server_factory=lambda: _Server(password),
            server_host_keys=[host_key],
            authorized_client_keys=asyncssh.import_authorized_keys(public(user_key)),
            process_factory=_serve,
            encoding=None,
        )
        started.set()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield Machine(found["server"].get_port(), USER, private(user_key), public(host_key))
    finally:
        asyncio.run_coroutine_threadsafe(stop(found["server"]), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def stop(server):
    """Close a server, with all that it still does."""
    server.close()
    await server.wait_closed()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def openssh(directory: Path, search_path="", login_shell=""):
    """OpenSSH's own sshd as the one who runs the tests. search_path: PATH of its commands, where it is another.

    login_shell: a script that runs instead of each command, which it finds in SSH_ORIGINAL_COMMAND.
    """
    host_key, user_key = new_key(), new_key()
    (directory / "host").write_text(private(host_key))
    (directory / "host").chmod(0o600)
    (directory / "authorized").write_text(public(user_key) + "\n")
    (directory / "authorized").chmod(0o600)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (directory / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {directory}/host\n"
        f"AuthorizedKeysFile {directory}/authorized\nPidFile {directory}/pid\n"
        "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
        + (f"SetEnv PATH={search_path}\n" if search_path else "")
        + (f"ForceCommand {login_shell}\n" if login_shell else "")
    )
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", str(directory / "config")])
    try:
        for _ in range(100):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                break
            time.sleep(0.05)
        yield Machine(port, getpass.getuser(), private(user_key), public(host_key))
    finally:
        process.terminate()
        process.wait(10)
