import pytest
from django.db import IntegrityError, connection, transaction

from campaigns.kit.activity import Action, by_means, by_request, record, set_means, token_means
from campaigns.models import AuditEvent, SshLogin, Target, Team
from campaigns.models.teams import default_team
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def event():
    return record(
        Action.TEAM_EDITED, user=somebody("owner"), team=Team.objects.get(pk=default_team())
    )


def test_a_row_tells_who_did_what_by_which_means():
    user = somebody("owner")
    team = Team.objects.get(pk=default_team())

    with by_means("token “ci”"):
        made = record(Action.TEAM_EDITED, user=user, subject=team, team=team, before="A", after="B")

    row = AuditEvent.objects.get(pk=made.pk)
    assert (row.user, row.means, row.subject_kind) == (user, "token “ci”", "team")
    assert row.details == {"before": "A", "after": "B"}
    assert record(Action.KEYS_ROTATED).means == "system"


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_database_refuses_to_change_the_record(event, change):
    rows = AuditEvent.objects.filter(pk=event.pk)

    with pytest.raises(IntegrityError, match="only added to"), transaction.atomic():
        rows.update(action="x") if change == "update" else rows.delete()

    assert AuditEvent.objects.get(pk=event.pk).action == Action.TEAM_EDITED


@pytest.mark.parametrize("table", ["campaigns_auditevent", "campaigns_decision"])
def test_the_database_refuses_to_empty_a_record(event, table):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # nothing waits, so that it can be emptied
        with pytest.raises(IntegrityError, match="never emptied"), transaction.atomic():
            cursor.execute(f"TRUNCATE {table}")

    assert AuditEvent.objects.filter(pk=event.pk).exists()


def test_within_a_request_it_is_whoever_sends_it_unless_somebody_else_is_named():
    user = somebody("ada")

    with by_request(lambda: user):
        said = record(Action.KEYS_ROTATED)
        by_itself = record(Action.KEYS_ROTATED, user=None)
        set_means(token_means("ci"))
        by_token = record(Action.KEYS_ROTATED)

    assert (said.user, said.means) == (user, "browser")
    assert (by_itself.user, by_itself.means) == (None, "system")
    assert (by_token.user, by_token.means) == (user, "token “ci”")
    assert record(Action.KEYS_ROTATED).user is None


def test_an_action_that_is_not_in_the_list_is_refused():
    with pytest.raises(ValueError, match="renamed"):
        record("renamed")  # type: ignore[arg-type]


def test_a_part_of_a_target_belongs_to_the_targets_team():
    other = Team.objects.create(name="Other")
    target = Target.objects.create(
        name="t", family="http", base_url="http://t", address="t:80", team=other
    )
    login = SshLogin.objects.create(target=target, host="t", username="u")

    row = record(Action.SSH_SAVED, subject=login)

    assert (row.team, row.subject_kind, row.subject_key) == (other, "sshlogin", login.pk)


def test_each_action_has_words_and_a_name_that_fits_the_column():
    longest = AuditEvent._meta.get_field("action").max_length

    assert all(action.label and len(action) <= (longest or 0) for action in Action)
