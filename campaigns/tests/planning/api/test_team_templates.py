import pytest

from campaigns.models import Campaign
from campaigns.planning import drafts
from campaigns.planning.checking import check
from campaigns.tests.toy import definition


@pytest.fixture
def made(api, owner, target):
    draft = drafts.create(check(definition(target=target.pk, seed=5)), owner)
    status, template = api.post("templates", {"campaign": draft.pk, "name": "Engines"})
    assert status == 201
    return template


def test_a_template_is_made_listed_renamed_and_retired(api, made):
    assert made["definition"]["kind"] == "toy"
    status, renamed = api.patch(f"templates/{made['id']}", {"notes": "Monthly."})
    assert (status, renamed["name"], renamed["notes"]) == (200, "Engines", "Monthly.")

    _, retired = api.post(f"templates/{made['id']}/retire")

    assert retired["retired_at"]
    assert api.get("templates", retired="false")[1]["results"] == []
    assert len(api.get("templates")[1]["results"]) == 1


def test_a_draft_begins_with_it_and_with_what_is_sent(api, made):
    body = {"question": "And today?", "factors": {"workers": [1, 2]}, "order": "interleaved",
            "paired_factor": "", "baseline": ""}  # fmt: skip
    status, campaign = api.post(f"templates/{made['id']}/campaigns", body)

    assert status == 201
    assert campaign["question"] == "And today?"
    assert Campaign.objects.get(pk=campaign["id"]).template_id == made["id"]


def test_what_is_wrong_is_named(api, made):
    status, problem = api.post(f"templates/{made['id']}/campaigns", {"target": 999_999})

    assert status == 400
    assert problem["errors"][0]["field"] == "target"

    status, problem = api.patch(f"templates/{made['id']}", {"name": ""})
    assert status == 400
    assert problem["errors"][0]["field"] == "name"


def test_a_retired_template_begins_nothing(api, made):
    api.post(f"templates/{made['id']}/retire")

    assert api.post(f"templates/{made['id']}/campaigns", {})[0] == 409
    assert api.patch(f"templates/{made['id']}", {"name": "x"})[0] == 409


def test_a_campaign_that_there_is_not_makes_none(api, owner):
    assert api.post("templates", {"campaign": 999_999, "name": "x"})[0] == 404
