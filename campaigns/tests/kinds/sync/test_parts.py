"""The parts of a sync, from what each look at its tasks finds."""

from datetime import UTC, datetime, timedelta

from campaigns.kinds.servers.pulp_tasks import Progress, Task
from campaigns.kinds.sync.parts import Parts, phases_of

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
METADATA, FILES = "sync.downloading.metadata", "sync.downloading.artifacts"


def after(seconds):
    return None if seconds is None else CREATED + timedelta(seconds=seconds)


def task(href="1", *, started=1.0, finished=None, created=0.0, **done):
    """A task whose reports count what `done` says, by `metadata`, `files` or another code."""
    codes = {"metadata": METADATA, "files": FILES}
    return Task(
        href=href,
        name="sync",
        state="completed" if finished else "running",
        created=CREATED + timedelta(seconds=created),
        started=after(started),
        finished=after(finished),
        progress={
            codes.get(name, name): Progress(codes.get(name, name), number, None, "", "running")
            for name, number in done.items()
        },
        error={},
        created_resources=(),
    )


def seen(*looks):
    """Parts after these looks, each (seconds, tasks)."""
    parts = Parts()
    for at, *tasks in looks:
        parts.look(at, tasks)
    return parts


def spans(parts):
    """When each report was open at the earliest, first counted, and changed last."""
    return {
        phase.name: (
            phase.started_seconds,
            phase.counted_seconds,
            phase.started_seconds + phase.seconds,
        )
        for phase in parts.phases()
    }


def test_a_part_lasts_from_the_look_before_its_report_to_the_look_at_its_last_change():
    parts = seen(
        (1.0, task(metadata=0, files=0)),
        (2.0, task(metadata=1, files=0)),
        (3.0, task(metadata=1, files=5)),
        (4.0, task(metadata=1, files=9)),
        (5.0, task(metadata=1, files=9)),
    )

    assert spans(parts) == {
        "downloads metadata": (0.0, 2.0, 2.0),
        "downloads files": (0.0, 3.0, 4.0),
    }


def test_parts_may_overlap():
    parts = seen(
        (1.0, task(files=1, **{"associating.content": 1})),
        (2.0, task(files=2, **{"associating.content": 2})),
        (3.0, task(files=3, **{"associating.content": 2})),
    )

    assert spans(parts) == {
        "downloads files": (0.0, 1.0, 3.0),
        "associates content": (0.0, 1.0, 2.0),
    }


def test_a_part_that_never_counted_anything_is_none():
    parts = seen((1.0, task(metadata=1, files=0)), (2.0, task(metadata=1, files=0)))

    assert list(spans(parts)) == ["downloads metadata"]


def test_of_several_tasks_a_part_lasts_from_the_first_to_the_last():
    parts = seen(
        (1.0, task("a", files=1), task("b", files=0)),
        (2.0, task("a", files=1), task("b", files=0)),
        (3.0, task("a", files=1), task("b", files=7)),
    )

    assert spans(parts) == {"downloads files": (0.0, 1.0, 3.0)}


def test_a_report_of_another_plug_in_is_called_by_its_code():
    name = "sync.parsing.of.a.plug.in.whose.codes.are.longer.than.any.name.may.be"

    assert list(spans(seen((1.0, task(**{name: 3}))))) == [name[:50]]


def test_the_longest_time_between_two_looks_says_how_exact_this_is():
    assert seen((0.2, task()), (0.5, task()), (0.6, task())).longest_between == 0.3


def test_waiting_and_work_are_spans_by_pulps_clock_and_publishing_follows():
    tasks = {
        "a": task("a", created=0.0, started=0.5, finished=3.0),
        "b": task("b", created=0.1, started=2.1, finished=4.0),
    }

    found = phases_of(Parts(), tasks, 0.7, 4.2)

    assert [(p.name, p.started_seconds, p.seconds) for p in found] == [
        ("waits for a worker", 0.0, 2.0),
        ("task", 0.5, 3.5),
        ("publishes", 4.2, 0.7),
    ]


def test_a_task_that_did_not_end_has_its_wait_and_its_parts_only():
    running = task(started=0.5, files=3)

    found = phases_of(seen((1.0, running)), {"1": running}, None, 0.0)

    assert [phase.name for phase in found] == ["waits for a worker", "downloads files"]
