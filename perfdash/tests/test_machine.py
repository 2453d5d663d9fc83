import resource
import shutil
import subprocess
import sys

import pytest

from perfdash.local import machine

MEMINFO = "MemTotal: 8000000 kB\nMemAvailable: {} kB\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def texts(shortages):
    return [shortage.text for shortage in shortages]


def limited(soft, hard, code):
    """Run code with these limits of open files, and give what it printed."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from campaigns.kit import kernel\nfrom perfdash.local import machine\n{code}",
        ],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.system
@pytest.mark.parametrize(("soft", "hard", "then"), [(300, 5000, 5000), (300, 300, 300)])
def test_the_limit_of_open_files_is_raised_as_far_as_it_may(soft, hard, then):
    code = "import resource; kernel.raise_open_files(); print(resource.getrlimit(7))"

    assert limited(soft, hard, code) == f"({then}, {hard})"


@pytest.mark.system
@pytest.mark.parametrize(("limit", "told"), [(100, ["True"]), (1000, ["False"]), (5000, [])])
def test_few_open_files_are_told_and_very_few_refused(limit, told):
    code = "[print(shortage.fatal) for shortage in machine.open_files()]"

    assert limited(limit, limit, code).split() == told


@pytest.mark.system
def test_a_small_disk_is_refused_with_what_to_do(small_disk):
    with pytest.raises(machine.MachineRefused, match=r"Only 1 MB are free in .*small.*--data"):
        machine.prepare([small_disk / "data" / "not yet there"], fresh=True)


@pytest.mark.system
def test_a_file_system_is_told_once_however_many_places_are_on_it(small_disk):
    places = [small_disk, small_disk / "work", small_disk / "database"]

    assert len(texts(machine.disks(places, fresh=False))) == 1


@pytest.mark.system
def test_a_disk_that_is_full_while_services_run_is_named(small_disk, tmp_path):
    assert machine.disk_is_full([small_disk]).startswith(f"Only 1 MB are free in {small_disk}")


def test_a_full_disk_is_said_once_and_its_end_once(monkeypatch):
    free = [100, 0, 0, 0, 100, 100, 0]
    messages: list[str] = []
    watch = machine.DiskWatch([], messages.append)
    monkeypatch.setattr(machine, "WATCH_SECONDS", 0.0)
    monkeypatch.setattr(machine, "disk_is_full", lambda places: "" if free.pop(0) else "Full.")

    while free:
        watch.look()

    assert messages == [
        "The disk is full. Full. Until then no run begins.",
        "There is room on the disk again; everything goes on.",
        "The disk is full. Full. Until then no run begins.",
    ]


def test_a_disk_with_room_is_no_reason_for_anything(tmp_path):
    if shutil.disk_usage(tmp_path).free < machine.LITTLE_DISK_MB * machine.MB:
        pytest.skip("the disk of this machine is nearly full itself")

    assert texts(machine.disks([tmp_path], fresh=True)) == []
    assert machine.disk_is_full([tmp_path]) == ""


def test_little_memory_is_told(tmp_path):
    write(tmp_path / "proc/meminfo", MEMINFO.format(500_000))

    assert texts(machine.memory(tmp_path))[0].startswith("Only 512 MB of memory are available")


def test_enough_memory_is_not_worth_a_word(tmp_path):
    write(tmp_path / "proc/meminfo", MEMINFO.format(5_000_000))

    assert texts(machine.memory(tmp_path)) == []


@pytest.mark.parametrize(
    ("span", "waiting", "told"),
    [("32768\t60999", 0, 0), ("32768\t60999", 20_000, 1), ("40000\t41000", 0, 1)],
)
def test_few_free_ports_are_told(tmp_path, span, waiting, told):
    write(tmp_path / "proc/sys/net/ipv4/ip_local_port_range", f"{span}\n")
    write(tmp_path / "proc/net/sockstat", f"TCP: inuse 4 orphan 0 tw {waiting} alloc 5 mem 1\n")

    assert len(texts(machine.local_ports(tmp_path))) == told


def test_this_machine_can_be_looked_at():
    assert len([*machine.memory(), *machine.local_ports(), *machine.open_files()]) < 4
