"""Run a command that is not perfdash's own on another machine, by SSH. asyncssh takes some 15 MiB: import it where one runs.

A closed channel does not end a process without a terminal. So the command is started by a *guard*, a script of POSIX sh on
that machine, whose standard input is its lifeline: a byte every few seconds. When it is closed, or none came for LEASE_SECONDS,
the guard kills the session of the command and every process with its mark, and removes its directory. A cancel sends the same
over a second channel, too. The machine needs sh, setsid, and GNU's or BusyBox's coreutils and grep.
"""

import asyncio
import shlex
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

import asyncssh

from campaigns.kinds.programs.commands import MARK, MARKER_BYTES, OUTPUT, TIME, Command, Ran
from campaigns.kit.network import Rules
from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.kit.ssh.commands import connect, leave, within

BEAT_SECONDS = 5.0
LEASE_SECONDS = 30
KILL_SECONDS = 1.5
SHORT_SECONDS = 30.0
CHUNK = 1 << 16
ROOT = "/tmp"  # noqa: S108 - the directory in it has a random name, and only its owner enters it
NAME = "perfdash-program-"
"""Begins the name of a directory; the marker of its command follows. Nothing else of perfdash has such a name."""
MARKER_LETTERS = 2 * MARKER_BYTES
"""Letters of a marker: hexadecimal digits."""
NOT_POSSIBLE = 125
"""The exit status of the guard where it could not begin; its message begins with SAYS."""
MOST_SIGNAL = 64
SAYS = "perfdash: "

SWEEP = f"""
sweep() {{
  for each in $(grep -ls "{MARK}=$1" /proc/[0-9]*/environ 2>/dev/null); do
    each=${{each#/proc/}}; kill -9 "${{each%/environ}}" 2>/dev/null
  done
}}
"""
GUARD = f"""{SWEEP}
dir=$1 mark=$2 memory=$3 scratch=$4 lease=$5; shift 5
umask 077
no() {{ echo "{SAYS}$*" >&2; exit {NOT_POSSIBLE}; }}
for tool in setsid timeout base64 head grep date; do
  command -v "$tool" >/dev/null || no "this machine has no program $tool, which the start of a command needs"
done
mkdir "$dir" "$dir/work" "$dir/secrets" || no "the directory $dir cannot be made"
echo $$ >"$dir/guard" || no "the directory $dir cannot be written"
[ -z "$scratch" ] || mkdir "$scratch" || {{ rm -rf -- "$dir"; no "the directory $scratch cannot be made"; }}
while IFS=' ' read -r name text && [ "$name" != . ]; do
  printf %s "$text" | base64 -d >"$dir/secrets/$name" || no "the file of a secret cannot be written"
done
command -v "$1" >/dev/null || {{ rm -rf -- "$dir" ${{scratch:+"$scratch"}}; no "there is no program $1 for this user"; }}
exec 3<&0 </dev/null
cd "$dir/work" || no "the directory $dir/work cannot be entered"
[ "$memory" = 0 ] || ulimit -d "$memory" || no "the limit of memory cannot be set"
killed=$(grep '^oom_kill ' /proc/vmstat)
times >"$dir/before"
began=$(date +%s.%N)
env "{MARK}=$mark" "HOME=$dir/work" "TMPDIR=$dir/work" setsid "$@" 3<&- &
pid=$!
exec >/dev/null 2>&1
(
  while [ "$(timeout "$lease" head -c 1 <&3)" = + ]; do :; done
  : >"$dir/lost"; kill -9 -- "-$pid"; sweep "$mark"
) &
watch=$!
wait "$pid"; status=$?
ended=$(date +%s.%N)
times >"$dir/after"
kill "$watch"
kill -9 -- "-$pid"; sweep "$mark"
[ ! -e "$dir/lost" ] || {{ sweep "$mark"; rm -rf -- "$dir" ${{scratch:+"$scratch"}}; exit {NOT_POSSIBLE}; }}
[ "$killed" = "$(grep '^oom_kill ' /proc/vmstat)" ]; same=$?
{{ echo "$status $began $ended $same"; cat "$dir/before" "$dir/after"; }} >"$dir/ended"
exit "$status"
"""
KILL = f"""{SWEEP}
sweep "$2"; sleep 0.05; sweep "$2"; rm -rf -- "$1" ${{3:+"$3"}}
"""
STALE = f"""{SWEEP}
stale() {{
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] || return 1
  mark=${{1##*/{NAME}}} home={ROOT}/{NAME}${{1##*/{NAME}}}
  case $mark in *[!0-9a-f]*) return 1 ;; esac
  [ "${{#mark}}" = {MARKER_LETTERS} ] || return 1
  [ -f "$home/guard" ] || {{ [ ! -e "$home" ]; return; }}
  read -r guard <"$home/guard" || return 1
  grep -qs "$mark" "/proc/$guard/cmdline" && return 1
  [ -e "$home/ended" ] && [ -z "$(find "$home/ended" -mmin +2)" ] && return 1
  return 0
}}
for root in "$@"; do
  for dir in "${{root%/}}/{NAME}"*; do
    stale "$dir" || continue
    sweep "$mark"; rm -rf -- "$dir"
  done
done
for root in "$@"; do for dir in "${{root%/}}/{NAME}"*; do stale "$dir" && echo "$dir"; done; done
true
"""
"""Removes a directory only where its name is that of one, it belongs to this user, and the guard of that command is dead, by its
file; a run of another installation on the same machine keeps its own. One in another root has no file: it is stale without
the directory of its command, or with that.
"""


class NotStarted(ActionFailed):
    """The command did not begin, for a reason that the machine gave."""


def directory_of(command: Command) -> str:
    """Return the directory of a command on the other machine."""
    return f"{ROOT}/{NAME}{command.marker}"


def scratch_of(command: Command) -> str:
    """Return the directory of a command in its scratch directory; empty where it has none."""
    return scratch_place(command.scratch, command.marker) if command.scratch else ""


def scratch_place(root: str, marker: str) -> str:
    """Return the directory of a command in a scratch directory."""
    return f"{root.rstrip('/')}/{NAME}{marker}"


def run(
    command: Command,
    access: SshAccess,
    rules: Rules,
    check: Callable[[], None],
    progress: Callable[[float, int], None] = lambda seconds, printed: None,
) -> Ran:
    """Run a command to its end, or to a limit. `progress` takes seconds and printed bytes.

    Whatever `check` raises ends it: no process of the command is left then. Raise ActionFailed, HostKeyRefused, NotStarted.
    """
    work = _Remote(command, access, rules, progress).run()
    ran: Ran = asyncio.run(within(work, check, None))
    return ran


def remove_stale(
    access: SshAccess, rules: Rules, check: Callable[[], None], scratch: str = ""
) -> list[str]:
    """Kill and remove what commands of dead runs have left, also in `scratch`; return the directories that are still there."""
    roots = [
        *([scratch] if scratch else []),
        ROOT,
    ]  # what lies in scratch is judged by what lies in ROOT
    output = ask(["sh", "-c", STALE, "sh", *roots], access, rules, check)
    return output.split()


def ask(
    arguments: Sequence[str],
    access: SshAccess,
    rules: Rules,
    check: Callable[[], None],
    seconds: float = SHORT_SECONDS,
) -> str:
    """Run a short command of perfdash's own, and return what it printed. Raise ActionFailed."""
    from campaigns.kit.ssh import commands

    ran = commands.run(arguments, access, rules, check, seconds)
    if ran.exit_status:
        text = (ran.errors or ran.output).strip()[-300:]
        raise ActionFailed(
            f"“{arguments[0]}” ended with exit code {ran.exit_status} on {access.host}: {text or 'no words'}"
        )
    return ran.output


class _Remote:
    """One command on another machine."""

    def __init__(
        self,
        command: Command,
        access: SshAccess,
        rules: Rules,
        progress: Callable[[float, int], None],
    ) -> None:
        self.command, self.access, self.rules, self.progress = command, access, rules, progress
        self.directory = directory_of(command)
        self.printed = {"output": bytearray(), "errors": bytearray()}
        self.count = 0
        self.process: asyncssh.SSHClientProcess[bytes] | None = None
        self.too_much = asyncio.Event()

    async def run(self) -> Ran:
        """Run it over a connection of its own."""
        connection = await connect(self.access, self.rules)
        finished = False
        try:
            ran = await self._go(connection)
            finished = True
        except (OSError, asyncssh.Error) as error:
            raise ActionFailed(
                f"The connection to {self.access} broke: {str(error).rstrip('.') or type(error).__name__}."
            ) from error
        finally:
            if not finished:
                with suppress(TimeoutError, OSError, asyncssh.Error):
                    await asyncio.wait_for(self._end(connection), KILL_SECONDS)
            await leave(connection)
        return ran

    async def _end(self, connection: asyncssh.SSHClientConnection) -> None:
        """Cut the lifeline, which is quickest, and kill over a second channel, should the guard be gone."""
        if self.process is not None:
            self.process.stdin.write_eof()
        await self._ask(connection, KILL)

    async def _go(self, connection: asyncssh.SSHClientConnection) -> Ran:
        command = self.command
        line = shlex.join(
            [
                *("sh", "-c", GUARD, "guard", self.directory, command.marker),
                *(str(command.memory_bytes // 1024), scratch_of(command), str(LEASE_SECONDS)),
                *_with(command.environment),
                *command.arguments,
            ]
        )
        begun = monotonic()
        process = await connection.create_process(line, encoding=None)
        self.process = process
        beat = asyncio.ensure_future(self._beat(process, begun))
        streams = [
            asyncio.ensure_future(self._drain(process.stdout, "output")),
            asyncio.ensure_future(self._drain(process.stderr, "errors")),
        ]
        over = asyncio.ensure_future(process.wait_closed())
        too_much = asyncio.ensure_future(self.too_much.wait())
        ended_by = ""
        try:
            await asyncio.wait(
                {over, too_much}, timeout=command.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not over.done():
                ended_by = OUTPUT if too_much.done() else TIME
                await self._end(connection)
                await asyncio.wait({over}, timeout=KILL_SECONDS)
            await asyncio.wait(streams, timeout=KILL_SECONDS)
        finally:
            for task in (beat, too_much, over, *streams):
                task.cancel()
        seconds = monotonic() - begun
        if ended_by:
            return self._ran(None, seconds, ended_by=ended_by, signal=9)
        errors = bytes(self.printed["errors"]).decode(errors="replace")
        if process.exit_status == NOT_POSSIBLE and SAYS in errors:
            raise NotStarted(errors.partition(SAYS)[2].strip() + ".")
        return await self._closed(connection, seconds)

    async def _closed(self, connection: asyncssh.SSHClientConnection, seconds: float) -> Ran:
        """Read how the command ended, and its files; remove its directory. seconds: as seen from here."""
        notes = await self._read(connection, f"{self.directory}/ended", 10_000)
        if notes is None:
            raise ActionFailed(
                f"The command was ended on {self.access.host} from outside, with its guard."
            )
        first, *lines = notes.decode().splitlines()
        status, began, ended, same = first.split()
        files, cut = {}, []
        for name in self.command.files:
            content = await self._read(
                connection, f"{self.directory}/work/{name}", self.command.output_bytes + 1
            )
            if content is not None:
                files[name] = content[: self.command.output_bytes]
                if len(content) > self.command.output_bytes:
                    cut.append(name)
        await self._ask(connection, KILL)
        code = int(status)
        signalled = 128 < code <= 128 + MOST_SIGNAL  # a program may end with 255 by itself
        return self._ran(
            None if signalled else code,
            _between(began, ended, seconds),
            signal=code - 128 if signalled else 0,
            out_of_memory=same != "0",
            cpu_seconds=_cpu_seconds(lines),
            files=files,
            cut=cut,
        )

    def _ran(self, exit_status: int | None, seconds: float, **more: Any) -> Ran:
        return Ran(
            exit_status,
            seconds=seconds,
            output=bytes(self.printed["output"]),
            errors=bytes(self.printed["errors"]),
            **more,
        )

    async def _beat(self, process: asyncssh.SSHClientProcess[bytes], begun: float) -> None:
        """Send the secrets, and then the lifeline."""
        for name, text in self.command.secrets.items():
            process.stdin.write(f"{name} {b64encode(text.encode()).decode()}\n".encode())
        process.stdin.write(b". .\n")
        following = monotonic()
        with suppress(OSError, asyncssh.Error):
            while True:
                if monotonic() >= following:
                    process.stdin.write(b"+")
                    following = monotonic() + BEAT_SECONDS
                self.progress(monotonic() - begun, self.count)
                await asyncio.sleep(0.5)

    async def _drain(self, stream: asyncssh.SSHReader[bytes], name: str) -> None:
        while data := await stream.read(CHUNK):
            room = self.command.output_bytes - self.count
            self.count += len(data)
            self.printed[name] += data[: max(0, room)]
            if self.count > self.command.output_bytes:
                self.too_much.set()

    async def _ask(self, connection: asyncssh.SSHClientConnection, script: str) -> None:
        own = (self.directory, self.command.marker, scratch_of(self.command))
        arguments = ["sh", "-c", script, "sh", *own]
        await connection.run(shlex.join(arguments), encoding=None, timeout=SHORT_SECONDS)

    async def _read(
        self, connection: asyncssh.SSHClientConnection, path: str, most: int
    ) -> bytes | None:
        """Return the beginning of a file; None where there is no regular one."""
        script = '[ -f "$1" ] && [ ! -L "$1" ] && exec head -c "$2" -- "$1"'
        line = shlex.join(["sh", "-c", script, "sh", path, str(most)])
        done = await connection.run(line, encoding=None, timeout=SHORT_SECONDS)
        return bytes(done.stdout or b"") if done.exit_status == 0 else None  # type: ignore[arg-type]


def _with(environment: Any) -> list[str]:
    """Return what sets variables before a command."""
    return (
        ["env", *(f"{name}={value}" for name, value in environment.items())] if environment else []
    )


def _between(began: str, ended: str, seconds: float) -> float:
    """Return the seconds between two instants of `date +%s.%N`; those seen from here where it knows no fractions."""
    with suppress(ValueError):
        return max(0.0, float(ended) - float(began))
    return seconds


def _cpu_seconds(lines: Sequence[str]) -> float | None:
    """Return the CPU time of the command, from the outputs of `times` before and after it."""
    with suppress(ValueError, IndexError):
        return _children(lines[3]) - _children(lines[1])
    return None


def _children(line: str) -> float:
    """Return the seconds of a line such as “0m0.01s 0m1.20s”, user and system together."""
    parts = [part.rstrip("s").partition("m") for part in line.split()]
    return sum(60 * int(minutes) + float(seconds) for minutes, _, seconds in parts)
