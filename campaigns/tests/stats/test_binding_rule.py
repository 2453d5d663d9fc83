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
    JUDGED,
    LIMITS,
    WHOLE,
    Bound,
    Caveat,
    Observed,
    Resource,
    RunBinding,
    RunWord,
    Sign,
    State,
    in_front,
)
from campaigns.stats.binding_rule import judge
from campaigns.targets.watches.catalog import CATALOG, LOAD, OTHERS, OWN
from campaigns.tests.stats.machines import BUSY, LOCKED, MACHINES, PUMA, SLOW, machine, queue

SHORT = (
    ("cpu", BUSY),
    ("memory", {"pressure.memory.full": 0.04}),
    ("disk sda", SLOW),
    ("network eth0 sent", {"net.sent eth0": 1.2e8}),
    ("locks", LOCKED),
    ("threads puma", PUMA),
    ("connections db", queue("pool", "db", 10, 10, 6)),
    ("throttle app", queue("throttle", "app", 3, 3, 5)),
    ("listen_queue", {"tcp.listen_drops": 3}),
)


def words(observed):
    judged = judge(observed)
    assert judged.word == (RunWord.BINDS if judged.strongest else judged.word)
    return [(each.resource.value, each.label) for each in judged.strongest]


def named(bound):
    return tuple(f"{each.resource.value} {each.label}".strip() for each in bound)


@pytest.mark.parametrize("known", MACHINES, ids=lambda known: known.name)
def test_each_machine_has_its_word(known):
    run = judge(known.observed)

    binds, queues = in_front(run.strongest)
    part = [Bound(each.resource, each.label) for each in run.resources if each.is_partly]
    assert (named(binds), named(queues), named(part)) == (known.binds, known.queues, known.part)
    assert run.word == (RunWord.BINDS if known.binds else RunWord.NONE)


def test_sixty_machines_have_names_of_their_own():
    assert len({known.name for known in MACHINES}) == len(MACHINES) >= 60


@given(
    st.sampled_from((1, 2, 4, 16, 64)),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.sampled_from(((), ("pressure",), ("cpu.core_busy",), ("cpu.running", "pressure"))),
    st.floats(0, 1),
)
def test_a_machine_without_an_idle_cycle_never_reads_none_seen(cores, parts, without, pressure):
    modes = ("user", "nice", "system", "irq", "steal")
    total = sum(parts[: len(modes)]) or 1.0
    used = {f"cpu.{mode}": cores * part / total for mode, part in zip(modes, parts, strict=False)}
    if not sum(used.values()):
        used["cpu.user"] = cores
    full = {**used, "cpu.idle": 0.0, "pressure.cpu.some": pressure}

    run = judge(machine(cores, changed=full, without=without))

    assert run.word == RunWord.BINDS
    assert {each.resource for each in run.strongest} & {Resource.CPU, Resource.STEAL}


@given(st.sets(st.sampled_from(range(len(SHORT))), min_size=2, max_size=4))
def test_no_resource_hides_another(places):
    """Machines that are short of different things, put together, are short of all of them."""
    chosen = [SHORT[place] for place in sorted(places)]
    changed = {name: value for _, values in chosen for name, value in values.items()}

    binds = named(judge(machine(changed=changed)).strongest)

    assert set(binds) == {name for name, _ in chosen}


def test_niced_work_is_named_as_whose_it_is():
    niced = {
        "cpu.user": 0.27,
        "cpu.nice": 1.7,
        "group.niced updatedb": 1.2,
        "group.niced gzip": 0.5,
    }

    run = judge(machine(changed=niced))

    (cpu,) = [each for each in run.resources if each.resource == Resource.CPU]
    (figure,) = [each for each in cpu.figures if each.name == "cpu_niced"]
    assert figure.value == pytest.approx(0.85)
    assert figure.label == "updatedb, gzip"
    assert Caveat.NICED in run.caveats


def test_a_light_niced_job_is_no_caveat():
    assert Caveat.NICED not in judge(machine(changed={"cpu.nice": 0.3})).caveats


def test_what_a_rule_judged_by_is_at_its_limit_also_for_a_part_of_the_run(subtests):
    """A mean over the window is never printed beside a resource that binds for a part of it."""
    for known in MACHINES:
        for state in judge(known.observed).resources:
            with subtests.test(known.name, resource=state.resource, label=state.label):
                if state.state == State.BINDS and state.judged_by and state.judged_by.limit:
                    assert state.judged_by.value >= state.judged_by.limit
    half = judge(next(each for each in MACHINES if each.part == ("cpu",)).observed)
    (cpu,) = [each for each in half.resources if each.resource == Resource.CPU]
    assert cpu.judged_by.name == "cpu_used"
    assert (cpu.judged_by.value, cpu.at_limit) == (pytest.approx(1.0), 0.5)
    assert cpu.utilisation == pytest.approx(0.5325, abs=0.02)


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
    assert judge(Observed(1.0, {})).not_watched == list(JUDGED)


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

    assert (cpu.sign, cpu.state) == (Sign.UTILISATION, State.BINDS)
    figures = {figure.name: figure for figure in cpu.figures}
    assert cpu.judged_by == figures["cpu_used"]
    assert figures["cpu_used"].value == pytest.approx(0.995)
    assert figures["cpu_used"].limit == LIMITS.cpu_used
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
        for name in (*shares, "errors", "at_limit"):
            value = getattr(state, name)
            assert value is None or value >= 0, (state, name)
            if name in shares:
                assert value is None or value <= 1, (state, name)
        assert all(figure.value >= 0 for figure in state.figures), state
        assert (state.state == State.BINDS) == (state.sign is not None)
        if state.state == State.BINDS and state.judged_by and state.judged_by.limit:
            assert state.judged_by.value >= state.judged_by.limit
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
        "CPU": [LIMITS.cpu_used, LIMITS.cpu_pressure, LIMITS.cpu_loaded, LIMITS.cpu_waits],
        "one core": [LIMITS.core],
        "CPU quota": [LIMITS.quota_periods],
        "CPU, stolen": [LIMITS.steal],
        "memory": [
            LIMITS.memory_full,
            LIMITS.memory_some,
            f"{LIMITS.pages:g} pages a second",
            f"{LIMITS.kills} processes",
        ],
        "disk": [
            LIMITS.io_full,
            LIMITS.disk_works,
            LIMITS.disk_full,
            LIMITS.disk_some,
            LIMITS.disk_busy,
        ],
        "storage": [LIMITS.io_full, LIMITS.io_some, LIMITS.disk_rests],
        "network": [LIMITS.network, LIMITS.retransmits, LIMITS.network_lossy],
        "listen queue": [
            f"at least {LIMITS.listen_samples} samples",
            f"{1 / LIMITS.listen_drops:,.0f} segments",
        ],
        "database connections": [
            LIMITS.connections,
            LIMITS.refused,
            f"{LIMITS.new_session:g} seconds",
        ],
        "database locks, database I/O, database waits": [LIMITS.sessions, LIMITS.all_sessions],
        "application threads": [LIMITS.threads, LIMITS.waiting_samples],
        "task slots": [LIMITS.waiting_samples],
        "open files": [LIMITS.descriptors, LIMITS.descriptors_full],
        "a limit that was set": [LIMITS.waiting_samples],
    }
    for name, limits in told.items():
        for limit in limits:
            text = limit if isinstance(limit, str) else f"{100 * limit:g} %"
            with subtests.test(name, limit=text):
                assert text in rows[name]
    assert set(rows) - {"resource", "---"} == {*told, "database CPU"}
    assert f"{100 * LIMITS.part:g} % of the window" in page
    assert f"{100 * WHOLE:g} % of it" in page
