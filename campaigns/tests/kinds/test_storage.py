"""The kind `storage` with real fio, on OpenSSH's own server on loopback."""

import json
import os
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from campaigns.kinds.base import Cancelled, Context, Target
from campaigns.kinds.programs import run_remotely
from campaigns.kinds.storage import driver as storage
from campaigns.kinds.storage.profiles import PROFILES, published_line
from campaigns.kinds.storage.report import NotFio, read_report
from campaigns.kit.network import parse_rules
from campaigns.kit.ssh.access import SshAccess
from campaigns.tests.targets import ssh_server

READ = PROFILES["published"].jobs[0]


@pytest.fixture(scope="module")
def access(tmp_path_factory):
    if not ssh_server.SSHD or not shutil.which("fio"):
        pytest.skip("OpenSSH's sshd or fio is not installed here (Debian: openssh-server, fio)")
    with ssh_server.openssh(tmp_path_factory.mktemp("sshd")) as machine:
        yield access_to(machine)


@pytest.fixture
def world(access, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "SLACK_BYTES", 0)
    place = Path("/var/tmp") / f"perfdash-storage-test-{os.getpid()}"  # noqa: S108
    place.mkdir()
    yield World(access, place, tmp_path)
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def simulator(tmp_path, monkeypatch):
    """A machine whose `fio` is a script that does what is given."""
    if not ssh_server.SSHD:
        pytest.skip("OpenSSH's sshd is not installed here (Debian: openssh-server)")
    monkeypatch.setattr(storage, "SLACK_BYTES", 0)
    for name in ("place", "programs", "sshd"):
        (tmp_path / name).mkdir()
    script = tmp_path / "programs" / "fio"

    def make(then):
        script.write_text(f'#!/bin/sh\n[ "$1" != --version ] || exec echo fio-3.33\n{then}\n')
        script.chmod(0o755)
        return World(access_to(machine), tmp_path / "place", tmp_path, seconds=2.0)

    path = f"{script.parent}:{os.defpath}"
    with ssh_server.openssh(tmp_path / "sshd", path) as machine:
        yield make


def access_to(machine):
    return SshAccess("127.0.0.1", machine.port, machine.username, machine.key, "", machine.host_key)


class World:
    def __init__(self, access, place, tmp_path, seconds=120.0):
        self.target = Target("db1", "machine", "ssh://127.0.0.1", ssh=access)
        self.place, self.said = place, list[str]()
        self.cancelled = threading.Event()
        self.context = Context(
            cancelled=self.cancelled,
            lease_seconds=lambda: 15.0,
            progress=lambda values: None,
            say=self.said.append,
            clock=time.perf_counter_ns,
            directory=tmp_path / "work",
            rules=parse_rules(f"127.0.0.1:{access.port}"),
            deadline_seconds=seconds,
        )

    def parameters(self, **changes):
        form = storage.driver.parameters(
            {name: field.initial for name, field in storage.driver.parameters.base_fields.items()}
            | {"directory": str(self.place), "size_gib": 0.015625}
            | changes
        )
        assert form.is_valid(), form.errors
        return form.cleaned_data

    def run(self, **changes):
        parameters = self.parameters(**changes)
        self.reset = storage.driver.reset(self.target, parameters, self.context)
        self.settings = storage.driver.apply(self.target, parameters, self.context)
        measured = storage.driver.measure(self.target, parameters, self.context)
        self.proofs = storage.driver.verify(self.target, parameters, self.context, measured)
        return measured

    @property
    def left(self):
        return sorted(path.name for path in self.place.iterdir())


def outputs(measured):
    return {each.name: each.content for each in measured.outputs}


@pytest.mark.system
def test_the_published_commands_and_fios_own_numbers(world):
    measured = world.run()
    assert measured.failure == ""
    printed = outputs(measured)
    lines = printed["commands"].decode().splitlines()
    assert lines[:3] == [
        f"fio --name=read-test --rw=read --size=16m --directory={world.place}/storage-benchmark --unlink=1",
        f"fio --name=write-test --rw=write --size=16m --directory={world.place}/storage-benchmark --unlink=1",
        f"fio --name=randrw-test --rw=randrw --size=16m --directory={world.place}/storage-benchmark --rwmixread=80 --unlink=1",
    ]
    assert len(lines) == 6
    text = printed["read-test.json"].decode()
    read = json.loads(text[text.index("{") :])["jobs"][0]["read"]
    assert measured.values["read_throughput"] == read["bw_bytes"] / 1e6
    assert measured.values["read_iops"] == read["iops"]
    assert measured.values["read_clat_p99"] == read["clat_ns"]["percentile"]["99.000000"] / 1e3
    assert {proof.name: proof.ok for proof in world.proofs} == {
        "bytes read and written": True,
        "files that are left": True,
    }
    assert world.left == []
    measures = {each.name: each.in_force for each in world.settings}
    assert (measures["size"], measures["measures"]) == ("16m", "the page cache")


@pytest.mark.system
@pytest.mark.parametrize("profile", ["maintenance", "database", "pulp", "own"])
def test_the_other_profiles(world, profile):
    measured = world.run(profile=profile, rw="randwrite", limit_seconds=2)
    assert measured.failure == ""
    assert world.left == []
    expected = {
        "maintenance": "read_throughput",
        "database": "fsync_p99",
        "pulp": "write_throughput",
        "own": "random_write_iops",
    }
    assert measured.values[expected[profile]] > 0
    if profile == "maintenance":  # it reads past the cache: its size is its own
        assert {each.name: each.in_force for each in world.settings}["measures"] == "the storage"


@pytest.mark.system
@pytest.mark.parametrize("how", ["cancel", "lost connection"])
def test_no_fio_and_no_file_is_left(world, how, monkeypatch):
    if how == "lost connection":
        monkeypatch.setattr(run_remotely, "KILL", "true")

    def cancel():
        until(lambda: world.left and fios(world.place))
        world.cancelled.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Cancelled):
        world.run(profile="own", rw="randwrite", direct="1", size_gib=0.25)
    thread.join()
    until(lambda: not fios(world.place))
    until(lambda: world.left == [])


@pytest.mark.system
def test_what_a_dead_machine_left_is_removed_and_nothing_else(world):
    stale = world.place / f"{run_remotely.NAME}{'a' * 24}"
    stale.mkdir()
    (stale / "read-test.0.0").write_bytes(b"x" * 1000)
    (world.place / "of-somebody-else").mkdir()
    (world.place / f"{run_remotely.NAME}notes").mkdir()
    world.run(limit_seconds=1)
    assert world.left == ["of-somebody-else", f"{run_remotely.NAME}notes"]


@pytest.mark.system
def test_a_directory_that_fills_up_is_void(world):
    if os.getuid() != 0:
        pytest.skip("a small file system takes root")
    small = world.place / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(small)], check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        parameters = world.parameters(directory=str(small), size_gib=0.03125)
        storage.driver.reset(world.target, parameters, world.context)
        (small / "others").write_bytes(b"x" * (30 << 20))
        with pytest.raises(storage.NoSpace, match="no space left"):
            storage.driver.measure(world.target, parameters, world.context)
        assert [path.name for path in small.iterdir()] == ["others"]
        with pytest.raises(storage.NoSpace, match="There is no space for it"):
            storage.driver.reset(world.target, parameters, world.context)
    finally:
        subprocess.run(["/bin/umount", str(small)], check=True)


def fios(place):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if words[0].rpartition(b"/")[2] == b"fio" and str(place).encode() in b" ".join(words):
                found.append(path.parent.name)
    return found


def until(done):
    for _ in range(400):
        if done():
            return
        time.sleep(0.05)
    pytest.fail("it did not come about")


def document(**changes):
    read = {
        "io_bytes": 4096,
        "bw_bytes": 62_914_560,
        "iops": 15360.0,
        "clat_ns": {"percentile": {"99.000000": 70_000}},
    }
    part = {"error": 0, "read": read, "write": read, "usr_cpu": 1.5, "sys_cpu": 2.5}
    return {"jobs": [part | changes]}


def test_the_last_document_counts_and_text_before_it_does_not():
    text = f"fio: laying out a file\n{json.dumps(document())}\n{json.dumps(document(error=5))}"
    report = read_report(text.encode(), READ, 5.0)
    assert (report.error, report.values["read_throughput"]) == (5, 62.91456)
    assert report.values["read_clat_p99"] == 70.0


@pytest.mark.system
def test_what_fio_may_print(simulator, tmp_path, subtests):
    """Of whatever disk, or no whole report: a value, or a failure that says what there was."""
    report = tmp_path / "report.json"
    for disk, speed in (("SSD", 612e6), ("spinning disk", 148e6), ("disk over a network", 61e6)):
        read = document()["jobs"][0]["read"] | {"bw_bytes": speed}
        report.write_text(json.dumps(document(read=read)))
        with subtests.test(disk):
            measured = simulator(f"cat {report}").run(profile="maintenance")
            assert (measured.failure, measured.values["read_throughput"]) == ("", speed / 1e6)
    report.write_text(json.dumps(document(error=5)))
    for script, failure in (
        (
            "echo 'fio: Input/output error' >&2; exit 1",
            "exit status 1. It printed: fio: Input/output error",
        ),
        (f"cat {report}", "fio ended with error 5 in job1."),
        ("echo hello", "job1: fio printed no JSON."),
        (f"head -c 100 {report}", "job1: fio printed no JSON."),
        ("sleep 60", "did not end within 2 s, and was killed"),
        (
            """printf '{"jobs": ['; head -c 40000000 /dev/zero | tr '\\0' ' '""",
            "printed more than 16,000,000 bytes",
        ),
    ):
        with subtests.test(script):
            world = simulator(script)
            measured = world.run(profile="maintenance")
            assert failure in measured.failure
            assert measured.values == {} or "error 5" in failure
            assert world.left == []


@pytest.mark.parametrize(
    "text",
    [
        "", "no JSON", "{", '{"jobs": []}', '{"jobs": [{"read": {}}]}', '{"jobs": ["read"]}',
        '{"a":' * 100_000,
        '{"jobs": [{"read": {"bw_bytes": 1, "iops": 1, "io_bytes": 1, "clat_ns": []}}]}',
        '{"jobs": [{"read": {"bw_bytes": 1, "iops": 1, "io_bytes": 1e999, "clat_ns": {}}, "write": {"io_bytes": 1}}]}',
    ],
)  # fmt: skip
def test_what_is_not_fios(text):
    with pytest.raises(NotFio):
        read_report(text.encode(), READ, 5.0)


def test_a_large_file_brings_no_more_documents_than_can_be_stored():
    assert storage.step_seconds(16 << 20) == 5
    assert storage.step_seconds(512 << 30) == 550


def test_without_a_known_memory_it_measures_no_storage():
    parameters = {"profile": "published", "size_gib": 100.0, "direct": ""}
    assert storage.is_cached(parameters, {})
    assert not storage.is_cached(parameters, {"ram_bytes": str(50 << 30)})
    assert storage.is_cached(parameters, {"ram_bytes": str(51 << 30)})


def test_a_published_line():
    assert published_line(READ, "64G", "/srv") == (
        "fio --name=read-test --rw=read --size=64G --directory=/srv/storage-benchmark --unlink=1"
    )
