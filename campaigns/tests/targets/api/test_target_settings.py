"""Settings, steps, SSH logins and manual steps over REST: by the same rules as on the pages, no secret told."""

import pytest

from campaigns.accounts.access import make_token
from campaigns.kit import encryption
from campaigns.models import Campaign, ManualStep, Setting, SshLogin
from campaigns.planning.roles import Role, roles_of
from campaigns.targets.actions.values import FIELDS
from campaigns.targets.api.settings import ACTION
from campaigns.targets.setting_forms import ActionForm
from campaigns.tests.rest import ApiClient
from campaigns.tests.targets.settings_server import manually, over_http
from campaigns.tests.targets.ssh_server import new_key, private, public
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(target):
    return f"targets/{target.pk}"


@pytest.fixture(autouse=True)
def a_team(settings, target):
    """An installation for a team: its owner is not everybody who signs in."""
    settings.OWNER_CONFIRMS = False


@pytest.fixture
def admin(owner):
    owner.is_superuser = True
    owner.save()
    return owner


def fields_of(body):
    return {error["field"] for error in body["errors"]}


def test_a_setting_is_defined_changed_listed_and_forgotten(api, path):
    status, made = api.post(f"{path}/settings", over_http("puma_workers", unit="workers"))
    assert status == 201
    assert made["apply"]["body"] == {"value": "{value}"}
    assert made["value"] is None
    status, changed = api.patch(f"{path}/settings/puma_workers", {"maximum": 12})
    assert (status, changed["maximum"], changed["unit"]) == (200, 12.0, "workers")
    assert [row["name"] for row in api.get(f"{path}/settings")[1]["results"]] == ["puma_workers"]
    assert api.delete(f"{path}/settings/puma_workers")[0] == 204
    assert api.get(f"{path}/settings/puma_workers")[0] == 404


def test_a_setting_says_which_number_means_no_limit(api, client, owner, path):
    client.force_login(owner)
    api.post(f"{path}/settings", over_http("maxconn", minimum=0, unlimited=0))

    assert api.get(f"{path}/settings/maxconn")[1]["unlimited"] == 0
    page = client.get(f"/{path}/").content.decode()
    assert "0 to 64, 0 is no limit" in page
    assert 'name="unlimited"' in client.get(f"/{path}/settings/maxconn/").content.decode()


def test_page_and_api_have_the_fields_of_an_action_that_are_parsed():
    parsed = {name for names in FIELDS.values() for name in names}

    assert parsed == ActionForm.base_fields.keys() == ACTION["properties"].keys()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Puma Workers"}, "name"),
        ({"name": "path"}, "name"),
        ({"minimum": 9, "maximum": 3}, "maximum"),
        ({"unlimited": 0}, "unlimited"),  # below the minimum
        ({"unlimited": 2.5}, "unlimited"),
        ({"type": "text", "unlimited": 3}, "unlimited"),
        ({"type": "choice", "choices": ["one"]}, "choices"),
        ({"type": "colour"}, "type"),
        ({"apply": None}, "apply"),
        ({"apply": {"way": "pigeon"}}, "apply.way"),
        ({"apply": {"way": "http", "url": "/a?v={value}", "body": "{value}"}}, "apply.url"),
        ({"apply": {"way": "http", "url": "/a", "body": {"v": "a{value}"}}}, "apply.body"),
        ({"apply": {"way": "http", "url": "/a"}}, "apply.body"),
        ({"apply": {"way": "http", "url": "http://10.9.9.9/", "body": "{value}"}}, "apply.url"),
        ({"apply": {"way": "http", "url": "//evil/", "body": "{value}"}}, "apply.url"),
        (
            {"apply": {"way": "http", "url": "http://a/", "body": "{value}", "login": True}},
            "apply.login",
        ),
        ({"apply": {"way": "command", "arguments": ["set", "x={value}"]}}, "apply.arguments"),
        ({"apply": {"way": "command", "arguments": ["{value}"]}}, "apply.arguments"),
        ({"apply": {"way": "command", "arguments": ["set", "{value}"]}}, "apply.way"),
        ({"apply": {"way": "command", "arguments": ["sh", "-c", "{value}"]}}, "apply.arguments"),
        ({"apply": {"way": "http", "url": "http://[a/", "body": "{value}"}}, "apply.url"),
        ({"read_back": {"way": "http", "method": "POST", "url": "/a"}}, "read_back.method"),
        ({"read_back": {"way": "manual"}}, "read_back"),
        ({"read_back": {"way": "http", "url": "/a", "seconds": 0}}, "read_back.seconds"),
        ({"read_back": {"way": "http", "url": "/a", "colour": 1}}, "read_back.colour"),
    ],
)
def test_what_is_wrong_with_a_setting_is_told_by_field(api, path, change, field):
    status, body = api.post(f"{path}/settings", over_http("puma_workers") | change)
    assert status == 400
    assert field in fields_of(body)
    assert not Setting.objects.exists()


def test_a_choice_like_an_option_is_told_as_that(api, path):
    data = over_http("puma_workers", type="choice", choices=["--x", "y"])
    assert "like an option" in api.post(f"{path}/settings", data)[1]["errors"][0]["message"]


def test_commands_are_for_administrators_alone(api, path, target):
    SshLogin.objects.create(target=target, host="127.0.0.1", username="root", key="x")
    command = {"way": "command", "arguments": ["set", "{value}"]}
    status, body = api.post(f"{path}/settings", over_http("a", apply=command))
    assert status == 403
    assert "administrator" in body["detail"]
    assert api.put(f"{path}/ssh", {"host": "127.0.0.1", "username": "root"})[0] == 403
    assert api.delete(f"{path}/ssh")[0] == 403
    assert api.post(f"{path}/ssh/accept", {"fingerprint": "SHA256:x"})[0] == 403


def test_who_is_no_administrator_does_not_take_a_command_away(api, path, target):
    SshLogin.objects.create(target=target, host="127.0.0.1", username="root", key="x")
    row = Setting.objects.create(
        target=target,
        name="a",
        apply={"way": "command", "arguments": ["set", "{value}"]},
        read_back={"way": "command", "arguments": ["get"]},
    )
    assert api.patch(f"{path}/settings/a", over_http("a"))[0] == 403
    assert api.delete(f"{path}/settings/a")[0] == 403
    row.refresh_from_db()
    assert row.apply["way"] == "command"


def test_an_ssh_login_tells_no_secret_and_takes_a_compared_key_alone(
    api, path, admin, target, settings
):
    settings.ALLOWED_ADDRESSES += ", 127.0.0.1:2222, 127.0.0.2:2222"
    key, host = private(new_key()), new_key()
    sent = {"host": "127.0.0.1", "port": 2222, "username": "op", "key": key}
    status, body = api.put(f"{path}/ssh", sent)
    assert (status, body["has_key"], body["has_password"]) == (200, True, False)
    assert key not in str(body)
    assert "BEGIN" not in SshLogin.objects.get().key
    SshLogin.objects.update(offered_key=public(host))
    assert api.post(f"{path}/ssh/accept", {"fingerprint": "SHA256:other"})[0] == 400
    shown = api.get(f"{path}/ssh")[1]["offered"]
    assert api.post(f"{path}/ssh/accept", {"fingerprint": shown})[1]["accepted"] == shown
    status, body = api.put(f"{path}/ssh", sent | {"host": "127.0.0.2", "key": ""})
    assert (status, fields_of(body)) == (400, {"key"})
    status, body = api.put(f"{path}/ssh", sent | {"host": "127.0.0.2"})
    assert (status, body["accepted"]) == (200, "")
    assert api.put(f"{path}/ssh", sent | {"host": "10.1.1.1"})[0] == 400
    status, body = api.put(f"{path}/ssh", sent | {"key": "no key"})
    assert fields_of(body) == {"key"}
    assert "no key" not in str(body)
    assert api.delete(f"{path}/ssh")[0] == 204


def test_steps_are_kept_in_their_order(api, path):
    for name, position in (("second", 2), ("first", 1)):
        sent = {"name": name, "position": position, "action": {"way": "http", "url": "/reset"}}
        assert api.post(f"{path}/steps", sent)[0] == 201
    found = api.get(f"{path}/steps")[1]["results"]
    assert [step["name"] for step in found] == ["first", "second"]
    number = found[0]["id"]
    assert api.patch(f"{path}/steps/{number}", {"position": 3})[1]["position"] == 3
    ready = {"name": "up", "purpose": "ready", "action": {"way": "manual", "words": "look"}}
    assert fields_of(api.post(f"{path}/steps", ready)[1]) == {"action.way"}
    assert api.delete(f"{path}/steps/{number}")[0] == 204


def test_settings_are_factors_beside_those_of_the_kind(api, path, target):
    api.post(f"{path}/settings", over_http("puma_workers"))
    data = definition(
        target=target.pk,
        factors={"engine": ["new", "old"], "puma_workers": ["4", 8]},
        order="interleaved",
    )
    status, made = api.post("campaigns", data)
    assert status == 201, made
    told = made["definition"]
    assert told["factors"]["puma_workers"] == [4, 8]
    assert told["hard_to_change"] == ["puma_workers"]
    again = api.patch(f"campaigns/{made['id']}", {"hard_to_change": []})[1]["definition"]
    assert again["hard_to_change"] == []
    for wrong, field in (
        ({"factors": {"puma_workers": [0]}}, "factors.puma_workers"),
        ({"factors": {"puma_thread": [1]}}, "factors.puma_thread"),
        ({"parameters": {"puma_workers": 99}, "factors": {}}, "parameters.puma_workers"),
        ({"hard_to_change": ["nothing"]}, "hard_to_change"),
        ({"order": "random", "hard_to_change": ["puma_workers"]}, "hard_to_change"),
    ):
        status, body = api.post("campaigns", data | wrong)
        assert status == 400
        assert field in fields_of(body)


def test_a_build_is_a_version_that_the_server_itself_tells_and_always_hard_to_change(
    api, path, target
):
    build = over_http("pulpcore", type="text", minimum=None, maximum=None, is_build=True)
    told = api.post(f"{path}/settings", build | {"hard_to_change": False})[1]
    for wrong, field in (
        ({"type": "integer", "name": "core"}, "type"),
        (
            {"read_back": manually("core")["read_back"], "apply": manually("core")["apply"]},
            "read_back",
        ),
    ):
        assert fields_of(api.post(f"{path}/settings", {**build, "name": "core", **wrong})[1]) == {
            field
        }

    data = definition(
        target=target.pk,
        factors={"engine": ["new", "old"], "pulpcore": ["3.105.0", "3.123.1"]},
        order="interleaved",
        hard_to_change=[],
    )
    status, made = api.post("campaigns", data)

    assert (told["is_build"], told["hard_to_change"]) == (True, True)
    assert status == 201, made
    assert made["definition"]["hard_to_change"] == ["pulpcore"]
    campaign = Campaign.objects.get(pk=made["id"])
    assert roles_of(campaign) == {"engine": Role.SETTING, "pulpcore": Role.BUILD}


def test_a_setting_that_a_campaign_needs_stays(api, path, target):
    api.post(f"{path}/settings", over_http("puma_workers"))
    parameters = {"path": "/a", "puma_workers": 4}
    made = api.post("campaigns", definition(target=target.pk, parameters=parameters))[1]
    Campaign.objects.filter(pk=made["id"]).update(state="running", launched_at="2026-01-01T00:00Z")
    status, body = api.delete(f"{path}/settings/puma_workers")
    assert status == 409
    assert "needs it as it is" in body["detail"]
    assert api.patch(f"{path}/settings/puma_workers", {"maximum": 3})[0] == 400


def test_hands_are_listed_and_confirmed(api, path, target):
    api.post(f"{path}/settings", manually("puma_workers"))
    manual = ManualStep.objects.create(
        target=target, setting=Setting.objects.get(), value=4, words="Set workers back to 4."
    )
    listed = api.get("manual-steps")[1]["results"]
    assert [(row["setting"], row["value"]) for row in listed] == [("puma_workers", 4)]
    assert api.post(f"manual-steps/{manual.pk}/done")[1]["done_by"] == "owner"
    assert api.post(f"manual-steps/{manual.pk}/done")[0] == 409
    assert api.get("manual-steps")[1]["results"] == []
    assert Setting.objects.get().manual_value == 4


def test_a_token_that_reads_defines_nothing(path, owner, target):
    reader = ApiClient(make_token(owner, "r", "read")[1])
    assert reader.get(f"{path}/settings")[0] == 200
    assert reader.post(f"{path}/settings", over_http("a"))[0] == 403


@pytest.mark.parametrize(
    "host",
    ["me@10.0.0.1", "10.0.0.1:22", "[::1]", "a.example/x", "a.example#", "a; rm -rf /", "[a"],
)
def test_what_is_more_than_a_machine_is_no_host_of_commands(api, path, admin, host):
    sent = {"host": host, "username": "root", "password": "x", "confirm_address": True}
    status, body = api.put(f"{path}/ssh", sent)
    assert (status, fields_of(body)) == (400, {"host"})
    assert "is no machine" in body["errors"][0]["message"]
    assert not SshLogin.objects.exists()


@pytest.fixture
def login(api, path, admin, settings):
    """A stored login, by key and password, whose host key was accepted, and another one is offered."""
    settings.ALLOWED_ADDRESSES += ", 127.0.0.0/8:22, 127.0.0.1:2222"
    sent = {"host": "127.0.0.1", "username": "perf", "port": 22}
    status, body = api.put(f"{path}/ssh", sent | {"key": private(new_key())})
    assert status == 200, body
    SshLogin.objects.update(
        password=encryption.encrypt("a long password"),
        host_key=public(new_key()),
        offered_key=public(new_key()),
        look_failure="moved?",
    )
    return sent, SshLogin.objects.get()


@pytest.mark.parametrize("change", [{"host": "127.0.0.2"}, {"port": 2222}, {"username": "root"}])
def test_a_login_that_moved_keeps_no_secret_and_no_host_key(api, path, login, change):
    sent, before = login

    status, problem = api.put(f"{path}/ssh", sent | change)
    assert (status, fields_of(problem)) == (400, {"key"})
    assert SshLogin.objects.get().host_key == before.host_key

    status, _ = api.put(f"{path}/ssh", sent | change | {"password": "another password"})

    after = SshLogin.objects.get()
    assert status == 200
    assert (after.key, after.host_key, after.offered_key, after.look_failure) == ("", "", "", "")
    assert encryption.decrypt(after.password) == "another password"


def test_a_login_that_stays_keeps_its_secrets_and_its_host_key(api, path, login):
    sent, before = login

    assert api.put(f"{path}/ssh", sent)[0] == 200

    after = SshLogin.objects.get()
    assert (after.key, after.password) == (before.key, before.password)
    assert (after.host_key, after.offered_key) == (before.host_key, before.offered_key)
