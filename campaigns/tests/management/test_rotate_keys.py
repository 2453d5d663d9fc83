"""Keys come and go, passwords stay; a key that is missing touches nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from campaigns.accounts import second_factor
from campaigns.accounts.notifications.channels import rotate_secret, save_channel
from campaigns.kit import encryption
from campaigns.models import Target
from campaigns.tests.accounts.sign_in.conftest import code_of, switched_on

MANAGE = Path(__file__).parents[3] / "manage.py"
PASSWORDS = {f"server {number}": f"the password of server {number}" for number in range(5)}
OLD, NEW, LOST = (Fernet.generate_key().decode() for _ in range(3))
SLEEP_AT_THE_FOURTH = """
    CREATE FUNCTION wait_long() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.name = 'server 3' THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$;
    CREATE TRIGGER wait_long BEFORE UPDATE ON campaigns_target
    FOR EACH ROW EXECUTE FUNCTION wait_long();
"""
SLEEPING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"


@pytest.fixture
def targets(settings, db):
    """Five servers whose passwords were saved with the old key; then a new one is put first."""
    settings.ENCRYPTION_KEYS = [OLD]
    for name, password in PASSWORDS.items():
        Target.objects.create(
            name=name, family="http", base_url="http://x", password=encryption.encrypt(password)
        )
    settings.ENCRYPTION_KEYS = [NEW, OLD]


@pytest.fixture
def lost(targets):
    """One whose key is gone."""
    stored = Fernet(LOST).encrypt(b"nobody knows").decode()
    return Target.objects.create(
        name="the lost one", family="http", base_url="http://x", password=stored
    )


def stored():
    return dict(Target.objects.values_list("name", "password"))


def opened():
    return {name: encryption.decrypt(password) for name, password in stored().items()}


def test_after_a_rotation_the_old_key_can_go(targets, manage, settings):
    printed = manage("rotate_keys")

    settings.ENCRYPTION_KEYS = [NEW]
    assert opened() == PASSWORDS
    assert printed == "5 passwords were encrypted."
    settings.ENCRYPTION_KEYS = [OLD]
    with pytest.raises(encryption.SecretUnreadable):
        opened()


def test_a_second_rotation_does_no_harm(targets, manage, settings):
    manage("rotate_keys")
    manage("rotate_keys")

    settings.ENCRYPTION_KEYS = [NEW]
    assert opened() == PASSWORDS


def test_a_dry_run_changes_nothing(targets, manage):
    before = stored()

    assert manage("rotate_keys", "--dry-run") == "5 passwords would be encrypted."
    assert stored() == before


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_lost_key_is_told_and_nothing_is_touched(lost, manage, options):
    before = stored()

    with pytest.raises(CommandError) as caught:
        manage("rotate_keys", *options)

    said = str(caught.value)
    assert "PERFDASH_ENCRYPTION_KEYS opens the password of target the lost one" in said
    assert "5 can be read. Nothing was changed." in said
    assert caught.value.returncode == 1
    assert stored() == before


def test_a_key_that_comes_back_is_enough(lost, manage, settings):
    settings.ENCRYPTION_KEYS = [NEW, OLD, LOST]
    manage("rotate_keys")

    settings.ENCRYPTION_KEYS = [NEW]
    assert opened() == PASSWORDS | {"the lost one": "nobody knows"}


def test_lost_passwords_can_be_forgotten(lost, manage, settings):
    printed = manage("rotate_keys", "--forget-lost")

    settings.ENCRYPTION_KEYS = [NEW]
    assert opened() == PASSWORDS | {"the lost one": ""}
    assert "of target the lost one were forgotten" in printed


def test_a_start_warns_of_passwords_that_no_key_opens(lost, capsys):
    call_command("check", databases=["default"], tags=["database"])

    said = capsys.readouterr().err
    assert "No key of PERFDASH_ENCRYPTION_KEYS opens the password of target the lost one" in said
    assert "enter the passwords again" in said


def test_a_start_says_nothing_where_all_can_be_read(targets, capsys):
    call_command("check", databases=["default"], tags=["database"])

    assert "PERFDASH_ENCRYPTION_KEYS" not in capsys.readouterr().err


def test_second_factors_are_rotated_too(targets, manage, settings):
    user = User.objects.create_user("anna")
    secret, codes = switched_on(user)
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    assert manage("rotate_keys") == "7 passwords were encrypted."

    settings.ENCRYPTION_KEYS = [NEW]
    app, recovery = (
        Authenticator.objects.get(user=user, type=each).wrap()
        for each in ("totp", "recovery_codes")
    )
    assert app.validate_code(code_of(secret))
    assert recovery.validate_code(codes[0])


def test_a_second_factor_that_no_key_opens_is_told_by_whose_it_is_and_forgotten_if_asked(
    targets, manage, settings
):
    user = User.objects.create_user("anna")
    settings.ENCRYPTION_KEYS = [LOST]
    switched_on(user)
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    with pytest.raises(CommandError, match="the password of the second factor of anna; 5 can"):
        manage("rotate_keys")
    assert second_factor.is_on(user)
    manage("rotate_keys", "--forget-lost")

    assert not second_factor.is_on(user)


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_rotation_that_is_killed_in_the_middle_leaves_all_as_it_was(targets, manage, settings):
    before = stored()
    with connection.cursor() as cursor:
        cursor.execute(SLEEP_AT_THE_FOURTH)
    url = connection.get_connection_params()
    host, name = url["host"].replace("/", "%2F"), url["dbname"]
    place = f"postgresql://{url['user']}:{url['password']}@{host}/{name}"
    process = subprocess.Popen(
        [sys.executable, str(MANAGE), "rotate_keys"],
        env={**os.environ, "DATABASE_URL": place, "PERFDASH_ENCRYPTION_KEYS": f"{NEW},{OLD}"},
    )
    backends = []
    try:
        backends.append(_sleeping(process))
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        with connection.cursor() as cursor:
            for backend in backends:  # it would sleep on
                cursor.execute("SELECT pg_terminate_backend(%s)", [backend])
            cursor.execute("DROP TRIGGER wait_long ON campaigns_target")
            cursor.execute("DROP FUNCTION wait_long")
    assert stored() == before

    manage("rotate_keys")

    settings.ENCRYPTION_KEYS = [NEW]
    assert opened() == PASSWORDS


def _sleeping(process):
    """The session that has changed three rows and is at the fourth."""
    end = monotonic() + 60
    while monotonic() < end and process.poll() is None:
        with connection.cursor() as cursor:
            cursor.execute(SLEEPING)
            found = cursor.fetchone()
        if found:
            return found[0]
        sleep(0.05)
    raise AssertionError("the command did not come to the fourth row")


def test_addresses_and_secrets_of_channels_are_rotated_too(manage, settings, db):
    settings.ENCRYPTION_KEYS = [OLD]
    settings.NOTIFICATION_ADDRESSES = "hooks.example:443"
    data = {"name": "hook", "kind": "webhook", "address": "https://hooks.example/secret"}
    channel, secret = save_channel(data, User.objects.create_user("ada"))
    rotate_secret(channel)
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    assert "3 passwords were encrypted." in manage("rotate_keys")

    settings.ENCRYPTION_KEYS = [NEW]
    channel.refresh_from_db()
    assert encryption.decrypt(channel.address) == data["address"]
    assert encryption.decrypt(channel.former_secret) == secret
    assert encryption.decrypt(channel.secret) != secret
