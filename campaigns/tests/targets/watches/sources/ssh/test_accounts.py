"""Groups of processes add up to the machine, whatever its processes do."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.targets.watches.base import Group, Key
from campaigns.targets.watches.catalog import OTHERS
from campaigns.targets.watches.groups import Groups
from campaigns.targets.watches.sources.ssh.accounts import (
    MORE_NICED,
    MOST_NICED,
    Accounts,
    Snapshot,
)
from campaigns.targets.watches.sources.ssh.processes import Process
from campaigns.targets.watches.sources.ssh.services import Service

GROUPS = Groups([Group("web", ("web*",)), Group("jobs", ("jobs.service", "job*"))])


def process(pid, comm, cpu=0.0, waited=0.0, parent=1, start=0, cgroup="", threads=1, memory=100.0):
    return Process(pid, parent, cpu, waited, threads, start, memory, comm, cgroup)


def after(*snapshots):
    """Return what the groups have after snapshots of (busy seconds, processes, services), 5 s apart."""
    accounts = Accounts(GROUPS, 100)
    values = {}
    for number, (busy, rows, *services) in enumerate(snapshots):
        found = Snapshot(1000.0 + 5 * number, busy, rows, services[0] if services else {})
        values = accounts.take(found)
    return values


def cpu(values, group):
    return values[Key("group.cpu", group)]


def test_a_child_that_ended_is_not_counted_twice():
    values = after(
        (10, [process(5, "web"), process(6, "web-child", cpu=4.0, parent=5)]),
        (12, [process(5, "web"), process(6, "web-child", cpu=6.0, parent=5)]),
        (13, [process(5, "web", waited=6.5)]),
    )
    assert cpu(values, "web") == pytest.approx(2.5)
    assert cpu(values, OTHERS) == pytest.approx(0.5)


def test_children_between_two_looks_are_their_parents():
    values = after(
        (10, [process(5, "web", waited=3.0)]), (14, [process(5, "web", cpu=0.5, waited=5.0)])
    )
    assert cpu(values, "web") == 2.5


def test_a_new_process_counts_from_its_start_and_one_that_was_left_out_does_not():
    values = after(
        (10, [process(5, "web")]),
        (
            15,
            [
                process(5, "web"),
                process(7, "web", cpu=1.0, start=100_200),
                process(8, "job", 900.0),
            ],
        ),
    )
    assert (cpu(values, "web"), cpu(values, "jobs"), cpu(values, OTHERS)) == (1, 0, 4)


def test_a_process_number_that_is_used_again():
    values = after(
        (10, [process(5, "web", cpu=9.0)]), (15, [process(5, "job", cpu=1.0, start=100_300)])
    )
    assert (cpu(values, "web"), cpu(values, "jobs")) == (0, 1)


def test_a_group_gets_no_more_than_the_machine_used_and_the_rest_later():
    values = after(
        (10, [process(5, "web", cpu=1.0)]),
        (11, [process(5, "web", cpu=2.2)]),
        (13, [process(5, "web", cpu=3.0)]),
    )
    assert cpu(values, "web") == pytest.approx(2.0)
    assert cpu(values, OTHERS) == pytest.approx(1.0)


def test_a_service_counts_as_a_whole():
    unit = "/system.slice/jobs.service"
    rows = [process(5, "anything", cpu=1.0, cgroup=unit), process(6, "web", cpu=1.0, cgroup=unit)]
    values = after(
        (10, rows, {unit: Service(cpu=100.0, memory=50.0, cache=20.0)}),
        (20, rows, {unit: Service(cpu=104.0, memory=60.0, cache=20.0)}),
        (30, rows, {unit: Service(cpu=3.0, memory=60.0, cache=20.0)}),  # restarted
    )
    assert (cpu(values, "jobs"), cpu(values, "web"), cpu(values, OTHERS)) == (7, 0, 13)
    assert values[Key("group.memory", "jobs")] == 40.0
    assert values[Key("group.processes", "jobs")] == 2


@st.composite
def histories(draw):
    """Draw snapshots of a machine whose processes start, work, end and are waited for, or not."""
    living: dict[int, list[Any]] = {
        1: [0.0, 0.0, 0, 0, "init"]
    }  # own, waited for, parent, start, comm
    busy, next_pid, looks = 0.0, 2, []
    for look in range(draw(st.integers(2, 7))):
        for _ in range(draw(st.integers(0, 6))):
            pid = draw(st.sampled_from(sorted(living)))
            match draw(st.sampled_from(["work", "start", "end", "short"])):
                case "work":
                    seconds = draw(st.floats(0, 2))
                    living[pid][0] += seconds
                    busy += seconds * draw(st.floats(0.5, 1.5))  # counted by ticks
                case "start":
                    comm = draw(st.sampled_from(["web", "job", "other", "a) b"]))
                    living[next_pid] = [0.0, 0.0, pid, 100_000 + 500 * look - 250, comm]
                    next_pid += 1
                case "short":  # begins and ends between two looks
                    seconds = draw(st.floats(0, 1))
                    living[pid][1] += seconds
                    busy += seconds
                case "end" if pid != 1:
                    own, waited, parent, *_ = living.pop(pid)
                    for each in living.values():
                        each[2] = 1 if each[2] == pid else each[2]
                    if parent in living and draw(st.booleans()):
                        living[parent][1] += own + waited
        rows = [
            Process(pid, parent, own, waited, 1, start, 1.0, comm)
            for pid, (own, waited, parent, start, comm) in living.items()
        ]
        looks.append((busy, rows))
    return looks


@given(histories())
def test_groups_add_up_and_never_fall(looks):
    accounts = Accounts(GROUPS, 100)
    found = [
        accounts.take(Snapshot(1000.0 + 5 * n, busy, rows, {}))
        for n, (busy, rows) in enumerate(looks)
    ]
    keys = [key for key in found[0] if key.quantity == "group.cpu"]
    for (before, after_), (was, now) in zip(pairwise(found), pairwise(looks), strict=True):
        grown = [after_[key] - before[key] for key in keys]
        assert min(grown) >= -1e-9
        assert sum(grown) == pytest.approx(now[0] - was[0], abs=1e-6)


def test_the_busiest_thread():
    accounts = Accounts(GROUPS, 100)
    row = [process(5, "web", cpu=0.0, threads=4), process(6, "job", cpu=0.0)]
    accounts.take(Snapshot(1000.0, 0, row, {}))
    row = [process(5, "web", cpu=5.0, threads=4), process(6, "job", cpu=1.0)]
    accounts.take(Snapshot(1005.0, 6, row, {}, {(5, 50): 100, (5, 51): 0}))
    row = [process(5, "web", cpu=10.0, threads=4), process(6, "job", cpu=1.5)]
    values = accounts.take(Snapshot(1010.0, 12, row, {}, {(5, 50): 580, (5, 51): 10}))
    assert values[Key("group.busiest_thread", "web")] == pytest.approx(0.96)
    assert values[Key("group.busiest_thread", "jobs")] == pytest.approx(0.1)


def niced(pid, comm, cpu, **how):
    return replace(process(pid, comm, cpu, **how), niced=True)


def test_niced_programs_are_counted_by_name():
    values = after(
        (10, [niced(5, "updatedb", 1.0), niced(6, "gzip", 2.0), process(7, "web", cpu=1.0)]),
        (15, [niced(5, "updatedb", 2.0), niced(6, "gzip", 5.0), process(7, "web", cpu=2.0)]),
        (20, [niced(5, "updatedb", 4.0), niced(8, "gzip", 1.0, start=100_700)]),
    )
    counted = {key.label: value for key, value in values.items() if key.quantity == "group.niced"}
    assert counted == {"updatedb": 3.0, "gzip": 4.0}


def test_of_many_niced_programs_the_last_are_one():
    rows = [niced(pid, f"program{pid}", 1.0) for pid in range(MOST_NICED + 5)]
    labels = {key.label for key in after((10, rows)) if key.quantity == "group.niced"}
    assert len(labels) == MOST_NICED + 1
    assert MORE_NICED in labels


def test_a_thread_that_is_read_for_the_first_time_counts_above_what_its_process_had():
    accounts = Accounts(GROUPS, 100)
    rows = [process(5, "web", cpu=0.5, start=99_900, threads=4), process(6, "web", cpu=0.1)]
    accounts.take(Snapshot(1000.0, 0, rows, {}))
    rows = [process(5, "web", cpu=4.9, start=99_900, threads=4), process(6, "web", cpu=0.2)]
    values = accounts.take(Snapshot(1005.0, 6, rows, {}, {(5, 50): 480, (5, 51): 10}))

    assert values[Key("group.busiest_thread", "web")] == pytest.approx((4.8 - 0.5) / 5)
