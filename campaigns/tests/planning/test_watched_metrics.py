import pytest

from campaigns.kinds.base import Health, Measured
from campaigns.kinds.registry import all_kinds, driver_of
from campaigns.kit.errors import Invalid
from campaigns.models import Target, Watch
from campaigns.planning.checking import check
from campaigns.planning.watched_metrics import CPU_PER, watched_metric, watched_metrics

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(db):
    return Target.objects.create(name="server", base_url="http://server.example", family="http")


def watch(target, source="ssh"):
    return Watch.objects.create(target=target, source=source, address="server.example:22")


def names(target, kind="downloader"):
    return [metric.name for metric in watched_metrics(driver_of(kind), [target])]


def test_a_name_says_what_it_is():
    memory, demand = watched_metric("watched.memory:puma"), watched_metric("watched.cpu_per_file")

    assert memory is not None
    assert demand is not None
    assert (memory.label, memory.unit, memory.lower_is_better) == (
        "Memory of puma, mean",
        "MB",
        True,
    )
    assert (demand.label, demand.unit) == ("CPU of the target per file", "s")
    for other in ("duration", "watched.", "watched.load", "watched.memory:", "watched.memory:a:b"):
        assert watched_metric(other) is None


def test_a_watched_target_gives_metrics_to_every_kind():
    target = Target.objects.create(name="s", base_url="http://s.example", family="http")
    assert names(target) == []

    watch(target)

    for kind in ("downloader", "http"):
        unit = driver_of(kind).work_units[0]
        given = names(target, kind)
        assert f"watched.cpu_per_{unit}" in given
        assert f"watched.cpu_per_{unit}:web server" in given
        assert "watched.memory:others" in given
        assert all(watched_metric(name) for name in given)


def test_every_kind_names_the_units_of_its_work():
    for kind, driver in all_kinds().items():
        assert driver.work_units, kind
        assert all(watched_metric(f"{CPU_PER}{unit}") for unit in driver.work_units), kind
        done = driver.work_done(Measured({}, Health("healthy", (), {}), units_done=7), 10.0)
        assert set(done) <= set(driver.work_units), kind


def test_a_database_alone_gives_none(target):
    watch(target, "postgresql")

    assert names(target) == []


def test_only_what_all_targets_give_may_be_compared(target):
    watch(target)
    other = Target.objects.create(name="o", base_url="http://o.example", family="http")

    assert watched_metrics(driver_of("downloader"), [target, other]) == ()


def definition(target, **changed):
    return {
        "kind": "downloader", "name": "n", "question": "q", "target": target.pk, "repetitions": 3,
        "parameters": {"manifest": "http://server.example/PULP_MANIFEST"}, "factors": {"concurrency": [5, 10]},
        **changed,
    }  # fmt: skip


def test_memory_of_a_group_may_be_the_primary_metric_before_any_run(target):
    watch(target)

    made = check(definition(target, primary_metric="watched.memory:web server"))

    assert made.campaign.primary_metric == "watched.memory:web server"


def test_a_metric_that_no_watch_gives_is_refused_with_those_it_gives(target):
    with pytest.raises(Invalid) as unwatched:
        check(definition(target, primary_metric="watched.memory"))
    watch(target)
    with pytest.raises(Invalid) as unknown:
        check(definition(target, primary_metric="watched.memory:puma"))

    assert "there is none in use" in str(unwatched.value.errors)
    assert "not given by the watches of the target: they give watched.cpu_per_file" in str(
        unknown.value.errors
    )
