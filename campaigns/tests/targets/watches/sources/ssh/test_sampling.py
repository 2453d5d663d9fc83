"""The whole source: on OpenSSH's own server, and on a server that plays what other machines print."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.kit.network import parse_rules
from campaigns.kit.ssh import commands
from campaigns.kit.ssh.access import HostKeyRefused, SshAccess
from campaigns.targets.watches.base import Access, Key, Span, WatchFailed
from campaigns.targets.watches.catalog import OTHERS, OWN
from campaigns.targets.watches.groups import default_groups
from campaigns.targets.watches.sources import ssh
from campaigns.targets.watches.sources.ssh import frames, sampling, scripts, source
from campaigns.tests.targets import ssh_server
from campaigns.tests.targets.watches.sources.ssh import machines
from campaigns.tests.targets.watches.sources.ssh.collected import Collected
from campaigns.tests.targets.watches.sources.ssh.replay import Played, playing

pytestmark = pytest.mark.system

KILLED = """
import sys, threading
from campaigns.tests.targets.watches.sources.ssh.test_sampling import access_to
from campaigns.tests.targets.watches.sources.ssh.collected import Collected
from campaigns.tests.targets.ssh_server import Machine
from campaigns.targets.watches.sources.ssh import scripts, source
class Sink(Collected):
    def frame(self, frame):
        print("frame", flush=True)
port, user, key, host_key, scripts.CHOOSE = sys.argv[1:]
source.sample(access_to(Machine(int(port), user, key, host_key)), Sink(), lambda seconds: False)
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    if not ssh_server.SSHD:
        pytest.skip("OpenSSH's sshd is not installed here (Debian: openssh-server)")
    with ssh_server.openssh(tmp_path_factory.mktemp("sshd")) as found:
        yield found


@pytest.fixture(params=["python3", "sh"])
def choice(request, monkeypatch):
    monkeypatch.setattr(scripts, "CHOOSE", f"echo perfdash {request.param}")
    monkeypatch.setattr(scripts, "LOOK_SECONDS", 1.0)
    monkeypatch.setattr(scripts, "SHELL_LOOK_SECONDS", 1.0)
    return request.param


def access_to(machine, step=0.2, **more):
    login = SshAccess(
        "127.0.0.1", machine.port, machine.username, machine.key, "", machine.host_key
    )
    return Access(
        f"127.0.0.1:{machine.port}",
        parse_rules(f"127.0.0.1:{machine.port}"),
        step,
        machine.username,
        ssh=replace(login, **more),
        groups=default_groups("pulp"),
    )


def watch(access, enough, most=60.0):
    """Read until a condition of the sink holds; return the sink."""
    sink, ends = Collected(), time.monotonic() + most
    source.sample(access, sink, lambda seconds: enough(sink) or time.monotonic() > ends)
    return sink


def samplers():
    """Return the samplers that run here."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if any(b"perfdash F %d" in word or b'echo "$token F' in word for word in words):
                found.append(int(path.parent.name))
    return found


def wait_for_no_sampler(before):
    for _ in range(200):
        if not set(samplers()) - set(before):
            return
        time.sleep(0.05)
    pytest.fail("a sampler is left")


def test_this_machine_is_watched_and_nothing_is_left(machine, choice):
    before = samplers()

    def enough(sink):
        looks = sum(Key("group.cpu", OTHERS) in frame.values for frame in sink.frames)
        return looks >= 2 and len(sink.clocks) >= sampling.QUESTIONS

    sink = watch(access_to(machine), enough)
    wait_for_no_sampler(before)
    assert sink.facts["sampler"] == choice
    assert sink.facts["cores"] == os.cpu_count()
    assert sink.values()[Key("group.processes", OWN)] >= 1
    assert sink.values()[Key("memory.total")] > 1e8
    assert sink.costs[-1] > 0
    machine_used = {f"cpu.{mode}" for mode in ("user", "nice", "system", "irq")}
    looks = [frame for frame in sink.frames if Key("group.cpu", OTHERS) in frame.values]
    used = [sum(frame.values[Key(mode)] for mode in machine_used) for frame in looks]
    groups = [sum(value for key, value in frame.values.items() if key.quantity == "group.cpu") for frame in looks]  # fmt: skip
    assert groups[-1] - groups[0] == pytest.approx(used[-1] - used[0], abs=1e-6)
    # The machine is this one: its clock is the same, within half of the way there and back.
    best = min(sink.clocks, key=lambda each: each.answered - each.asked)
    offset = best.clock - (best.asked + best.answered) / 2
    assert offset == pytest.approx(time.clock_gettime(time.CLOCK_REALTIME) - time.monotonic(), abs=0.05)  # fmt: skip


def test_a_niced_program_is_named(machine, choice, monkeypatch, tmp_path):
    monkeypatch.setattr(
        ssh, "_worker", lambda: (0, "", "")
    )  # what this process starts is the target's
    program = tmp_path / "nightly-job"
    program.symlink_to(str(shutil.which("sh")))
    with subprocess.Popen(
        [str(shutil.which("nice")), "-n", "19", program, "-c", "while :; do :; done"]
    ) as process:
        try:
            sink = watch(access_to(machine), lambda sink: used_by(sink, program.name) > 0)
        finally:
            process.kill()
    assert used_by(sink, program.name) > 0


def used_by(sink, name):
    """Return the seconds that a niced program has used by the last frame."""
    return sink.values().get(Key("group.niced", name), 0.0)


def test_a_killed_worker_leaves_no_sampler(machine, choice):
    before = samplers()
    where = [str(machine.port), machine.username, machine.key, machine.host_key, scripts.CHOOSE]
    worker = subprocess.Popen([sys.executable, "-c", KILLED, *where], stdout=subprocess.PIPE)
    assert worker.stdout
    try:
        assert worker.stdout.readline() == b"frame\n"
        assert set(samplers()) - set(before)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        worker.stdout.close()
    wait_for_no_sampler(before)


def test_the_kind_of_sampler_is_found(machine):
    assert watch(access_to(machine), lambda sink: sink.frames).facts["sampler"] == "python3"


def test_what_is_due_is_looked_up_before(machine):
    assert source.expected_events(access_to(machine), Span(0.0, 1.0)) == []


def test_wrong_logins_say_why(machine):
    access = access_to(machine)
    key, host_key = ssh_server.new_key(), ssh_server.new_key()
    cases = (
        (access_to(machine, key=ssh_server.private(key)), WatchFailed, "refuses the login"),
        (
            access_to(machine, host_key=ssh_server.public(host_key)),
            HostKeyRefused,
            "another host key",
        ),
        (replace(access, ssh=None), WatchFailed, "no SSH login"),
        (replace(access, rules=parse_rules("10.0.0.1:22")), WatchFailed, "127"),
    )
    for wrong, error, message in cases:
        with pytest.raises(error, match=message):
            watch(wrong, lambda sink: False)


def test_a_machine_that_hangs_at_the_login(monkeypatch):
    monkeypatch.setattr(commands, "CONNECT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        key = ssh_server.new_key()
        machine = ssh_server.Machine(silent.getsockname()[1], "nobody", ssh_server.private(key), ssh_server.public(key))  # fmt: skip
        with pytest.raises(WatchFailed, match="did not answer"):
            watch(access_to(machine), lambda sink: False)
        monkeypatch.setattr(commands, "CONNECT_SECONDS", 60.0)
        stopped = threading.Event()
        threading.Timer(0.2, stopped.set).start()
        source.sample(access_to(machine), Collected(), stopped.wait)  # a stop ends it at once


def test_a_machine_that_is_played():
    played = Played(machines.el8().frames(11), clock=500.0, errors=b"a warning\n")
    with playing(played) as machine:
        sink = watch(access_to(machine), lambda sink: len(sink.frames) == 11 and len(sink.clocks) >= 15)  # fmt: skip
    assert len(sink.frames) == 11
    assert len(sink.clocks) == 2 * sampling.QUESTIONS  # and once more at the end
    assert sink.facts["pressure"] == "no"
    ahead = sink.clocks[0].clock - time.clock_gettime(time.CLOCK_REALTIME)
    assert ahead == pytest.approx(500, abs=5)
    assert played.ended.wait(5)


@pytest.mark.parametrize(
    ("played", "message"),
    [
        (Played(machines.debian12().frames(3)), "has sent nothing for"),
        (Played([b"".join(machines.debian12().frames(3))[:-200]], hangs=False), "ended with exit status 3"),
        (Played([], hangs=False, errors=b"nice: python3: No such file or directory\n"), "exit status 3: nice: python3: No such"),
        (Played([b"This account is not available.\n"], choice="nothing"), "no shell"),
        (Played(machines.debian12().frames(3)), "more than 0 MiB"),
    ],
)  # fmt: skip
def test_a_machine_that_breaks(played, message, monkeypatch):
    monkeypatch.setattr(sampling, "SILENT_SECONDS", 0.5)
    if "MiB" in message:
        monkeypatch.setattr(frames, "MOST_OF_RUN", 500)
        monkeypatch.setattr(sampling, "MOST_OF_RUN", 500)
    sink = Collected()
    with playing(played) as machine, pytest.raises(WatchFailed, match=message):
        source.sample(access_to(machine, step=0.1), sink, lambda seconds: False)
    assert len(sink.frames) == (2 if not played.hangs and played.frames else 3 if "sent" in message else 0)  # fmt: skip
