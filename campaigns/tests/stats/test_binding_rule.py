import math
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.stats.binding import (
    LIMITS,
    Bound,
    Caveat,
    Observed,
    Resource,
    RunBinding,
    RunWord,
    Sign,
    State,
)
from campaigns.stats.binding_rule import binding_load, judge
from campaigns.targets.watches.catalog import CATALOG, LOAD, OTHERS, OWN

SAMPLES = 60


def machine(cores=2, changed=None, without=(), **how):
    """An idle machine of two cores with a database, and what is changed of it: "quantity label" to a value or a series."""
    values = {
        "cpu.user": 0.05,
        "cpu.nice": 0,
        "cpu.system": 0.03,
        "cpu.irq": 0.0,
        "cpu.steal": 0.0,
        "cpu.iowait": 0.0,
        "cpu.running": 1,
        "cpu.blocked": 0,
        **{f"cpu.core_busy {core}": 0.04 for core in range(cores)},
        "pressure.cpu.some": 0.01,
        "pressure.memory.some": 0,
        "pressure.memory.full": 0,
        "pressure.io.some": 0.001,
        "pressure.io.full": 0.0,
        "memory.total": 8e9,
        "memory.available": 6e9,
        "memory.swap_in": 0,
        "memory.refaults": 0,
        "memory.oom_kills": 0,
        "disk.busy sda": 0.02,
        "disk.queue sda": 0.02,
        "tcp.listen_drops": 0,
        "tcp.segments": 100,
        "tcp.retransmits": 0,
        "net.received eth0": 1e5,
        "net.sent eth0": 1e5,
        "net.speed eth0": 1.25e8,
        "db.connections": 5,
        "db.connections_limit": 97,
        "db.active CPU": 0.1,
        **(changed or {}),
    }
    modes = ("user", "nice", "system", "irq", "steal", "iowait")
    used = sum(np.maximum(np.nan_to_num(values[f"cpu.{mode}"]), 0) for mode in modes)
    values.setdefault("cpu.idle", np.maximum(cores - used, 0))
    series = {}
    for name, value in values.items():
        quantity, _, label = name.partition(" ")
        assert quantity in CATALOG
        if not name.startswith(tuple(without)):
            series[quantity, label] = np.broadcast_to(np.array(value, float), SAMPLES).copy()
    return Observed(1.0, series, {"cores": cores}, **how)


BUSY = {"cpu.user": 1.9, "cpu.system": 0.09, "cpu.running": 5, "pressure.cpu.some": 0.97}
SLOW = {"disk.busy sda": 0.99, "pressure.io.some": 0.9, "pressure.io.full": 0.7, "cpu.blocked": 3}


def words(observed):
    judged = judge(observed)
    assert judged.word == (RunWord.BINDS if judged.strongest else judged.word)
    return [(each.resource.value, each.label) for each in judged.strongest]


def test_the_load_at_which_a_cpu_binds_is_that_of_erlang():
    shares = [round(100 * binding_load(cores)) for cores in (1, 2, 4, 8, 16, 32, 64)]

    assert shares == [50, 71, 83, 91, 95, 97, 99]
    assert binding_load(2) == pytest.approx(math.sqrt(0.5))


KNOWN = {
    "a CPU with twice as many loops as cores": (BUSY, [("cpu", "")]),
    "a pinned loop": ({"cpu.user": 1.0, "cpu.core_busy 1": 1.0}, [("core", "")]),
    "an event loop that wanders": (
        {"cpu.user": 1.0, "group.busiest_thread puma": 0.98, "group.cpu puma": 1.0},
        [("core", "puma")],
    ),
    "one thread beside others": (
        {"cpu.user": 1.5, "cpu.core_busy 1": 0.99, "pressure.cpu.some": 0.1},
        [("core", "")],
    ),
    "a full CPU in which nobody waits": ({"cpu.user": 1.95, "pressure.cpu.some": 0.02}, [("cpu", "")]),
    "a quota": (
        {"group.periods puma": 10, "group.throttled_periods puma": 4},
        [("quota", "puma")],
    ),
    "steal": ({"cpu.steal": 0.5}, [("steal", "")]),
    "random reads": (SLOW, [("disk", "sda")]),
    "commits": (
        {**SLOW, "db.active IO": 8, "db.active LWLock": 20, "db.waits LWLock:WALWrite": 20, "db.waits IO:WALSync": 8},
        [("disk", "sda"), ("database_io", "")],
    ),
    "memory that is squeezed": (
        {**SLOW, "pressure.memory.some": 0.6, "pressure.memory.full": 0.5},
        [("memory", "")],
    ),
    "memory, told by swap": (
        {"pressure.memory.some": 0.06, "memory.swap_in": 40},
        [("memory", "")],
    ),
    "an OOM kill": ({**BUSY, "memory.oom_kills": [0] * 30 + [1] + [0] * 29}, [("memory", "")]),
    "a squeezed service": ({"pressure.memory.full puma": 0.05}, [("memory", "")]),
    "the network": ({"net.sent eth0": 1.2e8}, [("network", "eth0 sent")]),
    "a network that loses": (
        {"net.sent eth0": 5e7, "tcp.retransmits": 2},
        [("network", "eth0 received"), ("network", "eth0 sent")][1:],
    ),
    "a listen queue": ({"tcp.listen_drops": [0] * 56 + [2, 2, 2, 2]}, [("listen_queue", "")]),
    "database locks": ({"db.active Lock": 30, "db.active CPU": 1}, [("locks", "")]),
    "refused connections": (
        {**BUSY, "db.connections": 97, "db.refused": 12},
        [("connections", "")],
    ),
    "as many connections as there may be": ({"db.connections": 96}, [("connections", "")]),
    "application threads": (
        {"queue.busy threads puma": 4, "queue.limit threads puma": 4, "queue.waiting threads puma": 28},
        [("threads", "puma")],
    ),
    "busy workers of Apache": (
        {"queue.busy threads httpd": 150, "queue.limit threads httpd": 150},
        [("threads", "httpd")],
    ),
    "task slots": (
        {"queue.busy slots pulp": 2, "queue.limit slots pulp": 2, "queue.waiting slots pulp": 9},
        [("slots", "pulp")],
    ),
    "a limit that was set": (
        {"queue.busy throttle app": 3, "queue.limit throttle app": 3, "queue.waiting throttle app": 5},
        [("throttle", "app")],
    ),
    "a pool": (
        {"queue.busy pool db": 9.9, "queue.limit pool db": 10, "queue.waiting pool db": 0},
        [("connections", "db")],
    ),
    "descriptors": ({"group.descriptors puma": np.linspace(0.2, 0.96, SAMPLES)}, [("descriptors", "puma")]),
    "local ports": ({"tcp.time_wait": 27000, "tcp.local_ports": 28000}, [("sockets", "")]),
    "CPU, the database's": (
        {**BUSY, "group.cpu postgres": 1.5, "group.cpu puma": 0.4, "db.active CPU": 4},
        [("cpu", ""), ("database_cpu", "")],
    ),
    "CPU, not the database's": (
        {**BUSY, "group.cpu postgres": 0.4, "group.cpu puma": 1.5, "db.active CPU": 4},
        [("cpu", "")],
    ),
    "two as strong": (
        {**BUSY, "queue.busy threads puma": 4, "queue.limit threads puma": 4, "queue.waiting threads puma": [1, 1, 1, 0] * 15},
        [("cpu", ""), ("threads", "puma")],
    ),
}  # fmt: skip


def test_each_known_case_has_its_word(subtests):
    for name, (changed, expected) in KNOWN.items():
        with subtests.test(name):
            assert words(machine(changed=changed)) == expected


NONE = {
    "idle": {},
    "niced loops beside a light load": {
        "cpu.user": 0.3, "cpu.nice": 1.6, "pressure.cpu.some": 0.6, "cpu.running": 4,
        "cpu.core_busy 0": 0.98, "cpu.core_busy 1": 0.97,
    },
    "niced loops, told by groups": {
        "cpu.user": 0.3, "cpu.nice": 1.6, "pressure.cpu.some": 0.6,
        "group.cpu puma": 0.3, f"group.cpu {OTHERS}": 1.6, f"group.busiest_thread {OTHERS}": 1.0,
    },
    "an SSD that answers many at once": {"disk.busy sda": 1.0},
    "pressure of a disk that is not busy": {"pressure.io.full": 0.5},
    "little memory, and no pressure": {"memory.available": 1e7},
    "a client that is slow": {"queue.busy threads puma": 1, "queue.limit threads puma": 4, "queue.waiting threads puma": 0},
    "one lock among few": {"db.active Lock": 0.5},
    "iowait alone": {"cpu.iowait": 1.9},
    "tasks that wait while workers idle": {
        "queue.busy slots pulp": 1, "queue.limit slots pulp": 2, "queue.waiting slots pulp": 9,
    },
}  # fmt: skip


def test_nothing_binds_where_nobody_waits(subtests):
    for name, changed in NONE.items():
        if name.startswith("tasks"):
            continue
        with subtests.test(name):
            assert judge(machine(changed=changed)).word == RunWord.NONE, words(
                machine(changed=changed)
            )


def test_tasks_wait_for_a_slot_only_while_all_are_busy():
    assert words(machine(changed=NONE["tasks that wait while workers idle"])) == []


def test_niced_programs_of_a_group_are_not_left_out():
    niced = {
        "cpu.user": 0.05, "cpu.nice": 1.9, "pressure.cpu.some": 0.9,
        "group.cpu pulp workers": 1.9, f"group.cpu {OTHERS}": 0.02,
    }  # fmt: skip

    assert words(machine(changed=niced)) == [("cpu", "")]


def test_without_pressure_queues_and_utilisation_judge(subtests):
    cases = {
        "cpu": (BUSY, [("cpu", "")]),
        "disk": ({**SLOW, "cpu.blocked": 4}, [("disk", "sda")]),
        "memory": ({"memory.swap_in": 100}, [("memory", "")]),
        "nothing": ({}, []),
    }
    for name, (changed, expected) in cases.items():
        with subtests.test(name):
            judged = judge(machine(changed=changed, without=["pressure"]))

            assert [(each.resource.value, each.label) for each in judged.strongest] == expected
            assert Caveat.NO_PRESSURE in judged.caveats
            assert judged.word == (RunWord.BINDS if expected else RunWord.NONE)


def test_none_is_said_only_where_the_machine_was_watched(subtests):
    for name in ("cpu", "memory", "pressure.memory", "disk"):
        with subtests.test(name):
            without = {
                "memory": ["memory", "pressure.memory"],
                "pressure.memory": ["pressure.memory", "memory.swap"],
            }
            judged = judge(machine(without=without.get(name, [name])))

            assert judged.word == RunWord.UNKNOWN
    assert judge(machine(missing=["postgresql"])).word == RunWord.UNKNOWN
    assert judge(Observed(1.0, {})).word == RunWord.UNKNOWN
    assert len(judge(Observed(1.0, {})).not_watched) == len(Resource)


def test_what_binds_is_said_whatever_is_missing():
    assert words(machine(changed=BUSY, missing=["postgresql"], without=["disk"])) == [("cpu", "")]


def test_a_card_without_a_known_speed_is_unknown_and_hides_nothing_else():
    judged = judge(machine(without=["net.speed"]))

    assert judged.word == RunWord.NONE
    assert Caveat.SPEED_UNKNOWN in judged.caveats


def test_the_load_generator_on_the_targets_machine_is_told_apart(subtests):
    cases = {
        "the generator's": ({"group.cpu puma": 0.5, f"group.cpu {LOAD}": 1.45}, True),
        "the target's": (
            {"group.cpu puma": 1.9, f"group.cpu {LOAD}": 0.05, f"group.cpu {OWN}": 0.01},
            False,
        ),
    }
    for name, (groups, by_load) in cases.items():
        with subtests.test(name):
            judged = judge(machine(changed={**BUSY, **groups}))

            assert judged.strongest == [Bound(Resource.CPU)]
            assert (Caveat.LOAD in judged.caveats) == by_load
    thread = {
        "cpu.core_busy 1": 1.0,
        f"group.busiest_thread {LOAD}": 1.0,
        f"group.cpu {LOAD}": 1.0,
        "cpu.user": 1.0,
    }
    judged = judge(machine(changed=thread))
    assert judged.strongest == [Bound(Resource.CORE, LOAD)]
    assert Caveat.LOAD in judged.caveats


def test_gaps_are_judged_by_nothing():
    half = {name: [value] * 40 + [math.nan] * 20 for name, value in BUSY.items()}
    judged = judge(machine(changed={**half, "cpu.idle": [0.0] * 40 + [math.nan] * 20}))
    assert judged.strongest == [Bound(Resource.CPU)]
    assert Caveat.GAPS in judged.caveats

    most = {name: [value] * 20 + [math.nan] * 40 for name, value in BUSY.items()}
    judged = judge(machine(changed={**most, "cpu.idle": [0.0] * 20 + [math.nan] * 40}))
    assert judged.word == RunWord.UNKNOWN


def test_three_samples_of_a_queue_are_too_few():
    full = {
        "queue.busy threads puma": 4,
        "queue.limit threads puma": 4,
        "queue.waiting threads puma": 9,
    }
    whole = machine(changed=full)
    short = replace(whole, series={key: values[:3] for key, values in whole.series.items()})

    assert judge(whole).strongest == [Bound(Resource.THREADS, "puma")]
    assert (judge(short).word, list(judge(short).strongest)) == (RunWord.UNKNOWN, [])


def test_what_begins_within_the_window_is_no_gap(subtests):
    nan = math.nan
    cases = {
        "an event": ({"db.waits IO:WALSync": [nan] * 30 + [1] * 30}, False),
        "a replica": ({"db.replication_lag replica": [nan] * 30 + [1] * 30}, False),
        "a label of another time": ({"db.waits IO:WALSync": [nan] * 60}, False),
        "a queue that is lost": ({"queue.busy slots a": [1] * 30 + [nan] * 30}, True),
        "a queue with a hole": ({"queue.busy slots a": [nan] + [1] * 29 + [nan] + [1] * 29}, True),
        "the machine's start": ({"cpu.running": [nan] * 5 + [1] * 55}, True),
        "the machine": ({"memory.available": [nan] * 60}, True),
    }
    for name, (changed, gaps) in cases.items():
        with subtests.test(name):
            assert (Caveat.GAPS in judge(machine(changed=changed)).caveats) == gaps


def test_a_counter_that_began_anew_is_a_gap():
    restarted = {
        "tcp.retransmits": [-1e9] + [0] * 59,
        "net.sent eth0": 6e7,
        "cpu.steal": [-5] + [0] * 59,
    }

    assert judge(machine(changed=restarted)).word == RunWord.NONE


def test_the_reason_is_in_figures():
    cpu = next(
        state for state in judge(machine(changed=BUSY)).resources if state.resource == Resource.CPU
    )

    assert (cpu.sign, cpu.state) == (Sign.SATURATION, State.BINDS)
    assert cpu.strength == pytest.approx(0.97 / 0.25)
    figures = {figure.name: figure for figure in cpu.figures}
    assert figures["cpu_used"].value == pytest.approx(0.995)
    assert figures["cpu_used"].limit == pytest.approx(binding_load(2))
    assert figures["pressure_some"].limit == 0.25


LABELS = {"core": ["0", "1"], "group": ["puma", "postgres", OTHERS, OWN, ""], "disk": ["sda"],
          "card": ["eth0"], "wait": ["CPU", "Lock", "IO"], "event": ["IO:WALSync"],
          "queue": ["threads puma", "slots pulp", "pool db", "throttle app", "odd"]}  # fmt: skip
NUMBERS = st.sampled_from(
    [0.0, 1e-9, 0.2, 0.95, 1.0, 1.7, 64.0, 1e9, 1e300, -1.0, -1e12, math.nan, math.inf, -math.inf]
)
KEYS = [(name, label) for name, each in CATALOG.items() for label in LABELS.get(each.label, [""])]


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from(KEYS), st.lists(NUMBERS, max_size=12), max_size=60),
    st.sampled_from([0.2, 1.0, 60.0]),
    st.sampled_from([{}, {"cores": 2}, {"cores": 64.0}, {"cores": "many"}]),
)
def test_whatever_was_read_no_figure_is_negative_or_no_number(series, step, facts):
    observed = Observed(step, {key: np.array(values) for key, values in series.items()}, facts)

    judged = judge(observed)

    shares = ("utilisation", "saturation", "pressure", "pressure_full", "group_share")
    for state in judged.resources:
        for name in (*shares, "errors", "strength"):
            value = getattr(state, name)
            assert value is None or value >= 0, (state, name)
            if name in shares:
                assert value is None or value <= 1, (state, name)
        assert all(figure.value >= 0 for figure in state.figures), state
        assert (
            (state.state == State.BINDS) == (state.sign is not None) == (state.strength is not None)
        )
        assert state.strength is None or state.strength >= 1
    assert bool(judged.strongest) == (judged.word == RunWord.BINDS)
    assert judged.load_share is None or 0 <= judged.load_share <= 1
    assert msgspec.json.decode(msgspec.json.encode(judged), type=RunBinding) == judged


def test_a_core_that_is_full_of_something_else_is_no_threads():
    interrupts = {"cpu.core_busy 1": 0.97, f"group.busiest_thread {OTHERS}": 0.5}
    assert words(machine(changed=interrupts)) == [("core", "")]


def test_a_number_of_cores_that_no_machine_has_is_not_reckoned_with():
    judged = judge(replace(machine(), facts={"cores": 1e10}))
    assert Caveat.CORES_UNKNOWN in next(
        each.caveats for each in judged.resources if each.resource == Resource.CPU
    )


def test_the_page_of_resources_tells_the_limits(subtests):
    """What a person reads is what is applied: each limit stands in the row of its resource."""
    page = (Path(__file__).parents[3] / "docs/reference/resources.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+?) \| (.+) \|$", page, re.MULTILINE))
    told: dict[str, list[float | str]] = {
        "CPU": [*(f"{100 * binding_load(n):.0f} % of {n}" for n in (2, 4, 8)), LIMITS.cpu_pressure],
        "one core": [LIMITS.core],
        "CPU quota": [LIMITS.quota_periods],
        "CPU, stolen": [LIMITS.steal],
        "memory": [LIMITS.memory_full, LIMITS.memory_some, f"{LIMITS.pages:g} pages a second"],
        "disk": [LIMITS.disk_full, LIMITS.disk_some, LIMITS.disk_busy],
        "network": [LIMITS.network, LIMITS.retransmits, LIMITS.network_lossy],
        "listen queue": [f"at least {LIMITS.listen_samples} samples"],
        "database connections": [LIMITS.connections],
        "database locks, database I/O": [LIMITS.sessions],
        "application threads": [LIMITS.threads, LIMITS.waiting_samples],
        "task slots": [LIMITS.waiting_samples],
        "open files, local ports": [LIMITS.descriptors],
        "a limit that was set": [LIMITS.waiting_samples],
    }
    for name, limits in told.items():
        for limit in limits:
            text = limit if isinstance(limit, str) else f"{100 * limit:g} %"
            with subtests.test(name, limit=text):
                assert text in rows[name]
    assert set(rows) - {"resource", "---"} == {*told, "database CPU"}
    assert f"factor below {LIMITS.alike:g}" in page
