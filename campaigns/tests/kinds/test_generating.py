"""A kind that several generators may share, and its seam to them."""

import threading
from time import perf_counter_ns

import pytest

from campaigns.kinds.base import Cancelled, Context, DriverError, GeneratorFailed, parts_of
from campaigns.kinds.base.generating import GeneratorsForm, read_pools, with_generators
from campaigns.kinds.load.job import Job
from campaigns.kit.network import Rules
from campaigns.tests.toy import Toy, ToyForm

OBEDIENT = "campaigns.tests.kinds.programs.obedient"


class Shared(Toy):
    generators = True


@pytest.fixture
def context(tmp_path):
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        progress=lambda values: None,
        say=lambda line: None,
        clock=perf_counter_ns,
        directory=tmp_path,
        rules=Rules(),
        deadline_seconds=30.0,
    )


def test_the_parameters_of_generators_stand_behind_those_of_the_kind():
    assert list(Shared.parameters.base_fields) == [
        *ToyForm.base_fields,
        "generators",
        "generator_pools",
    ]
    assert "generators" not in Toy.parameters.base_fields
    assert with_generators(Shared.parameters) is Shared.parameters


def test_the_kinds_own_rules_still_hold():
    form = Shared.parameters(
        {"engine": "new", "workers": 4, "slow": 6, "path": "/", "generators": 1}
    )

    assert list(form.errors) == ["slow"]


@pytest.mark.parametrize(
    ("generators", "pools", "wrong"),
    [(0, "", "generators"), (21, "", "generators"), (2, "Far away", "generator_pools")],
)
def test_what_cannot_be_is_refused(generators, pools, wrong):
    form = GeneratorsForm({"generators": generators, "generator_pools": pools})

    assert list(form.errors) == [wrong]


def test_pools_are_read_with_commas_between():
    assert read_pools("generate, far") == ("generate", "far")
    assert read_pools(" ") == ("generate",)


def test_one_generator_gets_the_request_as_it_is():
    assert parts_of({"url": "x", "most_concurrent": 5}, 1) == [{"url": "x", "most_concurrent": 5}]


def test_parts_are_cut_from_the_schedule_and_wait_for_one_another():
    first, second = parts_of({"url": "x"}, 2)

    assert first == {"url": "x", "shard": [0, 2], "wait_for_start": True}
    assert second["shard"] == [1, 2]


def test_all_generators_take_together_what_the_targets_owner_allows():
    request = {
        "url": "http://127.0.0.1/", "rules": Rules().to_json(), "most_concurrent": 10, "most_per_second": 10.0,
        "schedule": {"hosts": 12, "iterations": 1},
    }  # fmt: skip
    parts = parts_of(request, 3)

    jobs = [Job.from_request(part) for part in parts]
    assert [job.own_concurrent for job in jobs] == [3, 3, 3]
    assert sum(job.own_per_second or 0.0 for job in jobs) == pytest.approx(10.0)
    fewer = [Job.from_request(part, fewer_hosts=True).schedule.numbers for part in parts]
    assert sorted(number for numbers in fewer for number in numbers) == list(range(10))


def test_more_generators_than_the_owner_allows_requests_are_refused():
    with pytest.raises(DriverError, match="2 requests at a time"):
        parts_of({"most_concurrent": 2}, 3)


@pytest.mark.system
def test_one_request_runs_here(context):
    outcome = context.generate(OBEDIENT, [{"do": "report"}], 30.0)

    assert outcome.samples["x"] == [1, 2, 3]


def test_several_requests_go_to_whoever_gathers(context):
    with pytest.raises(GeneratorFailed, match="from here"):
        context.generate(OBEDIENT, [{"do": "report"}] * 2, 30.0)


@pytest.mark.system
def test_a_program_that_breaks_says_nothing_of_the_target(context):
    with pytest.raises(GeneratorFailed, match="no such luck"):
        context.generate(OBEDIENT, [{"do": "crash", "name": "Bob"}], 30.0)


@pytest.mark.system
def test_a_program_that_is_cancelled_ends(context):
    context.cancelled.set()

    with pytest.raises(Cancelled):
        context.generate(OBEDIENT, [{"do": "hang"}], 30.0)
