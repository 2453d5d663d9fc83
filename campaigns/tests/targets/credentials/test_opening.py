"""A credential goes to the servers that its owner named, and to no other; a run gets it with its attempt."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.fernet import Fernet

from campaigns.kinds.base import CredentialRefused
from campaigns.kit import encryption, redaction
from campaigns.models import Credential, Team
from campaigns.models.teams import default_team
from campaigns.targets.credentials import saving
from campaigns.targets.credentials.opening import knower, opened, why_not
from campaigns.targets.reaching import as_known
from campaigns.targets.saving import as_driver_sees_it, unreadable_targets
from campaigns.tests.targets.credentials.planted import PASSWORD, secrets_of

pytestmark = pytest.mark.django_db
FEED = "https://cdn.example/content/os/repodata/repomd.xml"


@pytest.fixture
def made(entered):
    return saving.save_credential(entered, team=Team.objects.get(pk=default_team()))


def test_it_is_opened_for_an_address_that_its_owner_named(made, entered, target):
    found = as_driver_sees_it(target).credential_of("cdn", [FEED])

    assert (found.key, found.password) == (entered["key"], PASSWORD)
    assert found.headers["Authorization"].startswith("Basic ")
    assert found.fact == f"cdn, version 1, certificate {made.fingerprint[:16]}"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "http://cdn.example/",
        "https://cdn.example:8443/",
        "https://cdn.example.evil.example/",
        "https://xn--cdn-exmple-abc/",
    ],
)
def test_it_goes_to_no_other_address(made, url):
    with pytest.raises(
        CredentialRefused, match=r"may be sent to https://cdn\.example:443, and not to"
    ):
        opened(made.team_id, "cdn", [FEED, url])


@pytest.mark.parametrize("url", ["https://CDN.example./x", "https://cdn.example:443/y"])
def test_other_spellings_of_the_address_are_the_same(made, url):
    assert opened(made.team_id, "cdn", [url]).name == "cdn"


def test_another_team_has_it_not(made):
    other = Team.objects.create(name="Others")

    assert why_not(other.pk, "cdn", [FEED]) == (
        "The team “Others” has no credential “cdn”; it has: none. An operator makes one (Credentials)."
    )


def test_one_that_has_ended_is_not_sent(made):
    Credential.objects.update(ends_at=datetime.now(UTC) - timedelta(minutes=1))

    with pytest.raises(
        CredentialRefused, match="The certificate of the credential “cdn” ended on"
    ) as refused:
        opened(made.team_id, "cdn", [FEED])

    assert refused.value.void
    assert refused.value.lasting


def test_one_that_is_not_valid_yet_is_not_sent(made):
    Credential.objects.update(begins_at=datetime.now(UTC) + timedelta(days=1))

    assert "is not valid before" in why_not(made.team_id, "cdn", [FEED])


def test_what_is_known_of_it_holds_no_secret(made, target, entered):
    known = as_known(target).credential_of("cdn", [FEED])

    assert (known.password, known.key, known.certificate) == ("", "", "")
    assert knower(made.team_id)("cdn", [FEED]).fact == known.fact
    shown = repr(opened(made.team_id, "cdn", [FEED])) + repr(as_driver_sees_it(target))
    assert not [secret for secret in secrets_of(entered) if secret in shown]


def test_what_was_opened_is_struck_from_texts(made, entered):
    opened(made.team_id, "cdn", [FEED])

    body = "".join(entered["key"].splitlines()[1:-1])
    for text in (entered["key"], PASSWORD, body):
        assert (
            redaction.redact(f"the feed says {text} is wrong") == "the feed says [secret] is wrong"
        )


def test_keys_are_rotated(made, settings, manage):
    new = Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, *settings.ENCRYPTION_KEYS]

    assert manage("rotate_keys") == "3 passwords were encrypted."

    settings.ENCRYPTION_KEYS = [new]
    assert opened(made.team_id, "cdn", [FEED]).password == PASSWORD
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(encryption.SecretUnreadable):
        opened(made.team_id, "cdn", [FEED])
    assert unreadable_targets() == ["the credential cdn"]
