"""A run begins only with rights of the login that are confirmed: they may be others since the launch."""

import pytest

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.kit.errors import Invalid
from campaigns.models import Attempt, LogLine, Run, Target
from campaigns.targets.rights import confirm_rights, held_of, note_rights
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


def finished(attempt):
    return execute(attempt.pk, "measure@here", "here")


@pytest.fixture
def rights(controlled, target, monkeypatch):
    """Let the server execute what the author wrote, with these rights."""
    found = ["dblink"]
    monkeypatch.setattr(controlled, "executes", lambda parameters: "SQL", raising=False)
    monkeypatch.setattr(
        controlled, "rights", lambda target, access, parameters: tuple(found), raising=False
    )
    note_rights(target, found)
    confirm_rights(target, found, somebody("the admin"))
    return found


def test_a_run_with_confirmed_rights_says_so_in_its_log(rights, attempt_of):
    run = finished(attempt_of())

    assert run.state == Run.State.DONE
    assert LogLine.objects.filter(
        run=run, text__contains="rights of the login that are confirmed: dblink"
    ).exists()


def test_a_right_that_was_given_since_makes_the_run_void_before_it_loads(
    rights, attempt_of, controlled, target
):
    attempt = attempt_of()
    rights.append("superuser")

    run = finished(attempt)

    assert (run.state, Attempt.objects.count()) == (Run.State.VOID, 1)
    assert "beyond the server: superuser" in run.reason
    assert "let an admin of the team" in run.reason
    assert not controlled.measuring.is_set()
    target.refresh_from_db()
    assert target.rights == ["dblink", "superuser"]


def test_a_right_that_was_taken_since_is_no_reason_to_stop(rights, attempt_of):
    attempt = attempt_of()
    rights.clear()

    assert finished(attempt).state == Run.State.DONE


def test_rights_that_nobody_could_ask_for_before_are_refused_at_the_start(
    rights, attempt_of, target
):
    target.confirmed_rights.delete()
    target.rights = None
    target.save()

    run = finished(attempt_of())

    assert run.state == Run.State.VOID
    dispatch.dispatch()
    assert not Attempt.objects.filter(state=Attempt.State.QUEUED).exists()


def test_what_was_confirmed_of_one_login_is_shown_and_does_not_hold_for_another(rights, target):
    """Of a login that was just changed, no right is known yet."""
    target.username, target.rights = "another", None
    target.save()

    held = held_of(target)

    assert held.row is not None
    assert (held.is_confirmed, held.matter) == (False, True)


def test_rights_that_nobody_has_asked_for_are_not_confirmed(rights, target):
    Target.objects.filter(pk=target.pk).update(rights=None)

    with pytest.raises(Invalid, match="The rights of its login are: none"):
        confirm_rights(target, ["dblink"], somebody("another admin"))
