"""Who sends the ETag that he read overwrites nothing that somebody else changed since."""

import json

import pytest
from django.db.models.functions import Now

from campaigns.accounts.teams import create_team
from campaigns.models import Campaign, Conclusion, Membership, Target
from campaigns.tests.people import join, somebody
from campaigns.tests.targets.settings_server import over_http
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


def send(api, method, path, body, **headers):
    """Give the answer of a request with these headers."""
    sent = "" if body is None else json.dumps(body)
    return getattr(api.client, method)(
        f"/api/v1/{path}", sent, content_type="application/json", headers=headers
    )


def tag_of(api, path):
    return api.client.get(f"/api/v1/{path}")["ETag"]


@pytest.fixture
def boss(owner):
    owner.is_superuser = True
    owner.save()
    return owner


@pytest.fixture
def places(api, boss, target, draft, settings):
    """Of each stored thing the address, a change by one client, one by another, and what differs."""
    settings.NOTIFICATION_ADDRESSES = "hooks.example:443"
    other = somebody("other")
    team = create_team("Storage", boss)
    join(other, "viewer", team=team)
    api.post(f"targets/{target.pk}/settings", over_http("puma_workers", unit="workers"))
    channel = api.post(
        "notifications/channels",
        {"name": "ci", "kind": "webhook", "address": "https://hooks.example/secret"},
    )[1]
    template = api.post("templates", {"campaign": draft, "name": "Engines"})[1]
    return {
        "campaign": (f"campaigns/{draft}", {"repetitions": 5}, {"question": "?"}, "repetitions"),
        "target": (f"targets/{target.pk}", {"notes": "a"}, {"hardware": "b"}, "notes"),
        "password": (
            f"targets/{target.pk}", {"password": "a long new one"}, {"notes": "b"}, "password",
        ),
        "setting": (
            f"targets/{target.pk}/settings/puma_workers", {"maximum": 12}, {"label": "b"}, "maximum",
        ),
        "template": (f"templates/{template['id']}", {"name": "a"}, {"notes": "b"}, "name"),
        "team": (f"teams/{team.pk}", {"name": "a"}, {"approvals_needed": 2}, "name"),
        "retention": (
            f"storage/teams/{team.pk}", {"keep_samples_days": 5}, {"keep_samples_days": 6},
            "keep_samples_days",
        ),
        "channel": (
            f"notifications/channels/{channel['id']}", {"name": "a"}, {"is_on": False}, "name",
        ),
    }  # fmt: skip


THINGS = (
    *("campaign", "target", "password", "setting", "template", "team", "retention", "channel"),
)


@pytest.mark.parametrize("thing", THINGS)
def test_a_change_of_what_another_changed_is_refused_and_names_what_differs(api, places, thing):
    path, first, second, differs = places[thing]
    read = tag_of(api, path)
    changed = send(api, "patch", path, first)
    assert changed.status_code == 200, changed.content
    stored = api.get(path)[1]

    refused = send(api, "patch", path, second, **{"If-Match": read})

    assert refused.status_code == 412
    assert refused["Content-Type"] == "application/problem+json"
    problem = refused.json()
    assert (problem["type"], problem["differs"]) == ("urn:perfdash:changed", [differs])
    assert differs in problem["detail"]
    assert api.get(path)[1] == stored
    again = send(api, "patch", path, second, **{"If-Match": tag_of(api, path)})
    assert again.status_code == 200, again.content


@pytest.mark.parametrize("thing", THINGS)
def test_the_answer_to_a_change_bears_the_tag_for_the_next_one(api, places, thing):
    path, first, second, _ = places[thing]

    changed = send(api, "patch", path, first, **{"If-Match": tag_of(api, path)})

    assert changed["ETag"].split(".")[0] == tag_of(api, path).split(".")[0]
    assert send(api, "patch", path, second, **{"If-Match": changed["ETag"]}).status_code == 200


def test_without_if_match_the_last_one_wins_as_before(api, draft):
    path = f"campaigns/{draft}"
    send(api, "patch", path, {"repetitions": 5})

    assert send(api, "patch", path, {"repetitions": 7}).status_code == 200
    assert send(api, "patch", path, {"repetitions": 8}, **{"If-Match": "*"}).status_code == 200


@pytest.mark.parametrize("tag", ['"nonsense"', "nonsense", '""', 'W/"x.y"', '"ü"'])
def test_what_is_no_tag_of_it_matches_nothing(api, draft, tag):
    refused = send(api, "patch", f"campaigns/{draft}", {"repetitions": 5}, **{"If-Match": tag})

    assert refused.status_code == 412


def test_one_of_several_tags_suffices_and_a_weak_one_too(api, draft):
    path = f"campaigns/{draft}"

    tags = f'"other.one", W/{tag_of(api, path)}'

    assert send(api, "patch", path, {"repetitions": 5}, **{"If-Match": tags}).status_code == 200


def test_what_changes_by_itself_refuses_nobody(api, target):
    path = f"targets/{target.pk}"
    read = tag_of(api, path)
    Target.objects.filter(pk=target.pk).update(health="unreachable", health_message="It is slow.")

    assert tag_of(api, path) != read
    assert send(api, "patch", path, {"notes": "x"}, **{"If-Match": read}).status_code == 200


def test_the_tag_tells_a_reader_of_every_change_in_the_answer(api, target):
    path = f"targets/{target.pk}"
    read = tag_of(api, path)
    same = api.client.get(f"/api/v1/{path}", headers={"If-None-Match": read})
    Target.objects.filter(pk=target.pk).update(health="unreachable")

    assert same.status_code == 304
    assert api.client.head(f"/api/v1/{path}")["ETag"] == tag_of(api, path)
    changed = api.client.get(f"/api/v1/{path}", headers={"If-None-Match": read})
    assert changed.status_code == 200


def test_a_replaced_draft_is_compared_as_well(api, target, draft):
    path = f"campaigns/{draft}"
    read = tag_of(api, path)
    send(api, "patch", path, {"parameters": {"path": "/b"}})
    body = definition(target=target.pk)

    refused = send(api, "put", path, body, **{"If-Match": read})

    assert (refused.status_code, refused.json()["differs"]) == (412, ["parameters"])
    assert send(api, "put", path, body, **{"If-Match": tag_of(api, path)}).status_code == 200


@pytest.mark.parametrize("thing", ["campaign", "target", "setting", "channel"])
def test_nothing_is_deleted_that_was_changed_since(api, places, thing):
    path, first, _, differs = places[thing]
    read = tag_of(api, path)
    send(api, "patch", path, first)

    refused = send(api, "delete", path, None, **{"If-Match": read})

    assert (refused.status_code, refused.json()["differs"]) == (412, [differs])
    assert api.get(path)[0] == 200
    if thing == "target":  # its campaign and its template keep it
        return
    assert send(api, "delete", path, None, **{"If-Match": tag_of(api, path)}).status_code == 204


def test_roles_are_not_overwritten(api, boss):
    team = create_team("Storage", boss)
    join(somebody("other"), "viewer", team=team)
    path = f"teams/{team.pk}/members/other"
    read = tag_of(api, path)
    send(api, "put", path, {"roles": ["operator"]})

    refused = send(api, "put", path, {"roles": ["reviewer"]}, **{"If-Match": read})
    removed = send(api, "delete", path, None, **{"If-Match": read})

    assert (refused.status_code, removed.status_code) == (412, 412)
    assert Membership.objects.get(team=team, user__username="other").roles == ["operator"]
    new = {"If-Match": tag_of(api, path)}
    assert send(api, "put", path, {"roles": ["reviewer"]}, **new).status_code == 200


def test_a_conclusion_is_not_overwritten(api, draft):
    Campaign.objects.filter(pk=draft).update(state="finished", launched_at=Now())
    made = api.post("conclusions", {"claim": "20 wins.", "evidence": [{"campaign": draft}]})[1]
    path = f"conclusions/{made['id']}"
    read = tag_of(api, path)
    send(api, "patch", path, {"claim": "24 wins."})

    refused = send(api, "patch", path, {"limits": "Small files."}, **{"If-Match": read})
    deleted = send(api, "delete", path, None, **{"If-Match": read})

    assert (refused.status_code, refused.json()["differs"]) == (412, ["claim"])
    assert deleted.status_code == 412
    assert Conclusion.objects.get().limits == ""


def test_a_comment_is_not_overwritten(api, draft):
    thread = api.post(f"campaigns/{draft}/threads", {"on": "campaign", "text": "First."})[1]
    path = f"comments/{thread['comments'][0]['id']}"
    read = send(api, "patch", path, {"text": "Second."})["ETag"]
    send(api, "patch", path, {"text": "Third."})

    refused = send(api, "patch", path, {"text": "Fourth."}, **{"If-Match": read})

    assert (refused.status_code, refused.json()["differs"]) == (412, ["text"])


def test_what_is_gone_matches_nothing(api, boss, target):
    body = {
        "host": "127.0.0.1",
        "username": "perf",
        "password": "a long one",
        "confirm_address": True,
    }

    refused = send(api, "put", f"targets/{target.pk}/ssh", body, **{"If-Match": '"x.y"'})

    assert refused.status_code == 412
    assert "not there any more" in refused.json()["detail"]
