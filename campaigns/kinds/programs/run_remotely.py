"""Run a command that is not perfdash's own on another machine, by SSH. asyncssh takes some 15 MiB: import it where one runs.

A closed channel does not end a process without a terminal. So the command is started by a *guard*, a script of POSIX sh on
that machine, whose standard input is its lifeline: a byte every few seconds. When it is closed, or none came for LEASE_SECONDS,
the guard kills the session of the command and every process with its mark, and removes its directory. A cancel sends the same
over a second channel, too. A login shell may print a greeting before: what a command prints begins after a line with a random
number. The machine needs sh, setsid, and GNU's or BusyBox's coreutils and grep.
"""

import asyncio
import shlex
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import isfinite
from time import monotonic
from typing import Any

import asyncssh

from campaigns.kinds.programs.commands import (
    MARK,
    MARKER_BYTES,
    OUTPUT,
    TIME,
    Command,
    Ran,
    new_marker,
    tail,
)
from campaigns.kit.network import Rules
from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.kit.ssh.commands import connect, leave, opened, within
from campaigns.kit.ssh.stream import output_of

BEAT_SECONDS = 5.0
LEASE_SECONDS = 30
KILL_SECONDS = 1.5
SHORT_SECONDS = 30.0
START_SECONDS = 30.0
"""Seconds in which the login shell of the user starts the guard, and the guard the command."""
SAME_SECONDS = 0.1
"""Two clocks of a machine that differ by more over a command: the time of day was set meanwhile."""
CHUNK = 1 << 16
GREETING_BYTES = 1 << 16
"""The most that a login shell may print before a command."""
ROOT = "/tmp"  # noqa: S108 - the directory in it has a random name, and only its owner enters it
NAME = "perfdash-program-"
"""Begins the name of a directory; the marker of its command follows. Nothing else of perfdash has such a name."""
MARKER_LETTERS = 2 * MARKER_BYTES
"""Letters of a marker: hexadecimal digits."""
NOT_POSSIBLE = 125
"""The exit status of the guard where it could not begin; its message begins with SAYS."""
MOST_SIGNAL = 64
START_MINUTES = 10
"""A directory without the number of its guard is left alone for so long: its guard may be about to write it."""
SAYS = "perfdash: "
BEGINS = "perfdash begins "
"""Begins the line before what a command prints; a random number follows."""

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
no() {{ rm -rf -- "$dir" ${{scratch:+"$scratch"}}; echo "{SAYS}$*" >&2; exit {NOT_POSSIBLE}; }}
for tool in setsid timeout base64 head grep date; do
  command -v "$tool" >/dev/null || no "this machine has no program $tool, which the start of a command needs"
done
why=$(mkdir "$dir" "$dir/work" "$dir/secrets" 2>&1) || no "the directory $dir cannot be made: $why"
why=$({{ echo $$ | cat >"$dir/guard"; }} 2>&1) || no "the directory $dir cannot be written: $why"
[ -z "$scratch" ] || why=$(mkdir "$scratch" 2>&1) || no "the directory $scratch cannot be made: $why"
while IFS=' ' read -r name text && [ "$name" != . ]; do
  why=$({{ printf %s "$text" | base64 -d >"$dir/secrets/$name"; }} 2>&1) || no "the file of a secret cannot be written: $why"
done
command -v "$1" >/dev/null || no "there is no program $1 for this user"
exec 3<&0 </dev/null
cd "$dir/work" || no "the directory $dir/work cannot be entered"
[ "$memory" = 0 ] || ulimit -d "$memory" || no "the limit of memory cannot be set"
killed=$(grep '^oom_kill ' /proc/vmstat)
times >"$dir/before"
echo "{BEGINS}$mark"; echo "{BEGINS}$mark" >&2
read -r first rest </proc/uptime
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
read -r last rest </proc/uptime
times >"$dir/after"
kill "$watch"
kill -9 -- "-$pid"; sweep "$mark"
[ ! -e "$dir/lost" ] || {{ sweep "$mark"; rm -rf -- "$dir" ${{scratch:+"$scratch"}}; exit {NOT_POSSIBLE}; }}
[ "$killed" = "$(grep '^oom_kill ' /proc/vmstat)" ]; same=$?
{{ echo "$status $began $ended $first $last $same"; cat "$dir/before" "$dir/after"; }} >"$dir/ended"
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
  [ -e "$home" ] || return 0
  [ -s "$home/guard" ] || {{ [ -n "$(find "$home" -prune -mmin +{START_MINUTES})" ]; return; }}
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
file, or wrote none; a run of another installation on the same machine keeps its own. One in another root has no file: it is stale without
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

    begins = f"{BEGINS}{new_marker()}"
    after_it = ["sh", "-c", 'echo "$0"; exec "$@"', begins, *arguments]
    ran = commands.run(after_it, access, rules, check, seconds)
    greeting, begun, output = ran.output.partition(f"{begins}\n")
    if ran.exit_status:
        text = (ran.errors or output or greeting).strip()[-300:]
        raise ActionFailed(
            f"“{arguments[0]}” ended with exit code {ran.exit_status} on {access.host}: {text or 'no words'}"
        )
    if not begun:
        raise ActionFailed(_something_else(access, greeting))
    return output


def _something_else(access: SshAccess, printed: str) -> str:
    text = tail(printed.encode())
    return (
        f"{access} accepted the login, but ran something else than the command of perfdash"
        f"{f'. It printed: {text}' if text else ', which printed nothing'}. The user needs a login shell that runs commands."
    )


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
        self.greetings = {"output": bytearray(), "errors": bytearray()}
        """What came on each stream before the line that begins the output."""
        self.begun = {"output": asyncio.Event(), "errors": asyncio.Event()}
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
                await self._end(connection, KILL_SECONDS)
            await leave(connection)
        return ran

    async def _end(self, connection: asyncssh.SSHClientConnection, seconds: float) -> None:
        """Cut the lifeline, which is quickest, and kill over a second channel, should the guard be gone."""
        with suppress(TimeoutError, OSError, asyncssh.Error, ActionFailed):
            if self.process is not None:
                self.process.stdin.write_eof()
            await asyncio.wait_for(self._ask(connection, KILL), seconds)

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
        asked = monotonic()
        process = await opened(connection, line, self.access)
        self.process = process
        beat = asyncio.ensure_future(self._beat(process, asked))
        streams = [
            asyncio.ensure_future(self._drain(process.stdout, "output")),
            asyncio.ensure_future(self._drain(process.stderr, "errors")),
        ]
        over = asyncio.ensure_future(process.wait_closed())
        too_much = asyncio.ensure_future(self.too_much.wait())
        started = asyncio.ensure_future(self._started())
        in_time, ended_by = True, ""
        try:
            await _first_of(over, too_much, started, seconds=START_SECONDS)
            begun = monotonic()
            if started.done() and not over.done():
                await _first_of(over, too_much, seconds=command.seconds)
            if not over.done():
                in_time = too_much.done()
                ended_by = OUTPUT if in_time else TIME
                await self._end(connection, SHORT_SECONDS if started.done() else KILL_SECONDS)
                await _first_of(over, seconds=KILL_SECONDS)
            await asyncio.wait(streams, timeout=KILL_SECONDS)
        finally:
            for task in (beat, too_much, started, over, *streams):
                task.cancel()
        if not ended_by:
            _raise_what_broke(streams)
        if not all(event.is_set() for event in self.begun.values()):
            raise self._not_started(in_time=in_time)
        if ended_by:
            return self._ran(None, monotonic() - begun, ended_by=ended_by, signal=9)
        return await self._closed(connection, monotonic() - asked)

    async def _started(self) -> None:
        for event in self.begun.values():
            await event.wait()

    def _not_started(self, *, in_time: bool) -> ActionFailed:
        """Return why the guard did not start the command: it said so, or never ran."""
        if not in_time:
            return ActionFailed(
                f"{self.access} accepted the login, but did not start the command within {START_SECONDS:g} s."
            )
        errors = bytes(self.greetings["errors"]).decode(errors="replace")
        if SAYS in errors:
            return NotStarted(" ".join(errors.partition(SAYS)[2].split()).rstrip(".") + ".")
        printed = errors or bytes(self.greetings["output"]).decode(errors="replace")
        return ActionFailed(_something_else(self.access, printed))

    async def _closed(self, connection: asyncssh.SSHClientConnection, seconds: float) -> Ran:
        """Read how the command ended, and its files; remove its directory. seconds: as seen from here, the start included."""
        notes = await self._read(connection, f"{self.directory}/ended", 10_000)
        if notes is None:
            raise ActionFailed(
                f"The command was ended on {self.access.host} from outside, with its guard."
            )
        try:
            first, *lines = notes.decode().splitlines()
            status, began, ended, first_up, last_up, same = first.split()
            code = int(status)
        except ValueError:
            raise ActionFailed(
                f"{self.access.host} has not written how the command ended: its disk with {ROOT} may be full."
            ) from None
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
        signalled = 128 < code <= 128 + MOST_SIGNAL  # a program may end with 255 by itself
        return self._ran(
            None if signalled else code,
            _between((began, ended), (first_up, last_up), seconds),
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
        begins = f"{BEGINS}{self.command.marker}\n".encode()
        greeting = self.greetings[name]
        while data := await stream.read(CHUNK):
            if not self.begun[name].is_set():
                greeting += data
                before, found, rest = bytes(greeting).partition(begins)
                if not found:
                    if len(greeting) > GREETING_BYTES:
                        del greeting[GREETING_BYTES:]
                        self.too_much.set()
                    continue
                greeting[:], data = before, rest
                self.begun[name].set()
            room = self.command.output_bytes - self.count
            self.count += len(data)
            self.printed[name] += data[: max(0, room)]
            if self.count > self.command.output_bytes:
                self.too_much.set()

    async def _ask(self, connection: asyncssh.SSHClientConnection, script: str) -> None:
        own = (self.directory, self.command.marker, scratch_of(self.command))
        arguments = ["sh", "-c", script, "sh", *own]
        await output_of(connection, shlex.join(arguments), SHORT_SECONDS, GREETING_BYTES)

    async def _read(
        self, connection: asyncssh.SSHClientConnection, path: str, most: int
    ) -> bytes | None:
        """Return the beginning of a file; None where there is no regular one."""
        begins = f"{BEGINS}{new_marker()}\n"
        script = '[ -f "$1" ] && [ ! -L "$1" ] && printf %s "$3" && head -c "$2" -- "$1" && printf %s "$3"'
        line = shlex.join(["sh", "-c", script, "sh", path, str(most), begins])
        room = GREETING_BYTES + most + 2 * len(begins)
        printed = await output_of(connection, line, SHORT_SECONDS, room)
        _, begun, content = printed.partition(begins.encode())
        if not begun:
            return None
        if not content.endswith(begins.encode()):
            raise ActionFailed(f"{self.access.host} did not send the whole of {path}.")
        return content.removesuffix(begins.encode())


def _raise_what_broke(streams: Sequence["asyncio.Future[None]"]) -> None:
    """Raise what ended the reading of a stream, if anything did."""
    for stream in streams:
        if stream.done() and not stream.cancelled():
            stream.result()


async def _first_of(*tasks: "asyncio.Future[Any]", seconds: float) -> None:
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _with(environment: Any) -> list[str]:
    """Return what sets variables before a command."""
    return (
        ["env", *(f"{name}={value}" for name, value in environment.items())] if environment else []
    )


def _between(day: tuple[str, str], up: tuple[str, str], seconds: float) -> float:
    """Return the seconds of a command. day: instants by `date +%s.%N`; up: by /proc/uptime; seconds: the most, as seen from here.

    The time of day is finer, but may be set meanwhile; some machines know no fractions of it.
    """
    fine, steady = _difference(*day), _difference(*up)
    if fine is not None and (steady is None or abs(fine - steady) <= SAME_SECONDS):
        steady = fine
    return seconds if steady is None or not 0 <= steady <= seconds else steady


def _difference(first: str, last: str) -> float | None:
    with suppress(ValueError):
        difference = float(last) - float(first)
        return difference if isfinite(difference) else None
    return None


def _cpu_seconds(lines: Sequence[str]) -> float | None:
    """Return the CPU time of the command, from the outputs of `times` before and after it."""
    with suppress(ValueError, IndexError):
        return _children(lines[3]) - _children(lines[1])
    return None


def _children(line: str) -> float:
    """Return the seconds of a line such as “0m0.01s 0m1.20s”, user and system together."""
    parts = [part.rstrip("s").partition("m") for part in line.split()]
    return sum(60 * int(minutes) + float(seconds) for minutes, _, seconds in parts)
