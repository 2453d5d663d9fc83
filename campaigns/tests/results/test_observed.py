"""What the rule is given of several watches of one target."""

from dataclasses import replace

import msgspec

from campaigns.results.watched import WatchedSource, binding_from, observed, watched_run
from campaigns.stats.binding import Bound, Resource, RunWord
from campaigns.tests.watched import REFUSED, SECONDS, machine, series, watched

(SSH,) = watched(machine(0.3)).sources


def source(name, *members, address="other.example"):
    return WatchedSource(name, address, "whole", 1.0, frames=35, series=members)


def test_a_disk_that_two_sources_name_otherwise_is_one():
    exporter = source(
        "node_exporter", series("disk.busy", 0.2, "sda (/)"), series("net.speed", 1e9, "eth0")
    )

    found = observed([SSH, exporter], SECONDS)

    assert [label for quantity, label in found.series if quantity == "disk.busy"] == ["sda"]
    assert ("net.speed", "eth0") in found.series
    assert (found.sources, found.missing) == (["ssh", "node_exporter"], [])


def test_a_second_watch_of_a_kind_of_which_nothing_counts_is_missing():
    first, second = (
        source("puma", series("queue.waiting", waits, "threads puma"), address=address)
        for waits, address in ((0.0, "a.example"), (9.0, "b.example"))
    )
    assert observed([SSH, first, second], SECONDS).missing == ["puma"]
    other = replace(second, series=[series("queue.waiting", 9.0, "threads b")])
    assert observed([SSH, first, other], SECONDS).missing == []


def test_a_watch_that_could_not_be_used_leaves_it_unknown_what_binds():
    run = watched_run([], 0.0, SECONDS, 0.0, [SSH, REFUSED])

    assert run.sources == [SSH, REFUSED]
    assert run.binding is not None
    assert (run.binding.missing, run.binding.word) == (["postgresql"], RunWord.UNKNOWN)


def test_a_judgement_by_an_earlier_rule_is_read():
    stored = msgspec.to_builtins(watched(machine(0.98)).binding)
    for state in stored["resources"]:
        del state["judged_by"], state["at_limit"]
        state["strength"] = 3.9 if state["state"] == "binds" else None
    stored["resources"].append({"resource": "sockets", "label": "", "state": "free"})
    stored |= {"rule": 2, "not_watched": ["sockets"]}

    run = binding_from(stored)

    assert run is not None
    assert (run.word, run.strongest) == (RunWord.BINDS, [Bound(Resource.CPU)])
    assert not any(each.is_partly for each in run.resources)
