import json

import pytest

from campaigns.kit.activity import Action, record
from campaigns.models import AuditEvent, Team
from campaigns.tests.people import somebody


def test_what_was_done_by_a_token_is_listed_with_its_name(api, draft):
    status, page = api.get("activity", campaign=draft, means="token")

    assert status == 200
    (row,) = page["results"]
    assert (row["user"], row["means"], row["action"]) == (
        "owner",
        "token “tests”",
        "campaign_created",
    )
    assert (row["subject_kind"], row["subject_id"], row["campaign"]) == ("campaign", draft, draft)


def test_another_teams_rows_are_not_there(api):
    other = Team.objects.create(name="Others")
    record(Action.TEAM_EDITED, user=somebody("bob", team=other), subject=other)

    assert api.get("activity", team=other.pk)[1]["results"] == []
    assert api.get("activity", person="bob")[1]["results"] == []


@pytest.mark.parametrize(
    "query", [{"action": "danced"}, {"means": "magic"}, {"after": "x"}, {"colour": "red"}]
)
def test_a_filter_that_is_not_known_is_refused(api, query):
    status, problem = api.get("activity", **query)

    assert status == 400
    assert [error["field"] for error in problem["errors"]] == list(query)


def test_what_perfdash_did_by_itself_is_found_by_its_name(api, owner):
    record(Action.CAMPAIGN_ENDED, user=None, subject=owner)

    (row,) = api.get("activity", person="perfdash")[1]["results"]
    assert row["user"] is None


def test_it_comes_as_a_file(api, draft):
    answer = api.client.get("/api/v1/activity/export?action=campaign_created")
    (row,) = map(json.loads, b"".join(answer).decode().splitlines())
    csv = api.client.get(f"/api/v1/activity/export?format=csv&campaign={draft}")

    assert answer["Content-Type"] == "application/jsonl; charset=utf-8"
    assert row["campaign"] == draft
    assert b"".join(csv).decode().count("\n") == 2
    assert api.get("activity/export", format="xml")[0] == 400
    assert api.get("activity/export", colour="red")[0] == 400


def test_nobody_changes_it(api):
    for send in (api.post, api.put, api.patch):
        assert send("activity", {})[0] == 405
    assert api.delete("activity")[0] == 405
    assert AuditEvent.objects.exists()
