"""Secrets are planted wherever somebody can write, in every form; none is in the bundle."""

import json
import zlib
from base64 import b64encode
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import models

from campaigns.findings import compute
from campaigns.kit import encryption
from campaigns.models import (
    ApiToken,
    Attempt,
    Campaign,
    Channel,
    Credential,
    EffectiveSetting,
    EnvironmentFact,
    Factor,
    Level,
    LogLine,
    Population,
    Proof,
    RawSamples,
    SshLogin,
    Target,
)
from campaigns.planning import lifecycle
from campaigns.reviews.bundles import verify, write_bundle
from campaigns.reviews.bundles.secrets import Redactor
from campaigns.reviews.bundles.tables import TABLES
from campaigns.tests.people import somebody
from campaigns.tests.reviews.bundles.conftest import contents, rows

pytestmark = pytest.mark.django_db

PASSWORD = 'grüner Käse & 7 "quotes"'  # noqa: S105
SSH_PASSWORD = "ssh-horse-battery"  # noqa: S105
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n-----END OPENSSH PRIVATE KEY-----"
OTHERS_KEY = KEY.replace("b3Blbn", "c4Cmbo")
WEBHOOK = "https://hooks.example.com/services/T00/B00/secretpath"
SLACK = "https://hooks.slack.com/services/T1/B2/nobodystoredthis"
POPULATION_KEY = "key-that-seals-identities"
SIGNING = "webhook-signing-secret"
FEED_PASSWORD = "password-of-a-feed"  # noqa: S105
FEED_TOKEN = "token-of-a-feed"  # noqa: S105
FEED_KEY = OTHERS_KEY.replace("c4Cmbo", "d5Dnco")


@pytest.fixture
def token():
    ann = somebody("token-holder")
    text = encryption.new_token()
    ApiToken.objects.create(user=ann, name="t", hash=encryption.token_hash(text))
    return text


@pytest.fixture
def kept(downloads):
    """The installation keeps secrets of a target, of its machine, and of somebody's channel."""
    Target.objects.update(
        password=encryption.encrypt(PASSWORD),
        client_key=encryption.encrypt(KEY),
        username="admin",
        settings={"token": "in-settings-of-the-target"},
        notes="note-of-the-target",
        ca_bundle="ca-of-the-target",
    )
    SshLogin.objects.create(
        target=downloads.target,
        host="h",
        username="root",
        password=encryption.encrypt(SSH_PASSWORD),
        key=encryption.encrypt(KEY),
    )
    Population.objects.create(
        target=downloads.target,
        hosts=1,
        organization="ACME",
        activation_keys="key",
        key=encryption.encrypt(POPULATION_KEY),
    )
    Credential.objects.create(
        team=downloads.target.team,
        name="cdn",
        password=encryption.encrypt(FEED_PASSWORD),
        token=encryption.encrypt(FEED_TOKEN),
        key=encryption.encrypt(FEED_KEY),
    )
    Channel.objects.create(
        user=somebody("channel-holder"),
        name="c",
        kind=Channel.Kind.WEBHOOK,
        address=encryption.encrypt(WEBHOOK),
        secret=encryption.encrypt(SIGNING),
    )
    return downloads


def spellings(secret):
    return (
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        b64encode(secret.encode()).decode(),
    )


def planted(token):
    """Each secret as people and programs write it, in one text."""
    secrets = [PASSWORD, SSH_PASSWORD, KEY, WEBHOOK, SIGNING, POPULATION_KEY, settings.SECRET_KEY]
    secrets += [*settings.ENCRYPTION_KEYS, FEED_PASSWORD, FEED_TOKEN, FEED_KEY]
    text = " ; ".join(form for secret in secrets for form in spellings(secret))
    login = "https://admin:unstored-login@server/x"
    header = "Authorization: Bearer unstored.bearer.token, Basic dW5zdG9yZWQ6YmFzaWM="
    return f"{text} ; {token} ; {login} ; {header} ; {SLACK} ; {OTHERS_KEY}"


def plant(campaign, text, ann):
    """Write the text wherever there is room for one, without a word of it being hashed."""
    attempt = Attempt.objects.filter(run__campaign=campaign).order_by("pk")[0]
    Attempt.objects.filter(pk=attempt.pk).update(
        reason=text, traceback=text, failures={text: 1}, health_reasons=[text],
        health_figures={text: 1.0}, facts_unread=text,
    )  # fmt: skip
    LogLine.objects.create(campaign=campaign, text=text)
    Proof.objects.create(
        attempt=attempt,
        step="verify",
        name="planted",
        expected=text,
        measured={"a": [text]},
        ok=True,
    )
    EffectiveSetting.objects.create(
        attempt=attempt, name="planted", asked=text, in_force={text: text}, ok=True
    )
    EnvironmentFact.objects.create(
        attempt=attempt, side="generator", name="planted", value=text, value_after=text
    )
    raw = RawSamples.objects.get(attempt=attempt)
    columns = json.loads(zlib.decompress(bytes(raw.columns)))
    columns["words"] = [text] * raw.count
    raw.columns = zlib.compress(json.dumps(columns).encode())
    raw.save()
    Campaign.objects.filter(pk=campaign.pk).update(state_reason=text, source=text[:300])
    ann.first_name, ann.email = SSH_PASSWORD, f"{SIGNING}@example.com"
    ann.save()


def forbidden(token):
    plain = [PASSWORD, SSH_PASSWORD, "b3BlbnNzaC1rZXktdjE", "c4CmboNzaC1rZXktdjE", WEBHOOK, SIGNING]
    plain += [
        POPULATION_KEY,
        FEED_PASSWORD,
        FEED_TOKEN,
        settings.SECRET_KEY,
        *settings.ENCRYPTION_KEYS,
        token,
    ]
    forms = [form for secret in plain for form in spellings(secret)]
    forms += ["unstored-login", "unstored.bearer.token", "dW5zdG9yZWQ6YmFzaWM=", "nobodystoredthis"]
    return [*forms, "in-settings-of-the-target", "note-of-the-target", "ca-of-the-target", "gAAAA"]


def test_no_secret_comes_through_wherever_it_was_written(kept, token, written):
    ann = somebody("planter")
    plant(kept, planted(token), ann)
    lifecycle.exclude(kept.runs.get(position=1), ann, f"it said {SSH_PASSWORD}")
    compute.analyse(kept)

    path = written(kept)

    text = "\n".join(f"{name}\n{data.decode()}" for name, data in contents(path).items())
    decoded = "\n".join(
        json.dumps(row, ensure_ascii=False)
        for table in TABLES
        for row in rows(contents(path), table.name)[1]
    )
    found = [form for form in forbidden(token) if form in text or form in decoded]
    assert found == []
    assert "[secret]" in text
    report = verify(path)
    assert report.holds, [str(each) for each in report.differences]
    assert any("cannot be computed here" in note for note in report.notes)


def test_activation_keys_are_named_apart_and_the_bundle_still_holds(downloads, written):
    factor = Factor.objects.create(campaign=downloads, name="activation_keys", position=2)
    for position, key in enumerate(("ak", "bench-ak,ak"), 1):
        Level.objects.create(factor=factor, position=position, value=key)
    downloads.parameters["activation_keys"] = "bench-ak"
    downloads.question = "Is bench-ak faster than ak?"
    downloads.save()
    for cell in downloads.cells.all():
        key = "ak" if cell.position == 1 else "bench-ak,ak"
        cell.levels_by_factor = {**cell.levels_by_factor, "activation_keys": key}
        cell.save()
    attempt = Attempt.objects.get(run__campaign=downloads, run__position=1)
    EffectiveSetting.objects.create(
        attempt=attempt, name="activation_keys", asked="ak", in_force="ak", ok=True
    )
    Campaign.objects.filter(pk=downloads.pk).update(state="finished")
    compute.analyse(downloads)

    path = written(downloads)

    files = contents(path)
    text = "\n".join(data.decode() for data in files.values())
    assert "bench-ak" not in text
    assert '"ak"' not in text
    _, levels = rows(files, "level")
    assert [row["value"] for row in levels[-2:]] == [
        "[activation key 2]",
        "[activation key 1],[activation key 2]",
    ]
    assert "Is [activation key 1] faster than [activation key 2]?" in text
    report = verify(path)
    assert report.holds, [str(each) for each in report.differences]


def test_other_texts_of_a_bundle_are_cleaned_too(kept, tmp_path):
    with (tmp_path / "b.zip").open("wb") as file:
        write_bundle(file, [kept], {"report.md": f"It said {SSH_PASSWORD}."})

    assert contents(tmp_path / "b.zip")["more/report.md"] == b"It said [secret]."
    assert verify(tmp_path / "b.zip").holds


def test_a_secret_that_no_key_opens_stops_nothing(kept, written):
    Target.objects.update(client_key="gAAAAA-of-another-key")

    assert verify(written(kept)).holds


def test_ordinary_words_stay(downloads):
    redactor = Redactor([downloads])
    words = {
        "reason": "The password was refused: HTTP 401",
        "url": "https://server:443/x",
        "n": 123456,
    }

    assert redactor.clean(words) == words
    assert redactor.changed == {}


def test_of_every_table_columns_that_hold_secrets_are_left_out():
    encrypted = {
        "password",
        "client_key",
        "key",
        "secret",
        "former_secret",
        "identities",
        "request",
        "hash",
        "token",
    }
    found = {
        f"{table.name}.{name}" for table in TABLES for name in table.fields if name in encrypted
    }

    assert found == {"attempt.token"}  # the number of a lease
    assert isinstance(Attempt._meta.get_field("token"), models.BigIntegerField)
