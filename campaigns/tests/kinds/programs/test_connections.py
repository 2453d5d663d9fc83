"""A program that is confined connects only where it may; tried with programs that want elsewhere."""

import socket
import sys
import threading

import pytest

from campaigns.kinds.downloader.engines.connections import Confined, Limits
from campaigns.tests.kinds.programs.processes import lives, until
from campaigns.tests.kinds.programs.servers import behaving

pytestmark = pytest.mark.system

LIMITS = Limits(10**6, 2**30)


def answering(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def confined(code: str, *arguments: str, may=lambda address, port: address == "127.0.0.1"):
    """Run Python code, confined; give what it printed, and where it was kept from."""
    program = Confined([sys.executable, "-c", code, *arguments], may, {}, LIMITS)
    said, _ = program.process.communicate(timeout=120)
    return said.decode().strip(), program.refused


CONNECT = """
import socket, sys
for place in sys.argv[1:]:
    host, _, port = place.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        connection = socket.socket(family)
        connection.connect((host, int(port)))
        connection.sendall(b"?")
        connection.recv(1)
        print("connected")
    except OSError as error:
        print(error.strerror)
"""


def test_a_connection_is_made_where_it_may_be_and_nowhere_else():
    with (
        behaving(answering) as (place, allowed),
        behaving(answering, "127.0.0.2") as (other, forbidden),
    ):
        port = other.rpartition(":")[2]
        said, refused = confined(CONNECT, place, other, f"::ffff:127.0.0.2:{port}")

    assert said.split("\n") == ["connected", "Permission denied", "Permission denied"]
    assert refused == [f"127.0.0.2 port {port}"] * 2
    assert len(allowed) == 1
    assert forbidden == []


def test_what_it_starts_is_confined_too():
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CONNECT!r}, *sys.argv[1:]])"
    with behaving(answering, "127.0.0.2") as (other, forbidden):
        said, _ = confined(code, other)

    assert said == "Permission denied"
    assert forbidden == []


def test_other_ways_to_send_are_shut():
    code = "import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(425, 1, 0), ctypes.get_errno())"

    said, _ = confined(code)

    assert said == "-1 1"  # io_uring_setup: EPERM


def test_no_file_grows_beyond_what_it_may_have(tmp_path):
    code = "import sys; open(sys.argv[1], 'wb', buffering=0).write(bytes(2_000_000))"

    confined(code, str(tmp_path / "large"))

    assert (tmp_path / "large").stat().st_size == 10**6


def test_its_memory_can_be_read_before_it_ends():
    looks = []
    program = Confined(
        [sys.executable, "-c", "pass"],
        lambda address, port: False,
        {},
        LIMITS,
        at_end=lambda: looks.append(lives(program.process.pid)),
    )

    program.process.communicate(timeout=120)

    assert looks == [True]


def test_a_program_that_is_not_there_is_an_end_like_any_other():
    program = Confined(["/nowhere/program"], lambda address, port: True, {}, LIMITS)

    program.process.communicate(timeout=120)

    assert program.process.returncode == 1


def test_it_dies_with_the_thread_that_started_it():
    started: list[Confined] = []

    def start() -> None:
        command = [sys.executable, "-c", "import time; time.sleep(60)"]
        started.append(Confined(command, lambda address, port: True, {}, LIMITS))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()

    process = started[0].process
    assert until(lambda: not lives(process.pid))
    process.communicate(timeout=120)


@pytest.mark.parametrize("machine", ["riscv64", "i686"])
def test_a_processor_that_nobody_knows_is_said(monkeypatch, machine):
    monkeypatch.setattr("platform.machine", lambda: machine)

    with pytest.raises(OSError, match=f"cannot be watched on {machine}"):
        Confined(["/bin/true"], lambda address, port: True, {}, LIMITS)
