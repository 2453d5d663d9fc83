import logging
from copy import copy

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from campaigns.kit import encryption
from campaigns.kit.errors import Invalid
from campaigns.kit.network import Refused
from campaigns.models import Target
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.targets import saving
from campaigns.targets.forms import HAS_POPULATIONS, TargetForm
from campaigns.targets.populations import asking
from campaigns.tests.browsing import reviewer
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

SERVER = {
    "name": "mine",
    "family": "http",
    "base_url": "http://127.0.0.2:8080/",
    "username": "tester",
    "password": "correct horse",
    "confirm_address": True,
}


@pytest.fixture(autouse=True)
def _owner_confirms(settings, toy):
    settings.OWNER_CONFIRMS = True


def errors_of(data, target=None):
    with pytest.raises(Invalid) as caught:
        saving.save_target(data, target)
    return caught.value.errors


def test_a_password_is_encrypted_at_rest_and_opened_for_drivers_alone():
    target = saving.save_target(SERVER)

    assert "correct horse" not in target.password
    assert saving.as_driver_sees_it(target).password == SERVER["password"]


def test_a_password_is_in_no_repr_and_no_log(caplog):
    caplog.set_level(logging.DEBUG)

    target = saving.save_target(SERVER)
    seen = saving.as_driver_sees_it(target)

    assert "correct horse" not in repr(target) + repr(seen) + str(seen) + caplog.text


def test_an_empty_password_leaves_the_stored_one():
    target = saving.save_target(SERVER)

    saving.save_target(SERVER | {"password": "", "notes": "new"}, target)

    target.refresh_from_db()
    assert target.notes == "new"
    assert encryption.decrypt(target.password) == "correct horse"


def test_blanks_of_a_password_are_kept():
    target = saving.save_target(SERVER | {"password": "  two blanks  "})

    assert encryption.decrypt(target.password) == "  two blanks  "


def test_a_password_can_be_forgotten():
    target = saving.save_target(SERVER)

    saving.save_target(SERVER | {"password": "", "forget_password": True}, target)

    target.refresh_from_db()
    assert target.password == ""


def test_a_stored_password_does_not_move_to_another_server_by_itself():
    target = saving.save_target(SERVER)
    elsewhere = SERVER | {"base_url": "http://127.0.0.3:8080/"}

    errors = errors_of(elsewhere | {"password": ""}, target)
    saving.save_target(elsewhere | {"password": "another"}, target)

    assert "enter the password again" in errors["password"][0]
    target.refresh_from_db()
    assert target.address == "127.0.0.3:8080"


def test_a_confirmed_address_is_allowed_and_nothing_beside_it():
    target = saving.save_target(SERVER)

    rules = saving.rules_for(target)

    rules.check("127.0.0.2", 8080)
    with pytest.raises(Refused):
        rules.check("127.0.0.2", 8081)
    with pytest.raises(Refused):
        rules.check("127.0.0.3", 8080)


def test_an_address_that_a_rule_allows_needs_no_confirmation(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.2:8080"

    target = saving.save_target(SERVER | {"confirm_address": False})

    assert target.confirmed_rule == ""


def test_in_production_nobody_confirms_and_the_refusal_names_the_setting(settings):
    settings.OWNER_CONFIRMS = False

    assert "PERFDASH_ALLOWED_ADDRESSES" in errors_of(SERVER)["base_url"][0]


def test_what_was_confirmed_once_does_not_hold_where_owners_may_not_confirm(settings):
    target = saving.save_target(SERVER)
    settings.OWNER_CONFIRMS = False

    with pytest.raises(Refused):
        saving.rules_for(target).check("127.0.0.2", 8080)


def test_a_confirmation_is_asked_for_again_where_the_address_changes():
    target = saving.save_target(SERVER | {"password": ""})
    moved = SERVER | {"password": "", "base_url": "http://127.0.0.3:8080/"}

    same = saving.save_target(SERVER | {"password": "", "confirm_address": False}, target)
    errors = errors_of(moved | {"confirm_address": False}, target)

    assert same.confirmed_rule == "127.0.0.2:8080"
    assert "Confirm" in errors["confirm_address"][0]


def test_perfdashs_own_services_are_refused_even_with_a_confirmation(settings):
    settings.OWN_ADDRESSES = (("127.0.0.1", 5432),)

    errors = errors_of(SERVER | {"base_url": "http://127.0.0.1:5432/"})

    assert "base_url" in errors


def test_a_name_is_there_once():
    saving.save_target(SERVER)

    assert "already" in errors_of(SERVER | {"base_url": "http://127.0.0.3/"})["name"][0]


def test_a_new_address_has_to_be_probed_again():
    target = saving.save_target(SERVER | {"password": ""})
    Target.objects.update(health=Target.Health.READY, health_message="fine")
    target.refresh_from_db()

    saving.save_target(SERVER | {"password": "", "base_url": "http://127.0.0.3:8080/"}, target)

    target.refresh_from_db()
    assert (target.health, target.health_message) == ("unknown", "")


def test_a_target_that_is_measured_keeps_its_address_and_is_not_retired(target):
    lifecycle.launch(drafts.create(check(definition(target=target.pk)), None), None)
    moved = {"name": "x", "family": "http", "base_url": "http://127.0.0.1:10", "password": "p"}

    assert "is measuring" in errors_of(moved | {"confirm_address": True}, target)["base_url"][0]
    with pytest.raises(Invalid, match="is measuring"):
        saving.retire_target(target)


def test_a_retired_target_gives_its_name_free():
    target = saving.save_target(SERVER)

    saving.retire_target(target)

    assert saving.save_target(SERVER).name == "mine"
    assert Target.objects.count() == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"name": None},
        {"base_url": None},
        {"base_url": ["http://127.0.0.2/"]},
        {"base_url": "http://127.0.0.2:8080/\x00"},
        {"base_url": "http://" + "a" * 600},
        {"base_url": "javascript:alert(1)"},
        {"base_url": "//127.0.0.2"},
        {"family": []},
        {"username": "a\x00"},
        {"username": "u" * 201},
        {"password": "p" * 501},
        {"password": "a\x00b"},
        {"notes": "\u202e"},
    ],
)
def test_junk_is_refused(changes):
    errors_of(SERVER | changes)

    assert not Target.objects.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_perfdash_itself_is_no_target_by_any_name(host, settings):
    settings.OWN_ADDRESSES = (("127.0.0.1", 8411),)

    errors = errors_of(SERVER | {"base_url": f"http://{host}:8411/"})

    assert "a service of perfdash itself" in errors["base_url"][0]


@pytest.mark.parametrize("end", ["?a=b", "#top"])
def test_a_base_url_ends_before_a_query(end):
    assert (
        "without ? and #"
        in errors_of(SERVER | {"base_url": SERVER["base_url"] + end})["base_url"][0]
    )


# What kinds that sign in need


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


def pem(file):
    """The key and the certificate of a server, apart."""
    text = file.read_text()
    begin = text.index("-----BEGIN CERTIFICATE")
    return text[begin:], text[:begin]


def test_certificates_reach_the_driver_and_the_key_is_encrypted(authority):
    certificate, key = pem(authority.server())
    bundle = authority.file.read_text()

    target = saving.save_target(
        SERVER | {"ca_bundle": bundle, "client_certificate": certificate, "client_key": key}
    )

    assert key.strip() not in target.client_key
    seen = saving.as_driver_sees_it(target)
    assert (seen.tls.ca_bundle, seen.tls.key) == (bundle.strip(), key.strip())
    assert key.strip() not in repr(seen)
    assert seen.tls.verify


def test_an_empty_key_leaves_the_stored_one_and_no_certificate_forgets_it(authority):
    certificate, key = pem(authority.server())
    sent = SERVER | {"client_certificate": certificate}
    target = saving.save_target(sent | {"client_key": key})

    saving.save_target(sent, target)
    assert saving.as_driver_sees_it(target).tls.key == key.strip()

    saving.save_target(SERVER, target)
    assert (target.client_certificate, target.client_key) == ("", "")


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"ca_bundle": "no certificate"}, "ca_bundle", "holds no certificate"),
        (
            {"client_certificate": "junk", "client_key": "junk"},
            "client_certificate",
            "cannot be used",
        ),
        ({"client_certificate": "junk"}, "client_key", "Give the key"),
        ({"client_key": "junk"}, "client_certificate", "Give the certificate"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_refused_at_its_field(changes, field, message):
    assert message in " ".join(errors_of(SERVER | changes)[field])


def test_a_stored_key_does_not_go_to_another_server_by_itself(authority):
    certificate, key = pem(authority.server())
    sent = SERVER | {"client_certificate": certificate, "password": ""}
    target = saving.save_target(sent | {"client_key": key})

    errors = errors_of(sent | {"base_url": "http://127.0.0.3:8080/"}, target)

    assert "give the key again" in " ".join(errors["client_key"])


def test_whoever_verifies_nothing_is_told():
    sent = SERVER | {"base_url": "https://127.0.0.2:8443/", "skip_verification": True}

    target = saving.save_target(sent)

    assert not saving.as_driver_sees_it(target).tls.verify
    assert any("is not verified" in sentence for sentence in saving.remarks_on(target, sent))


DATABASE = SERVER | {"family": "postgresql", "base_url": "postgresql://127.0.0.2:5433/bench"}


def test_a_database_is_a_target_of_its_own_scheme():
    target = saving.save_target(DATABASE)

    assert (target.address, target.confirmed_rule) == ("127.0.0.2:5433", "127.0.0.2:5433")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"base_url": "http://127.0.0.2:5433/"}, "must begin with postgresql://"),
        ({"base_url": "postgresql://127.0.0.2:5433/"}, "Name one database"),
        ({"base_url": "postgresql://127.0.0.2:5433/a?sslmode=disable"}, "without ? and #"),
        ({"base_url": "postgresql://%2Frun%2Fpostgresql/bench"}, "holds a zone or an escape"),
        ({"base_url": "postgresql://me:secret@127.0.0.2/bench"}, "user name or password"),
        ({"family": "http"}, "must begin with http:// or https://"),
    ],
)
def test_a_database_has_the_url_of_one(changed, message):
    assert message in errors_of(DATABASE | changed)["base_url"][0]


def test_an_address_does_not_change_below_a_population_that_came_meanwhile():
    katello = SERVER | {"family": "katello", "base_url": "https://127.0.0.2:8080/"}
    target = saving.save_target(katello)
    form = TargetForm(katello | {"base_url": "https://127.0.0.3:8080/"}, target=copy(target))
    assert form.is_valid()

    asked_for = {"hosts": 10, "organization": "ACME", "activation_keys": "ak"}
    asking.ask_for(target, asked_for, reviewer())
    with CaptureQueriesContext(connection) as asked, pytest.raises(Invalid) as caught:
        saving.save(form)

    assert caught.value.errors == {"base_url": [HAS_POPULATIONS]}
    assert any("FOR NO KEY UPDATE" in query["sql"] for query in asked)
    target.refresh_from_db()
    assert target.base_url == "https://127.0.0.2:8080/"
