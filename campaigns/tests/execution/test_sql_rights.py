"""A script whose login is a superuser runs a program of the database's machine only after an admin has confirmed that right."""

import pytest

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.kit.errors import NotPossible
from campaigns.models import Attempt, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.planning.launch_checks import ask_rights_at, planned_by
from campaigns.targets.rights import confirm_rights
from campaigns.targets.saving import save_target
from campaigns.tests.kinds.sql.conftest import database
from campaigns.tests.people import somebody

__all__ = ["database"]

pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]
HIDDEN = "DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PRO' || 'GRAM ''cat >{}'''; END $$;"


@pytest.fixture
def target(database, settings, tmp_path):
    settings.ALLOWED_ADDRESSES = f"127.0.0.1:{database.port}"
    settings.WORK_DIRECTORY = tmp_path
    seen = database.target()
    return save_target(
        {
            "name": "database",
            "family": "postgresql",
            "base_url": seen.base_url,
            "username": seen.username,
            "password": seen.password,
        }
    )


def drafted(target, place):
    data = {
        "kind": "sql",
        "question": "What does it run?",
        "target": target.pk,
        "parameters": {
            "script": "own",
            "own_script": HIDDEN.format(place),
            "transactions": 1,
            "clients": 1,
            "rows": 10,
        },
        "repetitions": 1,
    }
    return drafts.create(checking.check(data), None)


def run_of(campaign):
    dispatch.dispatch()
    return execute(Attempt.objects.get(state=Attempt.State.QUEUED).pk, "measure@here", "here")


def test_a_superuser_is_confirmed_before_a_script_runs_a_program(target, database, worker):
    place = database.cluster / "made-by-a-script"
    campaign = drafted(target, place)

    run = run_of(lifecycle.launch(campaign, None))  # nobody has asked for the rights yet

    assert (run.state, place.exists()) == ("void", False)
    assert "has rights beyond the database: superuser" in run.reason
    with pytest.raises(NotPossible, match="superuser"):
        lifecycle.launch(drafted(target, place), None)

    another = drafted(target, place)
    ask_rights_at(planned_by(another))
    target = Target.objects.get()
    assert target.rights == ["superuser"]
    confirm_rights(target, ["superuser"], somebody("the admin"))
    run = run_of(lifecycle.launch(another, None))

    assert (run.state, place.exists()) == ("done", True)
