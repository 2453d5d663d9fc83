"""Tasks of Foreman in the forms that its versions give, and what is no task."""

from datetime import UTC, datetime

import pytest

from campaigns.kinds.servers.foreman_tasks import instant, progress_of, read_task
from campaigns.kit.http.errors import Strange

NINE = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
TASK = {
    "id": "7c1f0000-0000-4000-8000-000000000000",
    "label": "Actions::Katello::Repository::Sync",
    "action": "Synchronize repository 'bench'; product 'Bench'; organization 'ACME'",
    "username": "admin",
    "started_at": "2026-11-21 09:00:00 UTC",
    "ended_at": "2026-11-21 09:00:12 UTC",
    "state": "stopped",
    "result": "success",
    "duration": "12.345",
    "input": {},
    "output": {},
    "humanized": {"action": "Synchronize", "input": [], "output": "", "errors": []},
    "start_at": "2026-11-21 09:00:00 UTC",
}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-11-21 09:00:00 UTC", NINE),
        ("2026-11-21 10:00:00 +0100", NINE),
        ("2026-11-21T09:00:00Z", NINE),
        ("2026-11-21T04:00:00.000-05:00", NINE),
        ("2026-11-21T09:00:00.250Z", NINE.replace(microsecond=250_000)),
        ("2026-11-21 09:00:00.123456789 UTC", NINE.replace(microsecond=123_456)),
        ("", None),
        (None, None),
    ],
)
def test_an_instant_is_read_in_all_its_forms(text, read):
    assert instant(text) == read


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-11-21", "09:00:00 UTC", "2026-13-21 09:00:00 UTC"]
)
def test_what_is_no_instant_is_refused(text):
    with pytest.raises(ValueError, match=r"instant|month"):
        instant(text)


@pytest.mark.parametrize(
    ("changes", "seconds", "resolution"),
    [
        ({}, 12.345, 0.001),
        ({"duration": "12.0"}, 12.0, 1.0),
        ({"duration": None}, 12.0, 1.0),
        ({"duration": ""}, 12.0, 1.0),
        ({"ended_at": None}, None, 1.0),
        ({"started_at": None}, None, 1.0),
        (
            {
                "duration": None,
                "started_at": "2026-11-21T09:00:00.500Z",
                "ended_at": "2026-11-21T09:00:02.750Z",
            },
            2.25,
            0.001,
        ),
    ],
)
def test_a_duration_is_as_fine_as_what_it_comes_from(changes, seconds, resolution):
    task = read_task(TASK | changes)

    assert task.seconds == seconds
    assert task.resolution == resolution


def test_the_duration_of_a_task_that_runs_is_none_yet():
    task = read_task(TASK | {"state": "running", "result": "pending", "ended_at": None})

    assert task.seconds is None
    assert not task.at_rest


def test_a_paused_task_is_at_rest_and_did_not_come_through():
    task = read_task(TASK | {"state": "paused", "result": "error", "ended_at": None})

    assert task.at_rest
    assert not task.succeeded


def test_a_warning_is_no_success():
    assert not read_task(TASK | {"result": "warning"}).succeeded
    assert read_task(TASK).succeeded


def test_lines_of_progress_are_read_and_others_left_out():
    output = """No content added.
Total steps: 126/126
--------------------------------
Associating Content: 0/0
Downloading Metadata Files: 6/6
Skipping Sync (no change from previous sync): 1/1"""

    assert progress_of(output) == {
        "Total steps": (126, 126),
        "Associating Content": (0, 0),
        "Downloading Metadata Files": (6, 6),
        "Skipping Sync (no change from previous sync)": (1, 1),
    }


@pytest.mark.parametrize(
    ("changes", "skipped"),
    [
        ({"humanized": {"output": "Skipping Sync (no change from previous sync): 1/1"}}, True),
        ({"humanized": {"output": "Skipping Packages: 5/5"}}, False),
        ({"output": {"post_action_skipped": True}}, True),
        ({"output": {"post_action_skipped": False}}, False),
        ({"humanized": None, "output": None}, False),
    ],
)
def test_a_skipped_sync_is_known_by_what_it_says(changes, skipped):
    assert read_task(TASK | changes).was_skipped == skipped


@pytest.mark.parametrize(
    ("given", "forced"),
    [
        ({"skip_metadata_check": True}, True),
        ({"skip_metadata_check": False}, False),
        ({"options": {"skip_metadata_check": True}}, True),
        ({"options": None}, False),
    ],
)
def test_what_was_asked_for_stands_in_the_input(given, forced):
    assert read_task(TASK | {"input": given}).skips_metadata_check == forced


@pytest.mark.parametrize("errors", ["it broke", ["it broke"], ["it\n broke", None, ""]])
def test_errors_are_read_as_a_text_or_as_a_list(errors):
    assert read_task(TASK | {"humanized": {"errors": errors}}).errors == ("it broke",)


def test_what_waited_is_known_where_both_instants_are():
    waited = read_task(TASK | {"started_at": "2026-11-21 09:00:03 UTC"})

    assert waited.queue_seconds == 3.0
    assert read_task(TASK | {"start_at": None}).queue_seconds is None


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        "task",
        {},
        {k: v for k, v in TASK.items() if k != "state"},
        TASK | {"started_at": "soon"},
        TASK | {"duration": "long"},
        TASK | {"started_at": 5},
    ],
)
def test_what_is_no_task_is_strange(said):
    with pytest.raises(Strange, match="no task"):
        read_task(said)
