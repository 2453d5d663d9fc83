import hmac
import json
from base64 import b64decode, b64encode
from datetime import timedelta
from hashlib import sha256

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.accounts.notifications import signing, webhook
from campaigns.accounts.notifications.channels import rotate_secret, save_channel
from campaigns.accounts.notifications.errors import DeliveryFailed
from campaigns.kit.encryption import decrypt
from campaigns.kit.errors import Invalid
from campaigns.models import Channel, Delivery
from campaigns.tests.accounts.notifications.conftest import deliver_all, hook_of, tell
from campaigns.tests.accounts.notifications.receiver import receiving
from campaigns.tests.kinds.programs.certificates import Authority

pytestmark = pytest.mark.django_db


def verified(received, secret):
    """What a receiver does, by the text of the specification."""
    head = {name.lower(): value for name, value in received.headers.items()}
    signed = f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + received.body
    key = b64decode(secret.removeprefix("whsec_"))
    wanted = b64encode(hmac.new(key, signed, sha256).digest()).decode()
    fresh = abs(timezone.now().timestamp() - int(head["webhook-timestamp"])) < 300
    return fresh and f"v1,{wanted}" in head["webhook-signature"].split(" ")


def test_the_signature_is_that_of_the_specification_s_example():
    uid, timestamp = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - the published example

    signed = signing.signature(uid, timestamp, b'{"test": 2432232314}', secret)

    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_receiver_can_verify_what_comes_and_read_what_happened(team, hook, campaign, receiver):
    tell(team, "campaign_failed", campaign=campaign, what="It paused by itself.", words="Why\nso?")

    (delivery,) = deliver_all()

    (got,) = receiver.got
    assert delivery.state == Delivery.State.DELIVERED
    assert got.headers["Content-Type"] == "application/json"
    assert verified(got, decrypt(hook.secret))
    assert not verified(got, signing.new_secret())
    told = json.loads(got.body)
    assert told["type"] == "campaign_failed"
    assert told["data"]["what"] == "It paused by itself."
    assert told["data"]["words"] == "Why\nso?"
    assert told["data"]["campaign"] == {"id": campaign.pk, "name": str(campaign)}
    assert told["data"]["url"] == f"https://perf.example/campaigns/{campaign.pk}/"
    assert told["data"]["team"]["id"] == team.pk


def test_a_body_that_somebody_changed_is_not_verified(team, hook, receiver):
    tell(team)
    deliver_all()

    (got,) = receiver.got
    got.body = got.body.replace(b"mentioned", b"menaced")

    assert not verified(got, decrypt(hook.secret))


def test_500_then_200_is_two_tries_with_one_id(team, hook, receiver):
    receiver.answers = [500, 200]
    tell(team)

    (delivery,) = deliver_all()
    assert delivery.state == Delivery.State.WAITING
    assert delivery.message == "The receiver answered 500."
    assert delivery.not_before > timezone.now() + timedelta(seconds=50)
    Delivery.objects.update(not_before=Now())
    (delivery,) = deliver_all()

    assert (delivery.state, delivery.tries, delivery.message) == (Delivery.State.DELIVERED, 2, "")
    first, second = receiver.got
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


def test_a_redirect_is_not_followed(team, hook, receiver):
    with receiving() as elsewhere:
        receiver.answers, receiver.headers = [307], {"Location": elsewhere.url}
        tell(team)

        (delivery,) = deliver_all()

        assert "redirects are not followed" in delivery.message
        assert elsewhere.got == []


def test_a_receiver_that_is_gone_switches_its_channel_off(team, hook, receiver):
    receiver.answers = [410]
    tell(team)

    deliver_all()

    hook.refresh_from_db()
    assert not hook.is_on
    assert "410" in hook.off_reason


def test_a_huge_answer_is_not_read(team, hook, receiver):
    receiver.body = b"x" * 5_000_000
    tell(team)

    (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.DELIVERED


@pytest.mark.parametrize("way", ["hang", "drip", "trickle"])
def test_a_receiver_that_hangs_or_drips_is_left_alone_in_time(
    team, hook, receiver, monkeypatch, way
):
    monkeypatch.setattr(webhook, "TOTAL_SECONDS", 0.3)
    setattr(receiver, way, 60.0 if way == "hang" else True)
    tell(team)

    (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.WAITING
    assert "took longer than 0.3 s" in delivery.message


def test_nobody_there_is_told_in_words(team, hook, receiver, settings):
    with receiving() as gone:
        settings.NOTIFICATION_ADDRESSES = f"127.0.0.1:{gone.port}"
        save_channel({"address": gone.url}, hook.user, hook)
    tell(team)

    (delivery,) = deliver_all()

    assert "could not be reached: no connection" in delivery.message
    assert "secret-path" not in delivery.message


def test_a_certificate_that_nobody_vouches_for_is_refused(team, bob, settings, tmp_path):
    with receiving(Authority(tmp_path, "nobody").context()) as receiver:
        settings.NOTIFICATION_ADDRESSES = f"127.0.0.1:{receiver.port}"
        hook_of(bob, receiver)
        tell(team)

        (delivery,) = deliver_all()

        assert "no trusted TLS connection" in delivery.message
        assert receiver.got == []


def test_an_address_that_no_rule_allows_is_refused_when_it_is_given(bob, settings):
    settings.NOTIFICATION_ADDRESSES = "hooks.example:443"

    with pytest.raises(Invalid) as refused:
        save_channel({"name": "x", "kind": "webhook", "address": "https://10.0.0.1/"}, bob)

    assert "PERFDASH_NOTIFICATION_ADDRESSES" in str(refused.value)
    assert not Channel.objects.exists()


def test_a_rule_that_was_taken_away_since_is_obeyed_at_delivery(team, hook, receiver, settings):
    tell(team)
    settings.NOTIFICATION_ADDRESSES = "10.0.0.1:443"

    (delivery,) = deliver_all()

    assert "no rule allows it" in delivery.message
    assert receiver.got == []


@pytest.mark.parametrize(
    "address",
    [
        "https://169.254.169.254/latest",
        "http://[::ffff:169.254.169.254]/",
        "https://user:secret@hooks.example/",
        "ftp://hooks.example/",
        "http://0x7f.1/",
        "https://hooks.example\r\nX: y/",
        "",
    ],
)
def test_what_can_be_no_receiver_is_refused(bob, settings, address):
    settings.NOTIFICATION_ADDRESSES = "*:*"

    with pytest.raises(Invalid) as refused:
        save_channel({"name": "x", "kind": "webhook", "address": address}, bob)

    assert list(refused.value.errors) == ["address"]


def test_perfdash_posts_nothing_to_itself(bob, settings):
    settings.NOTIFICATION_ADDRESSES, settings.OWN_ADDRESSES = "*:*", [("127.0.0.1", 8000)]

    with pytest.raises(Invalid, match="a service of perfdash itself"):
        save_channel({"name": "x", "kind": "webhook", "address": "http://127.0.0.1:8000/"}, bob)


def test_a_name_that_moved_to_a_forbidden_address_is_not_followed(receiver, settings, monkeypatch):
    settings.NOTIFICATION_ADDRESSES = f"10.0.0.0/8:{receiver.port}"
    import socket

    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **named: real("127.0.0.1", *rest, **named)
    )

    with pytest.raises(DeliveryFailed, match="no rule allows it"):
        webhook.post(f"http://rebound.example:{receiver.port}/", b"{}", {})

    assert receiver.got == []


def test_a_new_secret_signs_beside_the_old_one_for_a_day(team, hook, receiver):
    old = decrypt(hook.secret)
    new = rotate_secret(hook)
    tell(team)
    deliver_all()
    Channel.objects.update(former_until=Now())
    tell(team)
    deliver_all()

    both, only_new = receiver.got
    assert verified(both, old)
    assert verified(both, new)
    assert verified(only_new, new)
    assert not verified(only_new, old)


def test_addresses_and_secrets_are_stored_encrypted(hook, receiver):
    stored = Channel.objects.values_list("address", "secret", "place").get()

    assert not any("secret-path" in each or "whsec_" in each for each in stored)
    assert hook.place == f"http://127.0.0.1:{receiver.port}/…"
