"""Roles and a criterion that come with submitted runs, stay with them, and are asked about where they lack."""

import pytest

from campaigns.models import Campaign
from campaigns.planning import storage
from campaigns.planning.roles import loads_of, work_of
from campaigns.tests.results.api.documents import errors_of, made

pytestmark = pytest.mark.django_db


def about(**campaign):
    levels = [(clients, throttle) for clients in (100, 200) for throttle in (3, "none")]
    return {
        "campaign": {"question": "How many clients?", **campaign},
        "metrics": {
            "p95": {"unit": "s", "lower_is_better": True},
            "rate": {"unit": "1/s", "lower_is_better": False},
            "note": {"unit": "s", "lower_is_better": None},
        },
        "runs": [
            {"tags": {"clients": clients, "throttle": throttle}, "values": {"p95": [1.5, 2.5]}}
            for clients, throttle in levels
        ],
    }


STATED = {
    "roles": {"clients": "load", "throttle": "setting"},
    "criterion": {"conditions": [{"metric": "p95", "at_most": "2 min"}], "failed_percent": 5},
}


def test_they_are_stored_and_shown_in_the_definition(send, client):
    campaign = made(send(about(**STATED)))

    assert loads_of(campaign) == ("clients",)
    assert campaign.criterion == {
        "conditions": [{"metric": "p95", "at_most": 120}],
        "failed_percent": 5,
    }
    data = storage.definition_of(campaign)
    assert data["roles"] == {"clients": "load", "throttle": "setting"}


def test_without_any_a_name_that_sounds_like_load_is_asked_about_and_not_taken(send):
    answer = send(about())

    assert not loads_of(made(answer))
    (question,) = answer.json()["questions"]
    assert question.startswith("Is “clients” a load? Its name says so, and its role is not stated")


@pytest.mark.parametrize("roles", [{"clients": "load"}, {"clients": "setting"}])
def test_who_has_said_it_is_not_asked(send, roles):
    assert send(about(roles=roles)).json()["questions"] == []


def test_work_is_a_role_and_the_older_field_says_the_same(send):
    one = made(send(about(work=["throttle"])))
    other = made(send(about(roles={"throttle": "work"})))

    assert work_of(one) == work_of(other) == ("throttle",)
    assert "roles" not in storage.definition_of(one)


@pytest.mark.parametrize(
    ("campaign", "field", "words"),
    [
        ({"roles": {"users": "load"}}, "campaign.roles.users", "what varies is clients, throttle"),
        ({"roles": {"clients": "much"}}, "campaign.roles.clients", "There are load, setting"),
        ({"roles": ["clients"]}, "campaign.roles", "Send the role of each tag"),
        (
            {"roles": {"throttle": "load"}},
            "campaign.factors.throttle",
            "“none” is no number above 0",
        ),
        (
            {"roles": {"throttle": "setting"}, "work": ["throttle"]},
            "campaign.roles.throttle",
            "leave it out of one of them",
        ),
        (
            {"roles": {"clients": "load"}, "primary_contrast": {"factor": "clients"}},
            "primary_contrast",
            "clients is load",
        ),
        (
            {"criterion": {"conditions": [{"metric": "p99", "at_most": 1}]}},
            "campaign.criterion.conditions.0",
            "“p99” is not a metric of this campaign; there are p95, rate",
        ),
        (
            {"criterion": {"conditions": [{"metric": "p95", "at_most": "3 MB"}]}},
            "campaign.criterion.conditions.0",
            "is in MB, and p95 in s",
        ),
        (
            {"criterion": {"conditions": [{"metric": "note", "at_most": 3}]}},
            "campaign.criterion.conditions.0",
            "no better direction",
        ),
        ({"criterion": "fast"}, "campaign.criterion", "Line 1, “fast”, is no condition"),
        ({"criterion": [5]}, "campaign.criterion", "Give an object such as"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is(send, campaign, field, words):
    errors = errors_of(send(about(**campaign)))

    assert words in errors[field]
    assert not Campaign.objects.exists()


def test_runs_that_are_appended_keep_the_roles(send, client):
    campaign = made(send(about(**STATED)))
    address = f"campaigns/{campaign.pk}/runs"

    def append(level):
        run = {"tags": {"clients": level, "throttle": 3}, "values": {"p95": 4}}
        return send({"runs": [run]}, address)

    assert append(400).status_code == 201
    assert loads_of(Campaign.objects.get()) == ("clients",)
    refusal = append("many")
    assert refusal.status_code == 400
    assert "“many” is no number above 0" in refusal.content.decode()
