"""Timers, crontabs and restarts of services, of what a machine prints."""

from datetime import UTC, datetime

import pytest

from campaigns.targets.watches.base import Event, Key
from campaigns.targets.watches.sources.ssh.events import Events
from campaigns.targets.watches.sources.ssh.processes import Process
from campaigns.targets.watches.sources.ssh.schedule import (
    Schedule,
    expected,
    happened,
    schedule_of,
)

BEGIN = datetime(2026, 3, 2, 9, 58, tzinfo=UTC).timestamp()  # a Monday
HOUR = 3600
JSON = """perfdash timers
[{"next":1772445900000000,"left":1,"last":1772442300000000,"passed":1,"unit":"dnf-makecache.timer","activates":"dnf-makecache.service"},
{"next":0,"left":0,"last":null,"unit":"never.timer"},{"unit":7},5]

perfdash services
Id=puma.service
NRestarts=2
ActiveEnterTimestampMonotonic=5000000
ActiveState=active

NRestarts=0
Id=idle.service
ActiveEnterTimestampMonotonic=0

perfdash cron
/etc/cron.d/foreman:30 10 * * *  foreman  /usr/sbin/foreman-rake reports:expire --password=s3cr3t
/etc/crontab:SHELL=/bin/sh
/etc/crontab:*/20 * * * 1-5 root [ -x /usr/bin/x ] && A=b nice /usr/bin/x --token s3cr3t
/var/spool/cron/root:0 3 * * * /usr/bin/backup
/var/spool/cron/root:61 3 * * * /usr/bin/wrong
/var/spool/cron/root:@hourly $(s3cr3t)

perfdash zone
+0100
"""
TEXT = """perfdash timers
Mon 2026-03-02 10:05:00 UTC  6min left     Mon 2026-03-02 09:05:00 UTC  53min ago    dnf-makecache.timer  dnf-makecache.service
n/a                          n/a           n/a                          n/a          never.timer          never.service
"""


@pytest.mark.parametrize("text", [JSON, TEXT])
def test_timers_that_start_within_a_run_are_known_before(text):
    events = expected(schedule_of(text.encode()), BEGIN, BEGIN + HOUR)
    [timer] = [event for event in events if event.text.startswith("dnf")]
    assert (timer.kind, timer.text, timer.at) == ("timer", "dnf-makecache.timer runs.", 1772445900)


def test_crontabs_are_read_in_the_zone_of_the_machine_without_arguments():
    events = expected(schedule_of(JSON.encode()), BEGIN, BEGIN + HOUR)
    assert "s3cr3t" not in repr(events)
    found = [(event.text, (event.at - BEGIN) / 60) for event in events if "cron" in event.text]
    assert found == [
        ("cron runs x of crontab.", 2),
        ("cron runs a command of root.", 2),
        ("cron runs x of crontab.", 22),
        ("cron runs x of crontab.", 42),
    ]  # foreman-rake comes at 9:30 by UTC
    early = expected(schedule_of(JSON.encode()), BEGIN - HOUR, BEGIN)
    assert "cron runs foreman-rake of foreman." in [event.text for event in early]


def test_what_ran_is_known_afterwards():
    before, after = schedule_of(JSON.encode()), schedule_of(JSON.replace("NRestarts=2\nActiveEnterTimestampMonotonic=5000000", "NRestarts=4\nActiveEnterTimestampMonotonic=90000000").replace("1772442300000000", "1772445601000000").encode())  # fmt: skip
    events = happened(before, after, BEGIN, BEGIN + HOUR, boot=BEGIN - 60)
    assert [(event.kind, event.text, event.at - BEGIN) for event in events] == [
        ("timer", "dnf-makecache.timer ran.", 121),
        ("restart", "systemd restarted puma.service 2 times.", 30),
    ]


@pytest.mark.parametrize("text", ["", "perfdash timers\n[", "perfdash timers\n{}", "perfdash services\n=\n", "\x00"])  # fmt: skip
def test_what_is_not_understood_is_left_out(text):
    schedule = schedule_of(text.encode())
    assert expected(schedule, 0, 1e9) == []
    assert happened(Schedule(), schedule, 0, 1e9, None) == []


def seen(*frames):
    """Return the events of frames of (at, values)."""
    events, found = Events(), list[Event]()
    for at, values in frames:
        keys = {Key(*name.split(" ", 1)): value for name, value in values.items()}
        found += events.frame(at, at, keys, values.get("stalls"))
    return [*found, *events.finish()]


def cpu(user, idle, steal=0.0):
    return {"cpu.user": user, "cpu.idle": idle, "cpu.steal": steal}


def test_what_goes_on_is_one_event():
    values = [
        {"memory.swap_in": n, "memory.swap_out": 0.0} for n in (0, 10, 20, 20, 20, 20, 20, 30)
    ]
    events = seen(*enumerate(values))
    assert [(e.kind, e.text, e.at, e.until) for e in events] == [
        ("swap", "20 pages were swapped in, and 0 out.", 0, 2),
        ("swap", "10 pages were swapped in, and 0 out.", 6, 7),
    ]


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        ([{"memory.oom_kills": 1.0}, {"memory.oom_kills": 3.0}], "oom", "killed 2 programs"),
        ([{"stalls": 1.0}, {"stalls": 8.0}], "reclaim", "free memory themselves 7 times"),
        ([cpu(0, 0), cpu(0.9, 0, 0.1)], "steal", "took 10 % of the processor time"),
        ([{"cpu.heat_throttles": 0.0}, {"cpu.heat_throttles": 2.0}], "throttled", "by heat 2 times"),
        ([{"group.periods puma": 0.0, "group.throttled_periods puma": 0.0}, {"group.periods puma": 10.0, "group.throttled_periods puma": 5.0}], "throttled", "throttled puma in 50 %"),
        ([cpu(0, 0) | {"cpu.frequency": 3e9}, cpu(9, 1) | {"cpu.frequency": 2.4e9}], "throttled", "fell to 80 %"),
    ],
)  # fmt: skip
def test_kinds_of_events(values, kind, text):
    [event] = seen(*enumerate(values))
    assert event.kind == kind
    assert text in event.text


def test_an_idle_processor_may_slow_down():
    assert seen((0, cpu(0, 0) | {"cpu.frequency": 3e9}), (1, cpu(0.1, 1) | {"cpu.frequency": 1e9})) == []  # fmt: skip


def test_a_login_of_somebody_else():
    listener, session = (Process(pid, parent, 0, 0, 1, 0, 0, "sshd") for pid, parent in ((5, 1), (9, 5)))  # fmt: skip
    shell = Process(10, 9, 0, 0, 1, 0, 0, "bash")
    events = Events()
    assert list(events.processes(0, [listener], (), {}, 1)) == []
    assert list(events.processes(5, [listener, session], (), {}, 1)) == []  # has not come in yet
    [login] = events.processes(10, [listener, session, shell], (), {}, 1)
    assert login.text == "Somebody logged in by SSH."
    assert list(events.processes(15, [listener, session, shell], (), {}, 1)) == []
