"""The registration of section 1a, step by step, over TLS with the certificate of the host."""

from collections.abc import Callable

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from sandbox.katello.process import SimulatedKatello
from sandbox.tests.katello.conftest import Registered
from sandbox.tests.katello.tls import REGISTER, Client, described

Register = Callable[..., Registered]


def test_the_first_request_lists_what_there_is(stranger: Client) -> None:
    answer = stranger.ask("GET", "/rhsm/")

    assert answer.status == 200
    rels = {each["rel"]: each["href"] for each in answer.json}
    assert {
        "consumers", "status", "packages", "environments", "owners", "content_overrides", "guestids",
    } <= rels.keys()  # fmt: skip
    assert rels["consumers"] == "/rhsm/consumers"
    assert rels["packages"] == "/rhsm/consumers/:id/packages/"


def test_the_status_says_what_makes_clients_send_profiles(stranger: Client) -> None:
    answer = stranger.ask("GET", "/rhsm/status")

    assert answer.status == 200
    assert {"combined_reporting", "org_level_content_access"} <= set(
        answer.json["managerCapabilities"]
    )
    assert (answer.json["mode"], answer.json["result"]) == ("NORMAL", True)
    assert answer.headers["X-CANDLEPIN-VERSION"].startswith("katello/")
    assert "Date" in answer.headers
    assert answer.headers["Keep-Alive"] == "timeout=50"


def test_registering_gives_the_consumer_with_its_identity(stranger: Client) -> None:
    answer = stranger.ask("POST", REGISTER, described("host1.example"))

    assert answer.status == 200
    consumer = answer.json
    assert consumer["name"] == "host1.example"
    assert consumer["registrationAuthenticationMethod"] == "ActivationKey"
    assert consumer["owner"]["contentAccessMode"] == "org_environment"  # or the client undoes it
    assert consumer["environments"] == [{"id": "envlib0001", "name": "Library"}]
    assert consumer["activationKeys"][0]["activationKeyName"] == "bench-ak"
    assert consumer["installedProducts"][0]["productId"] == "479"
    assert consumer["type"] == {"id": "1000", "label": "system", "manifest": False}
    assert consumer["href"] == f"/consumers/{consumer['uuid']}"
    identity = consumer["idCert"]
    assert identity["key"].startswith("-----BEGIN PRIVATE KEY-----\n")
    certificate = x509.load_pem_x509_certificate(identity["cert"].encode())
    names = {name.oid: name.value for name in certificate.subject}
    assert names == {NameOID.ORGANIZATION_NAME: "ACME", NameOID.COMMON_NAME: consumer["uuid"]}
    assert certificate.serial_number == identity["serial"]["serial"]
    others = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    (named,) = others.get_values_for_type(x509.DirectoryName)  # clients show the name from here
    assert named.rfc4514_string() == "CN=host1.example"


@pytest.mark.parametrize("kind", ["rsa2048", "ec", pytest.param("rsa4096", marks=pytest.mark.slow)])
def test_the_identity_may_be_of_any_kind_of_key(
    server: SimulatedKatello, register: Register, kind: str
) -> None:
    server.behave(identity_key=kind)

    assert register().ask("GET").status == 200


def test_all_steps_of_the_client_come_through(register: Register) -> None:
    host = register()

    serials = host.ask("GET", "/certificates/serials").json
    assert serials == [
        {
            "created": None, "updated": None, "id": None, "serial": serials[0]["serial"],
            "expiration": None, "revoked": False,
        }
    ]  # fmt: skip
    serial = serials[0]["serial"]
    certificate = host.ask("GET", f"/certificates?serials={serial}").json[0]
    assert certificate["serial"]["serial"] == serial
    assert certificate["key"] == host.consumer["idCert"]["key"]
    blocks = [line for line in certificate["cert"].splitlines() if "BEGIN" in line]
    assert blocks == [
        f"-----BEGIN {name}-----" for name in ("CERTIFICATE", "ENTITLEMENT DATA", "RSA SIGNATURE")
    ]
    content = host.ask("GET", "/accessible_content")
    listing = content.json["contentListing"][str(serial)]
    assert "".join(listing) == certificate["cert"]
    assert [part.splitlines()[0] for part in listing] == blocks[:2]
    assert host.ask("GET", "/content_overrides").json == []
    assert host.ask("GET", "/release").json == {"releaseVer": None}
    assert host.ask("GET", "/compliance").json["status"] == "disabled"
    assert host.ask("GET", "/purpose_compliance").json["compliant"] is True
    assert host.client.ask("GET", "/rhsm/status").status == 200


def test_content_that_is_known_is_not_told_again(register: Register) -> None:
    host = register()
    later = "Fri, 01 Jan 2049 00:00:00 GMT"

    answer = host.ask("GET", "/accessible_content", If_Modified_Since=later)

    assert (answer.status, answer.raw) == (304, b"")
    before = host.ask(
        "GET", "/accessible_content", If_Modified_Since="Tue, 01 Jan 2019 00:00:00 GMT"
    )
    assert before.status == 200


def test_profiles_and_facts_are_taken(server: SimulatedKatello, register: Register) -> None:
    host = register()
    package = {
        "name": "bash", "version": "5.1.8", "release": "6.el9", "arch": "x86_64", "epoch": 0,
        "vendor": "AlmaLinux",
    }  # fmt: skip
    profile = [{"content_type": "rpm", "profile": [package] * 400}]

    answer = host.ask("PUT", "/profiles", profile)

    assert (answer.status, answer.json["uuid"]) == (200, host.consumer["uuid"])
    facts = host.consumer["facts"] | {"memory.memtotal": "7"}
    answer = host.ask("PUT", "", {"facts": facts})
    assert (answer.status, answer.json) == (200, {"content": "Facts successfully updated."})
    assert host.ask("GET").json["facts"]["memory.memtotal"] == "7"
    assert host.ask("GET", "/owner").json["key"] == "ACME"


def test_what_is_unregistered_is_gone(server: SimulatedKatello, register: Register) -> None:
    host = register()

    answer = host.ask("DELETE")

    assert (answer.status, answer.raw) == (204, b"")
    pk = host.consumer["uuid"]
    answer = host.ask("GET")
    assert answer.status == 410
    assert answer.json["displayMessage"] == f"Unit {pk} has been deleted"
    assert answer.json["deletedId"] == pk
    output = server.told()
    assert (output["consumers"], output["hosts"]) == (0, 1)


def test_unregistering_deletes_the_host_where_that_is_set(
    server: SimulatedKatello, register: Register
) -> None:
    server.behave(unregister_delete_host=True)

    register().ask("DELETE")

    assert server.told()["hosts"] == 0


def test_the_certificate_of_another_host_is_refused(register: Register) -> None:
    one, other = register("one.example"), register("other.example")

    answer = one.client.ask("GET", other.path)

    assert (answer.status, answer.json["displayMessage"]) == (403, "Access denied")


def test_a_route_of_a_host_needs_its_certificate(register: Register, stranger: Client) -> None:
    assert stranger.ask("GET", f"{register().path}/compliance").status == 401


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("owner=ACME&activation_keys=nope", 404, "Couldn't find activation key 'nope'"),
        ("owner=ACME&activation_keys=other-ak", 404, "Couldn't find activation key 'other-ak'"),
        ("owner=X&activation_keys=bench-ak", 404, "Couldn't find Organization 'X'."),
        ("owner=ACME&activation_keys=", 400, "At least one activation key must be provided"),
    ],
)
def test_unknown_keys_and_organizations_are_refused_in_katellos_words(
    stranger: Client, query: str, status: int, words: str
) -> None:
    answer = stranger.ask("POST", f"/rhsm/consumers?{query}", described("host1.example"))

    assert answer.status == status
    assert answer.json == {"displayMessage": words, "errors": [words]}


def test_a_key_takes_no_more_hosts_than_its_limit(
    server: SimulatedKatello, register: Register, stranger: Client
) -> None:
    server.behave(host_limit=1)
    path = "/rhsm/consumers?owner=ACME&activation_keys=few-ak,bench-ak"
    first = register("one.example", path)

    answer = stranger.ask("POST", path, described("two.example"))

    assert answer.status == 409
    assert answer.json["displayMessage"] == "Max Hosts (1) reached for activation key 'few-ak'"
    first.ask("DELETE")
    assert stranger.ask("POST", path, described("two.example")).status == 200


def test_two_hosts_may_not_share_a_dmi_uuid(
    server: SimulatedKatello, register: Register, stranger: Client
) -> None:
    register("one.example", dmi__system__uuid="4c4c4544")
    cloned = described("two.example", dmi__system__uuid="4c4c4544")

    answer = stranger.ask("POST", REGISTER, cloned)

    assert answer.status == 422
    assert answer.json["displayMessage"] == (
        "The DMI UUID of this host (4c4c4544) matches other registered hosts: one.example"
    )
    server.behave(host_dmi_uuid_duplicates="4c4c4544")
    assert stranger.ask("POST", REGISTER, cloned).status == 200


def test_a_name_that_is_registered_may_not_come_with_another_dmi_uuid(
    server: SimulatedKatello, register: Register, stranger: Client
) -> None:
    first = register("one.example")
    server.behave(host_profile_assume=False)

    answer = stranger.ask("POST", REGISTER, described("one.example"))

    assert answer.status == 422
    assert "DMI UUID that differs" in answer.json["displayMessage"]
    server.behave(host_profile_assume=True)
    assert stranger.ask("POST", REGISTER, described("one.example")).status == 200
    assert first.ask("GET").status == 410


def test_content_needs_certificates_of_version_3(register: Register) -> None:
    host = register("one.example", system__certificate_version=None)

    answer = host.ask("GET", "/accessible_content")

    assert answer.status == 400
    assert answer.json["displayMessage"] == "Cannot retrieve content access certificate"


def test_a_host_without_a_name_makes_katello_fail(stranger: Client) -> None:
    nameless = described("x", network__hostname=None, network__fqdn=None)

    assert stranger.ask("POST", REGISTER, nameless).status == 500


def test_nobody_registers_while_candlepin_is_suspended(
    server: SimulatedKatello, stranger: Client
) -> None:
    server.behave(candlepin_mode="SUSPEND")

    answer = stranger.ask("POST", REGISTER, described("one.example"))

    assert answer.status == 500
    assert answer.json["displayMessage"] == "Unable to register system, not all services available"
    assert stranger.ask("GET", "/rhsm/status").json["mode"] == "SUSPEND"
