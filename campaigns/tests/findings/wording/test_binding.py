from campaigns.findings.values import BindingFinding, BindingGroup, BindingLevel
from campaigns.findings.wording.binding import (
    CAVEAT,
    NONE_SEEN,
    NOT_WATCHED,
    binding_texts,
    run_binding_text,
)
from campaigns.stats.binding import (
    Bound,
    Caveat,
    Observed,
    Resource,
    RunBinding,
    RunWord,
)
from campaigns.stats.binding_levels import level_binding, ranges_of, trends_of
from campaigns.stats.binding_rule import judge
from campaigns.tests.stats.test_binding_levels import CPU, MEMORY, UNKNOWN, run
from campaigns.tests.stats.test_binding_rule import BUSY, KNOWN, NONE, machine


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


NOTHING, MEM, BOTH = [run()] * 3, [run(MEMORY)] * 3, [run(CPU, Bound(Resource.CONNECTIONS))] * 3


def test_it_says_from_which_level_on_a_resource_binds(subtests):
    none = "None seen at {}: the limit is outside of what was watched."
    cases = {
        "from": (
            sentence((3, NOTHING), (8, NOTHING), (12, MEM), (20, MEM)),
            "From 12 workers on, memory of the target binds; it begins between 8 and 12 workers. "
            + none.format("3 and 8 workers"),
        ),
        "everywhere": (
            sentence((3, BOTH), (8, BOTH)),
            "CPU of the target and database connections bind at every level that was watched, from 3 to 8 workers.",
        ),
        "up to": (
            sentence((3, MEM), (8, NOTHING)),
            "Up to 3 workers, memory of the target binds; it ends between 3 and 8 workers. " + none.format("8 workers"),
        ),
        "between": (
            sentence((3, NOTHING), (5, MEM), (8, NOTHING), label="maxconn"),
            "At maxconn 5, memory of the target binds; at maxconn 3 and 8 not. " + none.format("maxconn 3 and 8"),
        ),
        "beside one that binds more": (
            sentence((4, [run(CPU)]), (8, [run(MEMORY, beside=[CPU])]), (12, [run(CPU)])),
            "CPU of the target binds at every level that was watched, from 4 to 12 workers. "
            "At 8 workers, memory of the target binds; at 4 and 12 workers not.",
        ),
        "before levels that are unknown": (
            sentence((2, NOTHING), (4, MEM), (8, []), (16, [])),
            "At 4 workers, memory of the target binds; it begins between 2 and 4 workers. "
            + none.format("2 workers") + " Unknown at 8 and 16 workers: the target was not watched.",
        ),
        "after levels that are unknown": (
            sentence((2, []), (4, MEM), (8, MEM), (16, NOTHING)),
            "From 4 to 8 workers, memory of the target binds; it ends between 8 and 16 workers. "
            + none.format("16 workers") + " Unknown at 2 workers: the target was not watched.",
        ),
        "among levels that are unknown": (
            sentence((2, []), (4, MEM), (8, [])),
            "At 4 workers, memory of the target binds. Unknown at 2 and 8 workers: the target was not watched.",
        ),
        "nowhere": (sentence((3, NOTHING), (8, NOTHING)), NONE_SEEN),
        "not the same": (
            sentence((3, NOTHING), (8, [run(MEMORY), run(MEMORY), run(), run()])),
            none.format("3 workers") + " At 8 workers it is not the same in all runs: memory in 2 of 4 runs, none seen in 2.",
        ),
        "not watched": (sentence((3, []), (8, [])), NOT_WATCHED),
        "partly": (
            sentence((3, NOTHING), (8, [UNKNOWN]), missing=["ssh"]),
            none.format("3 workers") + " Unknown at 8 workers: memory and disk were not watched.",
        ),
        "one cell": (
            sentence((None, MEM), factor="", label="", numeric=False),
            "Memory of the target binds.",
        ),
        "texts": (
            sentence(("asyncio", MEM), ("curl", NOTHING), factor="engine", label="engine", numeric=False),
            "At engine asyncio, memory of the target binds. " + none.format("engine curl"),
        ),
    }  # fmt: skip
    for name, (text, expected) in cases.items():
        with subtests.test(name):
            assert text == expected


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
    assert "Rate 2: from 12 workers on, memory" in texts.sentence


def test_what_binds_is_never_called_a_cause():
    runs = [judge(machine(changed=changed)) for changed, _ in KNOWN.values()]
    runs += [judge(machine(changed=changed)) for changed in NONE.values()]
    runs += [
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
        "CPU used 99.5 %, limit 70.7 %",
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
