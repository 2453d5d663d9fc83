"""Signed webhooks: only what is genuine and new asks a line to look, once."""

import hmac
import json
from base64 import b64encode
from hashlib import sha256

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.accounts.access import make_token
from campaigns.accounts.notifications.signing import headers as standard
from campaigns.models import LineHook
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient, own_rates
from campaigns.tests.trends.measuring import line_from, measured, telling
from campaigns.trends import hooks, lines, signatures

__all__ = ["own_rates", "telling"]


def now():
    return int(timezone.now().timestamp())


SECRET = "whsec_" + b64encode(b"0" * 32).decode()
BODY = json.dumps({"version": "3.2.0"}).encode()


@pytest.fixture
def line(db, own_rates, telling, target, person):
    return line_from(measured(target, person, days=9), person, cron="")


def sent(hook, body=BODY, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Client().post(
        reverse("line-hook", args=[hook.uid]), body, content_type="application/json", headers=named
    ).status_code  # fmt: skip


def github(secret, body=BODY):
    return "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()


@pytest.mark.django_db
class TestReceiving:
    def test_each_style_asks_once(self, line, person):
        for style in LineHook.Style.values:
            line.occasions.all().delete()
            hook, secret = hooks.make_hook(line, style, person)
            headers = {
                "standard": standard("msg_1", now(), BODY, [secret] * (style == "standard")),
                "github": {"X-Hub-Signature-256": github(secret), "X-GitHub-Delivery": "1"},
                "gitlab": {"X-Gitlab-Token": secret},
            }[style]

            assert [sent(hook, **headers), sent(hook, **headers)] == [202, 202]

            occasion = line.occasions.get()
            assert (occasion.trigger, occasion.hint, occasion.outcome) == ("hook", "3.2.0", "waits")
            assert occasion.asked_by is None
            assert secret not in occasion.key
            assert secret not in hook.secret

    def test_altered_late_unsigned_and_large_ones_are_not_found(self, line, person):
        hook, secret = hooks.make_hook(line, "standard", person)
        at = now()
        good = standard("msg_1", at, BODY, [secret])

        answers = [
            sent(hook, BODY + b" ", **good),
            sent(hook, **good | {"webhook-id": "msg_2"}),
            sent(hook, **standard("msg_1", at - 301, BODY, [secret])),
            sent(hook, **standard("msg_1", at + 400, BODY, [secret])),
            sent(hook, **standard("msg_1", at, BODY, [SECRET])),
            sent(hook, **good | {"webhook-timestamp": "9" * 400}),
            sent(hook),
        ]
        large = b'{"a": "' + b"a" * 65_536 + b'"}'
        answers.append(sent(hook, large, **standard("msg_1", at, large, [secret])))

        assert answers == [404] * len(answers)
        assert not line.occasions.exists()

    def test_more_than_ten_a_minute_are_too_many(self, line, person):
        hook, _ = hooks.make_hook(line, "gitlab", person)

        codes = [sent(hook) for _ in range(12)]

        assert codes == [404] * 10 + [429] * 2

    def test_an_unknown_address_and_an_ended_line_are_not_found(self, line, person):
        hook, secret = hooks.make_hook(line, "gitlab", person)
        lines.end(line, person)

        assert sent(hook, **{"X-Gitlab-Token": secret}) == 404
        assert sent(LineHook(uid="0" * 32)) == 404
        assert Client().get(reverse("line-hook", args=[hook.uid])).status_code == 405

    def test_a_new_hook_ends_the_former_one(self, line, person):
        former, secret = hooks.make_hook(line, "gitlab", person)
        uid = former.uid
        hooks.make_hook(line, "gitlab", person)

        assert sent(LineHook(uid=uid), **{"X-Gitlab-Token": secret}) == 404

    def test_it_is_made_and_deleted_by_rest(self, line, person):
        api = ApiClient(make_token(person, "laptop")[1])
        code, hook = api.post(f"lines/{line.pk}/hook", {"style": "github"})

        assert (code, hook["style"]) == (201, "github")
        assert hook["url"] == f"http://testserver/hooks/{LineHook.objects.get().uid}/"
        assert api.post(f"lines/{line.pk}/hook", {"style": "other"})[0] == 400
        viewer = ApiClient(make_token(somebody("vic", "viewer"), "laptop")[1])
        assert viewer.post(f"lines/{line.pk}/hook", {"style": "github"})[0] == 403
        assert api.delete(f"lines/{line.pk}/hook")[0] == 204
        assert not LineHook.objects.exists()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("body", "version"),
    [
        (b'{"version": "3.2.0"}', "3.2.0"),
        (b'{"data": {"version": "3.2.0"}}', "3.2.0"),
        (b'{"ref": "refs/tags/v3.2.0"}', "3.2.0"),
        (b'{"release": {"tag_name": "v3.2.0"}}', "3.2.0"),
        (b'{"ref": "refs/heads/main"}', ""),
        (b'{"version": 3}', ""),
        (b'{"version": "3 2"}', ""),
        (b'{"version": "' + b"3" * 101 + b'"}', ""),
        (b"[1]", ""),
        (b"[" * 30_000, ""),
        (b"\xff", ""),
        (b"", ""),
    ],
    ids=["own", "data", "tag", "release", "branch", "number", "blank", "long", "list", "deep", "bytes", "empty"],
)  # fmt: skip
def test_the_version_that_a_message_names(body, version):
    assert signatures.version_in(body) == version


@pytest.mark.unit
def test_a_signature_of_letters_that_are_no_ascii_is_none():
    assert signatures.read("gitlab", "a", {"X-Gitlab-Token": "ä\udcff"}, b"", 0.0) is None
