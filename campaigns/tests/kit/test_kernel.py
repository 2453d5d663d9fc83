"""What the kernel has left, as its files tell it; this machine's own are read too."""

import resource
import signal
import socket
import subprocess
import sys

import pytest

from campaigns.kit import kernel

CHILD_OF_A_CHILD = """
import os, subprocess, sys, time
code = "import os, sys, time; from campaigns.kit import kernel; "
code += "kernel.die_with_parent(int(sys.argv[1])); print(os.getpid(), flush=True); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", code, str(os.getpid())])
time.sleep(60)
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_machines_memory_counts_where_no_group_limits_it(tmp_path):
    write(tmp_path / "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    500000 kB\n")

    assert kernel.available_memory(tmp_path) == 512_000_000


def test_the_limit_of_the_group_above_counts_less_what_it_can_reclaim(tmp_path):
    write(tmp_path / "proc/meminfo", "MemAvailable:    5000000 kB\n")
    write(tmp_path / "proc/self/cgroup", "0::/machine/one\n")
    group = tmp_path / "sys/fs/cgroup/machine"
    write(group / "one/memory.max", "max\n")
    write(group / "one/memory.current", "100000000\n")
    write(group / "memory.max", "1000000000\n")
    write(group / "memory.current", "800000000\n")
    write(group / "memory.stat", "anon 500000000\ninactive_file 200000000\n")

    assert kernel.available_memory(tmp_path) == 400_000_000


def test_an_older_control_group_is_understood(tmp_path):
    write(tmp_path / "proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/box\n1:name=systemd:/\n")
    group = tmp_path / "sys/fs/cgroup/memory/box"
    write(group / "memory.limit_in_bytes", "600000000\n")
    write(group / "memory.usage_in_bytes", "100000000\n")
    write(group / "memory.stat", "total_inactive_file 0\n")

    assert kernel.available_memory(tmp_path) == 500_000_000


def test_local_ports_are_counted_with_those_that_wait(tmp_path):
    write(tmp_path / "proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n")
    write(tmp_path / "proc/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0 tw 200 mem 1\n")

    found = kernel.local_ports(tmp_path)

    assert found == kernel.LocalPorts(every=28_232, in_use=4, waiting=200)
    assert found.free == 28_028


def test_a_kernel_that_tells_nothing_is_no_error(tmp_path):
    assert kernel.available_memory(tmp_path) is None
    assert kernel.local_ports(tmp_path) is None


def test_this_kernel_tells():
    memory, ports = kernel.available_memory(), kernel.local_ports()
    assert memory is not None
    assert memory > 1_000_000
    assert ports is not None
    assert 0 < ports.free < 65_536
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert kernel.most_open_files() <= (hard if hard != resource.RLIM_INFINITY else 65_536)


@pytest.mark.system
@pytest.mark.slow
def test_who_asks_for_it_ends_with_its_parent():
    command = [sys.executable, "-c", CHILD_OF_A_CHILD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().strip().isdigit()
        parent.kill()
        assert parent.stdout.read() == ""  # the child held it open until its own end


@pytest.mark.system
def test_who_asks_too_late_ends_at_once():
    code = "from campaigns.kit import kernel; kernel.die_with_parent(1 << 22); print('lives')"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")


@pytest.mark.system
def test_the_connections_of_a_child_are_shut_down_and_its_other_files_are_not():
    code = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); print(len(s.recv(1)))"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        command = [sys.executable, "-c", code, port]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            connected, _ = listening.accept()
            with connected:
                try:
                    kernel.shut_down_connections(child.pid)
                except PermissionError as error:
                    child.kill()
                    pytest.skip(f"this machine does not allow it: {error}")
                assert connected.recv(1) == b""
            assert child.communicate()[0] == "0\n"
    with pytest.raises(OSError, match="No such process"):
        kernel.shut_down_connections(child.pid)
