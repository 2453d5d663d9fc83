"""Recorded and constructed frames of several systems, through the decoder and the reader."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.targets.watches.base import Key
from campaigns.targets.watches.catalog import CATALOG, LOAD, OTHERS, OWN
from campaigns.targets.watches.groups import default_groups
from campaigns.targets.watches.sources.ssh.frames import PythonDecoder, Raw, ShellDecoder
from campaigns.targets.watches.sources.ssh.reader import Reader
from campaigns.targets.watches.sources.ssh.schedule import Schedule
from campaigns.tests.targets.watches.sources.ssh import machines
from campaigns.tests.targets.watches.sources.ssh.collected import Collected
from campaigns.tests.targets.watches.sources.ssh.machines import MACHINES, Program

PULP = default_groups("pulp")
TOKEN = "0123456789abcdef"  # noqa: S105


def read(raws, groups=PULP, **more):
    sink = Collected()
    reader = Reader(sink, groups, **more)
    for raw in raws:
        reader.read(raw)
    reader.finish(Schedule(), Schedule())
    return sink


def decoded(frames, decoder=None):
    decoder = decoder or PythonDecoder()
    return list(decoder.feed(b"".join(frames), 0.0))


def raws_of(machine, seconds=11):
    return decoded(machine.frames(seconds))


def busy(sink):
    """Return the seconds in which the machine's cores worked."""
    return sum(sink.grown(f"cpu.{mode}") for mode in ("user", "nice", "system", "irq"))


def group_seconds(sink, seconds):
    """Return what groups grew by, after checking that they add up to the machine."""
    labels = {key.label for key in sink.values() if key.quantity == "group.cpu"}
    grown = {label: sink.grown("group.cpu", label) for label in labels}
    assert min(grown.values()) >= 0
    assert sum(grown.values()) == pytest.approx(seconds, abs=1e-6)
    return grown


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine(name):
    machine = MACHINES[name]
    sink = read(raws_of(machine))
    assert sink.facts["cores"] == machine.cores
    assert sink.facts["system"] == machine.system
    assert sink.facts["pressure"] == ("yes" if machine.psi else "no")
    assert (sink.grown("pressure.cpu.some") == pytest.approx(2.5)) if machine.psi else True
    assert any(key.quantity.startswith("pressure") for key in sink.values()) == machine.psi
    assert {key.quantity for key in sink.values()} <= set(CATALOG)
    assert all(value >= 0 for frame in sink.frames for value in frame.values.values())
    assert len({k.label for k in sink.values() if k.quantity == "cpu.core_busy"}) == machine.cores
    grown = group_seconds(sink, busy(sink))
    if name == "container":
        assert grown["web server"] == pytest.approx(2, abs=0.03)
        assert grown["pulp content"] == pytest.approx(3, abs=0.03)
    else:
        assert grown["postgres"] == pytest.approx(5, abs=0.03)
        assert grown["pulp workers"] == pytest.approx(5, abs=0.03)
        assert grown["pulp content"] == pytest.approx(0.5, abs=0.03)
        assert grown[OWN] == pytest.approx(0.07, abs=0.03)
        assert grown[OTHERS] == pytest.approx(1.5, abs=0.05)
        assert sink.values()[Key("group.memory", "postgres")] == 200 << 20
        assert sink.grown("group.read", "postgres") == 5120
    assert sink.costs[-1] >= 0.05


def test_the_values_of_a_machine():
    sink = read(raws_of(machines.el9()))
    values, grown = sink.values(), sink.grown
    assert grown("disk.read", "sda (/, /boot)") == 80 * 512
    assert grown("disk.busy", "dm-0 (/)") == pytest.approx(1)
    assert grown("disk.queue", "dm-0 (/)") == pytest.approx(2)
    assert not any("sda1" in key.label or "loop" in key.label for key in values)
    assert grown("net.sent", "ens3") == 20_000
    assert values[Key("net.drops", "ens3")] == 6
    assert values[Key("net.speed", "ens3")] == 1.25e9
    assert values[Key("disk.free", "/boot")] == 0.05
    assert values[Key("memory.swap_used")] == (2097148 - 2000000) * 1024
    assert values[Key("memory.direct_reclaim")] == 0
    assert values[Key("memory.refaults")] == 5
    assert [values[Key(f"tcp.{name}")] for name in ("listen_overflows", "listen_drops", "timeouts", "backlog_drops")] == [1, 2, 3, 4]  # fmt: skip
    assert values[Key("tcp.retransmits")] / values[Key("tcp.segments")] == 0.01
    assert values[Key("tcp.time_wait")] / values[Key("tcp.local_ports")] == 17 / 28232
    assert values[Key("cpu.frequency")] == 2e9
    assert values[Key("group.descriptors", "postgres")] == 10 / 1024
    assert grown("pressure.cpu.some", "pulp workers") == pytest.approx(1)
    assert [event.text for event in sink.events if event.kind == "disk_full"] == ["/boot is 95 % full."]  # fmt: skip
    debian = read(raws_of(machines.debian12()))
    [job] = [event for event in debian.events if event.kind == "timer"]
    assert job.text.startswith("dnf-makecache.service, which is in no group, used 1.5 s")


def test_a_recorded_machine():
    raws = decoded([(machines.RECORDED / "debian12.frames").read_bytes()])
    sink = read(raws, default_groups("http"))
    assert len(raws) == 11
    assert sink.facts["system"] == "Debian GNU/Linux 12 (bookworm)"
    grown = group_seconds(sink, busy(sink))
    assert 0 < grown[OWN] < 0.2
    assert grown["web server"] > 0.1
    assert {"memory.available", "disk.busy", "net.received", "tcp.segments", "pressure.io.full"} <= {key.quantity for key in sink.values()}  # fmt: skip


def test_the_script_for_sh_gives_the_same():
    machine = machines.el9(2)
    lines = [machines.shell_lines(machine.raw(1000.0 + turn, turn), TOKEN) for turn in range(11)]
    first, second = read(decoded(lines, ShellDecoder(TOKEN))), read(raws_of(machine))
    ignored = ("disk.", "group.descriptors", "group.busiest_thread")
    same = {key for key in second.values() if not key.quantity.startswith(ignored)}
    assert same <= set(first.values())
    assert {key: first.values()[key] for key in same} == pytest.approx(
        {key: second.values()[key] for key in same}
    )


@given(st.lists(st.integers(0, 60_000), max_size=8))
def test_frames_come_in_any_pieces(cuts):
    stream = b"Welcome!\n" + b"".join(FRAMES)
    places = [0, *sorted(cuts), len(stream)]
    decoder = PythonDecoder()
    found: list[Raw] = []
    for begin, end in pairwise(places):
        found += decoder.feed(stream[begin:end], 0.0)
    assert [raw.at for raw in found] == [machines.BOOT + 1000, machines.BOOT + 1001]
    assert decoder.dropped == 0


FRAMES = machines.debian12().frames(2)


def test_a_frame_that_is_cut_off_is_left_out():
    assert len(decoded([FRAMES[0], FRAMES[1][: len(FRAMES[1]) // 2]])) == 1


def test_a_clock_that_is_set_is_an_event():
    machine = machines.debian12()
    jumps = [0, 0, 0, 3600, 3600, 3600]
    sink = read(machine.raw(1000.0 + turn, turn, jump) for turn, jump in enumerate(jumps))
    assert [e.text for e in sink.events if e.kind == "clock"] == ["The clock was set forward by 1:00:00 h."]  # fmt: skip


def test_counters_that_begin_anew_give_no_negative_time():
    machine = machines.el9(2)
    raws = [machine.raw(1000.0 + turn, turn) for turn in range(6)]
    raws += [replace(machine.raw(5.0 + turn, turn), at=machines.BOOT + 1006 + turn) for turn in range(6, 11)]  # fmt: skip
    sink = read(raws)
    for label in ("postgres", "pulp workers", OTHERS, OWN):
        key = Key("group.cpu", label)
        found = [frame.values[key] for frame in sink.frames if key in frame.values]
        assert found == sorted(found)


def test_ten_thousand_processes():
    many = tuple(Program(2000 + n, "worker", "/", 0.0001, 1, start=10.0) for n in range(10_000))
    machine = replace(machines.el9(), programs=(*machines.PROGRAMS, *many))
    sink = read(raws_of(machine))
    assert sink.values()[Key("group.processes", OTHERS)] > 10_000
    assert "10 s" in str(sink.facts["processes"])
    group_seconds(sink, busy(sink))


def test_hostile_names_break_nothing():
    hostile = tuple(
        Program(
            3000 + n, comm, "/system.slice/x y\n.service", 0.1, word=f"--password={machines.SECRET}"
        )
        for n, comm in enumerate(machines.HOSTILE)
    )
    machine = replace(machines.el9(2), programs=(*machines.PROGRAMS, *hostile))
    sink = read(raws_of(machine))
    assert sink.grown("group.cpu", "postgres") == pytest.approx(5, abs=0.03)
    assert machines.SECRET not in sink.words()
    lines = [machines.shell_lines(machine.raw(1000.0 + turn, turn), TOKEN) for turn in range(6)]
    forged = (
        f"/proc/1/stat:x\nwrong S processes\n{TOKEN[:-1]} E\n/proc/stat:cpu  9 9 9 9\n".encode()
    )
    cut = lines[3].index(b"/proc/loadavg")
    lines[3] = lines[3][:cut] + forged + lines[3][cut:]
    assert len(decoded(lines, ShellDecoder(TOKEN))) == 6


@given(st.dictionaries(st.sampled_from(sorted(machines.el9(2).parts(9.0) | machines.el8(2).parts(9.0))), st.text(st.characters(max_codepoint=255), max_size=60)))  # fmt: skip
def test_any_text_in_a_file_is_read_or_left_out(texts):
    machine = machines.el9(2)
    raws = [machine.raw(1000.0, 0), machine.raw(1005.0, 5)]
    sink = read(Raw(raw.at, raw.uptime, 0.0, {**raw.parts, **texts}) for raw in raws)
    assert all(value >= 0 for frame in sink.frames for value in frame.values.values())


def test_the_worker_on_the_machine_of_the_target_is_told_apart():
    parts = machines.el9(2).parts(1.0)
    worker = (810, parts["/proc/sys/kernel/random/boot_id"], parts["pid_namespace"])
    sink = read(raws_of(machines.el9(2)), worker=worker)
    assert sink.grown("group.cpu", LOAD) == pytest.approx(0.5, abs=0.03)
    assert LOAD not in {key.label for key in read(raws_of(machines.el9(2))).values()}
