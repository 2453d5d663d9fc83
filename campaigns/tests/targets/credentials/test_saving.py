"""Make, change and delete credentials: what is refused, what is kept, and what is told of it."""

from datetime import UTC, datetime, timedelta

import pytest

from campaigns.kit import encryption
from campaigns.kit.errors import Invalid
from campaigns.models import Announcement, AuditEvent, Credential, Team
from campaigns.models.teams import default_team
from campaigns.targets.credentials import ends, saving
from campaigns.tests.kinds.programs.certificates import DAY, NOW
from campaigns.tests.targets.credentials.planted import PASSWORD, PLACE, TOKEN, secrets_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(db):
    return Team.objects.get(pk=default_team())


@pytest.fixture
def made(entered, team):
    return saving.save_credential(entered, team=team)


def refusals(data, row=None, team=None):
    """Return the messages of what is refused, by field."""
    with pytest.raises(Invalid) as refused:
        saving.save_credential(data, row, team)
    return {name: " ".join(messages) for name, messages in refused.value.errors.items()}


def change(row, **changes):
    return saving.save_credential({**saving.as_data(row), **changes}, row)


def test_secrets_are_encrypted_and_the_certificate_is_described(made, entered):
    row = Credential.objects.get()

    assert (row.name, row.places, row.version) == ("cdn", [PLACE], 1)
    assert (row.subject, len(row.fingerprint)) == ("CN=entitled", 64)
    assert row.ends_at
    assert row.ends_at > datetime.now(UTC)
    assert encryption.decrypt(row.password) == PASSWORD
    assert encryption.decrypt(row.key) == entered["key"]
    stored = [str(value) for value in Credential.objects.values().get().values()]
    assert not [secret for secret in secrets_of(entered) if any(secret in each for each in stored)]


def test_the_record_of_activity_holds_no_secret(made, entered):
    change(made, password="another-sentinel-5512")  # noqa: S106

    rows = [str(values) for values in AuditEvent.objects.filter(subject_kind="credential").values()]
    assert len(rows) == 2
    for secret in [*secrets_of(entered), "another-sentinel-5512"]:
        assert not any(secret in row for row in rows)
    assert "'credentials_changed': ['password']" in rows[0] + rows[1]


def test_an_entitlement_may_be_given_whole(entered, team):
    both = entered["certificate"] + entered["key"]

    row = saving.save_credential({**entered, "certificate": both, "key": ""}, team=team)

    assert encryption.decrypt(row.key) == entered["key"]
    assert "PRIVATE KEY" not in encryption.decrypt(row.certificate)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"places": ""}, "places", "This field is required."),
        ({"places": "https://cdn.example/content"}, "places", "whatever is at that address may get it"),
        ({"places": "*.example"}, "places", "neither a name nor an IP address"),
        ({"places": "https://me:secret@cdn.example"}, "places", "holds a user name or password"),
        ({"key": ""}, "key", "Give the key of the certificate."),
        ({"certificate": ""}, "certificate", "Give the certificate that the key belongs to."),
        ({"password": ""}, "password", "Give the password of the user."),
        ({"username": ""}, "username", "Give the user name that the password belongs to."),
        ({"username": "a:b"}, "username", "holds no colon"),
        ({"token": TOKEN}, "token", "Give either a token, or a user name and a password"),
        ({"token": f"Bearer {TOKEN}", "username": "", "password": ""}, "token", "without the word Bearer"),
        ({"password": "a\nb-sentinel"}, "password", "holds a control character or a line end"),
        ({"ca": "no pem"}, "ca", "The CA is no PEM text"),
        ({"name": "a b"}, "name", "Give letters, digits, dots"),
        ({"key": "", "certificate": "", "username": "", "password": ""}, "__all__", "Give a certificate with its key"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_field(entered, team, changes, field, words):
    assert words in refusals({**entered, **changes}, team=team)[field]


def test_a_certificate_that_has_ended_is_refused(entered, team, authority, monkeypatch):
    later = NOW + 2 * DAY
    monkeypatch.setattr("campaigns.targets.credentials.forms.database_now", lambda: later)

    assert "Ask its authority for a new one" in refusals(entered, team=team)["certificate"]


def test_a_key_of_another_certificate_is_refused(entered, team, authority):
    other = authority.identity("other")[1]

    assert "The key does not belong" in refusals({**entered, "key": other}, team=team)["key"]


def test_what_is_odd_is_said_once_it_is_saved(entered, team, authority, tmp_path):
    own, _ = authority.identity("server")
    entered = {**entered, "ca": own, "places": "http://cdn.example", "password": "abc"}

    row = saving.save_credential(entered, team=team)

    remarks = " ".join(saving.remarks_after(row, entered))
    assert "say that they are no authority" in remarks
    assert "http://cdn.example:80 is without TLS" in remarks
    assert "The CA did not sign the client certificate" in remarks
    assert "shorter than 6 letters" in remarks


def test_secrets_that_are_not_typed_again_stay(made, entered):
    row = change(made, username="somebody-else")

    assert (row.version, encryption.decrypt(row.password)) == (2, PASSWORD)
    assert encryption.decrypt(row.key) == entered["key"]


def test_saving_without_a_change_makes_no_version(made):
    assert change(made).version == 1


def test_a_new_address_wants_every_secret_again(made, entered):
    wanted = refusals(
        {**saving.as_data(made), "places": "https://cdn.example\nhttps://elsewhere.example"}, made
    )

    assert wanted.keys() == {"key", "password"}
    assert wanted["key"].startswith(
        "https://elsewhere.example:443 may get it from now on: give the certificate and key again"
    )
    row = change(
        made,
        places="https://cdn.example\nhttps://elsewhere.example",
        key=entered["key"],
        forget_password=True,
        username="",
    )
    assert row.places == [PLACE, "https://elsewhere.example:443"]
    assert (row.password, encryption.decrypt(row.key)) == ("", entered["key"])


def test_fewer_addresses_want_nothing_again(made, entered, team):
    two = change(
        made,
        places="https://cdn.example\nhttps://elsewhere.example",
        key=entered["key"],
        password=PASSWORD,
    )

    row = change(two, places="https://elsewhere.example")

    assert encryption.decrypt(row.password) == PASSWORD


def test_a_certificate_is_renewed_with_the_key_that_is_stored(made, entered, authority):
    assert refusals({**saving.as_data(made), "certificate": authority.identity("new")[0]}, made)[
        "certificate"
    ].startswith("The key does not belong")
    assert change(made, certificate=entered["certificate"]).fingerprint == made.fingerprint


def test_two_teams_may_use_one_name(made, entered):
    other = Team.objects.create(name="Others")

    assert saving.save_credential(entered, team=other).pk != made.pk
    assert "There is a credential “cdn” already." in refusals(entered, team=other)["name"]


@pytest.mark.parametrize(("days", "announced"), [(40, 0), (29, 1), (6, 1), (0.5, 1), (-1, 1)])
def test_a_team_is_told_once_before_its_certificate_ends(made, days, announced):
    Credential.objects.update(ends_at=datetime.now(UTC) + timedelta(days=days))

    assert ends.tell_of_ends() == announced
    assert ends.tell_of_ends() == 0
    assert Announcement.objects.filter(kind="credential_ends").count() == announced


def test_it_is_told_again_as_the_end_comes_nearer(made):
    for days, told in ((29, 30), (6, 7), (0.5, 1), (-1, 0)):
        Credential.objects.update(ends_at=datetime.now(UTC) + timedelta(days=days))
        assert ends.tell_of_ends() == 1
        assert Credential.objects.get().told == told
    assert "“cdn” ended on" in Announcement.objects.latest("pk").data["what"]
