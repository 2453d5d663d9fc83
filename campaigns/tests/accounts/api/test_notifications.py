import json
import uuid

import pytest

from campaigns.accounts.notifications.channels import KINDS, save_channel
from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.kit.encryption import decrypt
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Channel, Delivery, KeptAnswer, Membership, Team
from campaigns.models.teams import default_team
from campaigns.tests.people import somebody

CHANNELS, DELIVERIES = "notifications/channels", "notifications/deliveries"
HOOK = {
    "name": "ci",
    "kind": "webhook",
    "address": "https://hooks.example/in/very-secret-path",
    "kinds": ["campaign_finished"],
}


@pytest.fixture(autouse=True)
def allowed(settings):
    settings.NOTIFICATION_ADDRESSES = "hooks.example:443"


def test_a_webhook_tells_its_secret_once_and_its_address_never(api):
    status, made = api.post(CHANNELS, HOOK)
    _, listed = api.get(CHANNELS)
    _, one = api.get(f"{CHANNELS}/{made['id']}")

    assert status == 201
    assert made["secret"] == decrypt(Channel.objects.get().secret)
    assert "secret" not in one
    assert listed["results"] == [one]
    assert one["place"] == "https://hooks.example:443/…"
    assert "very-secret-path" not in json.dumps([made, listed, one])


def test_repeated_with_its_key_the_answer_is_the_same_without_the_secret(api):
    head = {"Idempotency-Key": str(uuid.uuid4())}
    answers = [
        api.client.post(
            f"/api/v1/{CHANNELS}", json.dumps(HOOK), content_type="application/json", headers=head
        ).json()
        for _ in range(2)
    ]

    assert answers[0]["secret"].startswith("whsec_")
    assert answers[1] == answers[0] | {"secret": None}
    assert b"whsec_" not in bytes(KeptAnswer.objects.get().body)


def test_a_channel_without_kinds_is_told_of_all_and_one_with_none_of_none(api):
    named = {name: value for name, value in HOOK.items() if name != "kinds"}

    _, every = api.post(CHANNELS, named)
    _, none = api.post(CHANNELS, HOOK | {"name": "silent", "kinds": []})

    assert every["kinds"] == [str(kind) for kind in KINDS]
    assert none["kinds"] == []


def test_what_is_not_sent_stays(api):
    _, made = api.post(CHANNELS, HOOK)

    status, changed = api.patch(f"{CHANNELS}/{made['id']}", {"is_on": False})

    assert status == 200
    assert changed == {k: v for k, v in made.items() if k != "secret"} | {"is_on": False}
    assert decrypt(Channel.objects.get().address) == HOOK["address"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "pigeon"}, "kind"),
        ({"kinds": ["rain"]}, "kinds.0"),
        ({"kinds": "campaign_finished"}, "kinds"),
        ({"teams": [999]}, "teams"),
        ({"teams": [0]}, "teams.0"),
        ({"address": "https://elsewhere.example/"}, "address"),
        ({"address": ""}, "address"),
        ({"address": None}, "address"),
        ({"name": ""}, "name"),
        ({"name": ["x"]}, "name"),
        ({"secret": "mine"}, "secret"),
        ({"kind": "email", "address": "a@b.example"}, "kind"),
        ({"kind": "chat", "address": "json://hooks.example/"}, "address"),
    ],
)
def test_what_is_wrong_is_named_and_no_address_is_quoted(api, change, field):
    status, problem = api.post(CHANNELS, HOOK | change)

    assert status == 400
    assert field in [error["field"] for error in problem["errors"]]
    assert "elsewhere.example/" not in json.dumps(problem)
    assert not Channel.objects.exists()


def test_a_name_is_given_once(api):
    api.post(CHANNELS, HOOK)

    status, problem = api.post(CHANNELS, HOOK)

    assert status == 400
    assert problem["errors"][0]["field"] == "name"


def test_a_secret_is_changed_and_a_channel_deleted(api):
    _, made = api.post(CHANNELS, HOOK)

    _, rotated = api.post(f"{CHANNELS}/{made['id']}/secret")
    status, _ = api.delete(f"{CHANNELS}/{made['id']}")

    assert rotated["secret"] not in (None, made["secret"])
    assert status == 204
    assert not Channel.objects.exists()


def test_a_trial_is_among_the_deliveries(api):
    _, made = api.post(CHANNELS, HOOK)

    status, sent = api.post(f"{CHANNELS}/{made['id']}/trial")
    _, listed = api.get(DELIVERIES, channel=made["id"], state="waiting")

    assert status == 202
    assert (sent["kind"], sent["state"], sent["tries"]) == ("trial", "waiting", 0)
    assert listed["results"] == [sent]
    assert api.get(DELIVERIES, state="delivered")[1]["results"] == []
    for _ in range(5):
        api.post(f"{CHANNELS}/{made['id']}/trial")
    assert api.post(f"{CHANNELS}/{made['id']}/trial")[0] == 409


def test_what_may_not_be_seen_any_more_is_not_named(api, owner):
    api.post(CHANNELS, HOOK | {"kinds": ["mentioned"]})
    team = Team.objects.get(pk=default_team())
    announce(Announcement.Kind.MENTIONED, team, to=[owner])
    read_outbox()
    Membership.objects.all().delete()

    (told,) = api.get(DELIVERIES)[1]["results"]

    assert told["subject"] == "something that you may not see any more"


@pytest.mark.parametrize("action", ["", "/trial", "/secret"])
def test_another_s_channel_is_not_there(api, action):
    theirs, _ = save_channel(HOOK, somebody("other"))
    path = f"{CHANNELS}/{theirs.pk}{action}"

    answers = [api.post(path)] if action else [api.get(path), api.patch(path, {}), api.delete(path)]

    assert {status for status, _ in answers} == {404}
    assert api.get(CHANNELS)[1]["results"] == []
    assert Delivery.objects.count() == 0
