from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from campaigns.findings.values import BindingFinding, BindingGroup, BindingLevel
from campaigns.findings.wording.binding import (
    CAVEAT,
    NONE_SEEN,
    NOT_WATCHED,
    binding_texts,
    binds_sentence,
    run_binding_text,
)
from campaigns.stats.binding import (
    QUEUES,
    Bound,
    Caveat,
    Observed,
    Resource,
    RunBinding,
    RunWord,
    in_front,
)
from campaigns.stats.binding_levels import level_binding, ranges_of, trends_of
from campaigns.stats.binding_rule import judge
from campaigns.tests.stats.machines import BUSY, MACHINES, machine
from campaigns.tests.stats.test_binding_levels import CPU, MEMORY, UNKNOWN, run


def finding(levels, label="Workers", groups=1, trends=False, **changed):
    """A finding with these runs at each level."""
    words = [level_binding(runs) for _, runs in levels]
    cells = [
        BindingLevel(n, value, word)
        for n, ((value, _), word) in enumerate(zip(levels, words, strict=True))
    ]
    group = [
        BindingGroup(
            levels={"rate": n},
            cells=cells,
            ranges=ranges_of(words),
            trends=trends_of(levels, 0.05) if trends else [],
        )
        for n in range(1, groups + 1)
    ]
    runs = sum(len(each) for _, each in levels)
    fields = {
        "factor": "workers", "label": label, "is_load": True, "numeric": True, "groups": group, "runs": runs,
        "watched": runs, "not_watched": [], "missing": [], "caveats": [], "rule": 1, "alpha": 0.05,
    }  # fmt: skip
    return BindingFinding(**{**fields, **changed})


def sentence(*levels, **changed):
    return binding_texts(finding(levels, **changed)).sentence


NOTHING, MEM, BOTH = [run()] * 3, [run(MEMORY)] * 3, [run(CPU, MEMORY)] * 3


PUMA = Bound(Resource.THREADS, "puma")
QUEUED, ALONE = [run(CPU, PUMA)] * 3, [run(PUMA)] * 3
PARTLY = [run(CPU, partly=[CPU])] * 3


def test_it_says_from_which_level_on_a_resource_binds(subtests):
    none = "None seen at {}: the limit is outside of what was watched."
    cases = {
        "from": (
            sentence((3, NOTHING), (8, NOTHING), (12, MEM), (20, MEM)),
            "From 12 workers on, memory of the target binds in all 6 runs. This begins between 8 and 12 workers. "
            + none.format("3 and 8 workers"),
        ),
        "everywhere": (
            sentence((3, BOTH), (8, BOTH)),
            "At every level, from 3 to 8 workers, CPU and memory of the target bind in all 6 runs.",
        ),
        "up to": (
            sentence((3, MEM), (8, NOTHING)),
            "Up to 3 workers, memory of the target binds in all 3 runs. This ends between 3 and 8 workers. "
            + none.format("8 workers"),
        ),
        "between": (
            sentence((3, NOTHING), (5, MEM), (8, NOTHING), label="maxconn"),
            "At maxconn 5, memory of the target binds in all 3 runs. This begins above maxconn 3 and ends below maxconn 8. "
            + none.format("maxconn 3 and 8"),
        ),
        "beside another": (
            sentence((4, [run(CPU)]), (8, [run(CPU, MEMORY)]), (12, [run(CPU)])),
            "At every level, from 4 to 12 workers, CPU of the target binds in all 3 runs. "
            "At 8 workers, memory of the target binds in the only run. This begins above 4 workers and ends below 12 workers.",
        ),
        "behind a queue": (
            sentence((4, NOTHING), (8, QUEUED), (12, QUEUED)),
            "From 8 workers on, CPU of the target binds in all 6 runs; requests queue at Puma's threads. "
            "This begins between 4 and 8 workers. " + none.format("4 workers"),
        ),
        "a queue, and from then on what is behind it": (
            sentence((4, [run(free=[CPU, MEMORY, PUMA])]), (8, ALONE), (12, QUEUED)),
            "At 8 workers, application threads of Puma bind in all 3 runs. This begins between 4 and 8 workers. "
            "From 12 workers on, CPU of the target binds in all 3 runs; requests queue at Puma's threads. "
            "This begins between 8 and 12 workers. " + none.format("4 workers"),
        ),
        "for a part": (
            sentence((4, NOTHING), (8, PARTLY)),
            "From 8 workers on, CPU of the target binds for part of the run in all 3 runs. "
            "This begins between 4 and 8 workers. " + none.format("4 workers"),
        ),
        "in most runs": (
            sentence((4, [run(CPU), run(CPU), run()]), (8, [run(CPU)] * 3)),
            "At every level, from 4 to 8 workers, CPU of the target binds in 5 of 6 runs.",
        ),
        "before levels that are unknown": (
            sentence((2, NOTHING), (4, MEM), (8, []), (16, [])),
            "At 4 workers, memory of the target binds in all 3 runs. This begins between 2 and 4 workers. "
            + none.format("2 workers") + " Unknown at 8 and 16 workers: the target was not watched.",
        ),
        "after levels that are unknown": (
            sentence((2, []), (4, MEM), (8, MEM), (16, NOTHING)),
            "From 4 to 8 workers, memory of the target binds in all 6 runs. This ends between 8 and 16 workers. "
            + none.format("16 workers") + " Unknown at 2 workers: the target was not watched.",
        ),
        "among levels that are unknown": (
            sentence((2, []), (4, MEM), (8, [])),
            "At 4 workers, memory of the target binds in all 3 runs. Unknown at 2 and 8 workers: the target was not watched.",
        ),
        "nowhere": (sentence((3, NOTHING), (8, NOTHING)), NONE_SEEN),
        "at many levels": (
            sentence(*((n, NOTHING) for n in range(1, 7)), (7, MEM)),
            "From 7 workers on, memory of the target binds in all 3 runs. This begins between 6 and 7 workers. "
            + none.format("1 to 6 workers"),
        ),
        "at many levels that are apart": (
            sentence(*((n, MEM if n in (3, 5) else NOTHING) for n in range(1, 8)), numeric=False, label="engine"),
            "At engine 3, memory of the target binds in all 3 runs. At engine 5, memory of the target binds in all 3 runs. "
            + none.format("engine 1 and 2, and 3 more levels"),
        ),
        "not the same": (
            sentence((3, NOTHING), (8, [run(MEMORY), run(MEMORY), run(), run()])),
            none.format("3 workers") + " At 8 workers the runs differ: memory in 2 of 4 runs, none seen in 2.",
        ),
        "not watched": (sentence((3, []), (8, [])), NOT_WATCHED),
        "partly": (
            sentence((3, NOTHING), (8, [UNKNOWN]), missing=["ssh"]),
            none.format("3 workers") + " Unknown at 8 workers: memory and disk were not watched.",
        ),
        "one cell": (
            sentence((None, MEM), factor="", label="", numeric=False),
            "Memory of the target binds in all 3 runs.",
        ),
        "texts": (
            sentence(("asyncio", MEM), ("curl", NOTHING), factor="engine", label="engine", numeric=False),
            "At engine asyncio, memory of the target binds in all 3 runs. " + none.format("engine curl"),
        ),
    }  # fmt: skip
    for name, (text, expected) in cases.items():
        with subtests.test(name):
            assert text == expected
            assert_short(text)


def assert_short(text):
    """Each sentence has at most 25 words and 160 characters, and a semicolon only before a queue."""
    for each in text.split(". "):
        assert len(each.split()) <= 25, each
        assert len(each) <= 160, each
        assert each.count(";") <= 1, each
        if ";" in each:
            assert any(word in each.partition(";")[2] for word in ("queue", "run out", "wait")), (
                each
            )


def test_a_run_says_what_binds_and_what_stands_in_front_of_it(subtests):
    names = {
        "a CPU behind Puma's threads": "CPU of the target binds; requests queue at Puma's threads.",
        "threads of Puma": "Application threads of Puma bind.",
        "a CPU and memory": "CPU and memory of the target bind.",
        "a CPU, memory and a disk": "CPU, memory and the disk sda of the target bind.",
        "a CPU for the first half": "CPU of the target binds for part of the run.",
        "a CPU all the time, and memory for a part":
            "CPU of the target binds. Memory of the target binds for part of the run.",
        "niced loops on all cores, told by groups":
            "CPU of the target binds. Niced programs (updatedb) use 83.7 % of the CPU.",
        "niced loops on all cores": "CPU of the target binds. Niced programs use 83.7 % of the CPU.",
        "a server of files": "Storage of the target binds.",
        "LWLocks": "LWLock waits of the database bind.",
        "pins of buffers": "BufferPin waits of the database bind.",
        "a CPU behind max_connections": "CPU of the target binds; database connections run out.",
        "a network behind a limit": "The network card eth0 sent binds; requests queue at the limit of app.",
        "a disk behind workers": "The disk sda of the target binds; tasks queue at Pulp's slots.",
        "a full thread behind a listen queue": "One thread of node binds; connections overflow the listen queue.",
        "commits": "The disk sda of the target and database I/O bind.",
        "idle": NONE_SEEN,
    }  # fmt: skip
    said = {known.name: run_binding_text(judge(known.observed)).sentence for known in MACHINES}
    for name, expected in names.items():
        with subtests.test(name):
            assert said[name] == expected
    for name, text in said.items():
        with subtests.test(name):
            assert_short(text)


def test_of_more_than_three_resources_the_first_are_named():
    bound = [
        Bound(each) for each in (Resource.CPU, Resource.MEMORY, Resource.STORAGE, Resource.LOCKS)
    ]
    text = binds_sentence(bound)
    assert text == "CPU, memory and 2 more resources of the target bind"


def test_utilisation_rises_only_where_chance_would_not_do_it(subtests):
    cases = {
        "four in order": ([(n, [run(cpu=n / 20)]) for n in (1, 2, 3, 4)], "is not shown", ""),
        "two levels": ([(n, [run(cpu=n / 20), run(cpu=n / 19)]) for n in (1, 2)], "is not shown", "…"),
        "six in order": ([(n, [run(cpu=n / 20)]) for n in range(1, 7)], "CPU rises with workers.", ""),
        "six back": ([(n, [run(cpu=1 - n / 20)]) for n in range(1, 7)], "CPU falls with workers.", ""),
    }  # fmt: skip
    for name, (levels, text, interval) in cases.items():
        with subtests.test(name):
            (trend,) = binding_texts(finding(levels, trends=True)).groups[0].trends

            assert text in trend.text
            assert interval in trend.interval
            assert bool(trend.interval) == bool(interval)


def test_each_setting_has_its_sentence():
    texts = binding_texts(finding([(3, NOTHING), (12, MEM)], groups=2))

    assert [group.setting for group in texts.groups] == ["rate 1", "rate 2"]
    assert texts.sentence.count("Rate 2: from 12 workers on, memory") == 1
    assert texts.sentence.count("Rate 2") == 1


def test_what_binds_is_never_called_a_cause():
    runs = [
        *(judge(known.observed) for known in MACHINES),
        judge(Observed(1.0, {})),
        judge(machine(missing=["ssh"])),
        judge(machine(without=["cpu", "pressure"])),
    ]
    for each in runs:
        text = run_binding_text(each)
        whole = " ".join(
            [
                text.sentence,
                *text.caveats,
                *(r for s in text.resources for r in [s.name, *s.reasons]),
            ]
        )
        assert "because" not in whole.lower()
        assert "  " not in whole
        assert (CAVEAT in text.caveats) == (each.word == RunWord.BINDS)
        assert text.sentence.endswith(".")


def test_a_run_names_its_figures():
    text = run_binding_text(judge(machine(changed=BUSY)))

    assert text.sentence == "CPU of the target binds."
    assert text.resources[0].reasons[:2] == [
        "CPU used 99.5 %, limit 90 %",
        "some task waited for a CPU 97 % of the time, limit 25 %",
    ]


def test_what_is_unknown_has_its_reason(subtests):
    cases = {
        "nothing": (Observed(1.0, {}), NOT_WATCHED),
        "a watch that failed": (Observed(1.0, {}, missing=["ssh"]), "Unknown: the watch ssh of the target gave nothing that can be judged."),
        "the database's alone": (machine(missing=["postgresql"]), "Unknown: the watch postgresql of the target gave nothing that can be judged."),
        "no disks": (machine(without=["disk"]), "Unknown: disk was not watched."),
    }  # fmt: skip
    for name, (observed, expected) in cases.items():
        with subtests.test(name):
            assert run_binding_text(judge(observed)).sentence == expected


def test_the_generators_own_share_is_a_caveat():
    run = RunBinding(RunWord.BINDS, [CPU], [], 60, 60, caveats=[Caveat.LOAD])

    assert "load generator" in run_binding_text(run).caveats[1]


def test_a_finding_by_an_earlier_rule_is_read_and_said():
    stored = msgspec.to_builtins(finding([(3, NOTHING), (12, MEM)]))
    del stored["niced"]
    for level in stored["groups"][0]["cells"]:
        for resource in level["binding"]["resources"]:
            del resource["partly"], resource["judged_by"]

    old = msgspec.convert(stored, BindingFinding)

    assert (
        "From 12 workers on, memory of the target binds in all 3 runs."
        in binding_texts(old).sentence
    )


def test_whose_the_niced_work_is_is_a_caveat_of_the_campaign():
    levels = [(3, [replace(run(CPU), caveats=[Caveat.NICED])])]
    told = binding_texts(finding(levels, caveats=[Caveat.NICED], niced=["updatedb", "gzip"]))

    assert told.caveats[1] == (
        "Niced programs use a part of the CPU that binds, and give way to others. They are updatedb and gzip."
    )


JUDGED_RUNS = {known.name: judge(known.observed) for known in MACHINES}


@given(
    st.lists(st.lists(st.sampled_from(sorted(JUDGED_RUNS)), max_size=4), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from([1, 2]),
)
def test_of_whatever_runs_each_sentence_is_short_and_no_queue_stands_before_hardware(
    levels, numeric, groups
):
    runs = [[JUDGED_RUNS[name] for name in names] for names in levels]
    told = finding(list(enumerate(runs, 1)), numeric=numeric, groups=groups)

    texts = binding_texts(told)

    assert_short(texts.sentence)
    for group in told.groups:
        for level in group.cells:
            binds, queues = in_front(level.binding.bound)
            if queues:
                assert binds
                assert not any(each.resource in QUEUES for each in binds)
    assert "  " not in texts.sentence
