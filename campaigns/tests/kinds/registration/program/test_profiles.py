"""The tables of requests, as they were recorded; and what they look like on the wire of the simulator."""

import json
import re

import pytest

from campaigns.kinds.registration.program import profiles
from campaigns.kinds.registration.program.identities import stored_identities
from campaigns.kinds.registration.program.sequence import columns_of
from campaigns.kinds.servers.foreman_hosts import BEARER, URL_IN_QUOTES

pytestmark = pytest.mark.system

SUBSCRIPTION = [
    "Content-type", "Accept", "x-subscription-manager-version", "X-Correlation-ID",
    "Accept-Language", "User-Agent", "Content-Length",
]  # fmt: skip
BEFORE = [
    ("GET", "/rhsm/"),
    ("POST", "/rhsm/consumers?owner=ACME&activation_keys=bench-ak,more-ak"),
]
WITH_CERTIFICATE = [
    ("GET", "/rhsm/status"),
    ("GET", "/rhsm/consumers/UUID/certificates/serials"),
    ("GET", "/rhsm/consumers/UUID/certificates?serials=SERIAL"),
    ("GET", "/rhsm/status"),
    ("GET", "/rhsm/consumers/UUID/accessible_content"),
    ("GET", "/rhsm/consumers/UUID/content_overrides"),
]
UPLOAD = [("GET", "/rhsm/status"), ("PUT", "/rhsm/consumers/UUID/profiles")]
COMPLIANCE = [("GET", "/rhsm/consumers/UUID/compliance")] * 4


def review_requests(katello):
    """Methods and paths, with the host's own parts named."""
    found = []
    for each in katello.asked:
        path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", each.path)
        found.append((each.method, re.sub(r"serials=\d+", "serials=SERIAL", path)))
    return found


def test_1_30_asks_what_was_recorded_on_three_connections(katello, run):
    outcome = run()

    assert outcome.result["hosts_done"] == 1, outcome.result["examples"]
    assert review_requests(katello) == BEFORE + WITH_CERTIFICATE + UPLOAD
    assert [each.connection for each in katello.asked] == [1, 2, *[3] * 8]


def test_1_29_asks_for_compliance_on_a_fourth_connection_and_uploads_nothing(katello, run):
    outcome = run(profile="rhsm-1.29")

    assert outcome.result["hosts_done"] == 1, outcome.result["examples"]
    assert review_requests(katello) == BEFORE + WITH_CERTIFICATE + COMPLIANCE
    assert [each.connection for each in katello.asked] == [1, 2, *[3] * 8, 4, 4]


def test_the_certificate_of_the_second_step_is_shown_from_the_third_on(katello, run):
    uuid = run().samples["uuid"][0]

    assert [each.common_name for each in katello.asked] == ["", "", *[uuid] * 8]


@pytest.mark.parametrize("profile", [profiles.RHSM_130, profiles.RHSM_129])
def test_each_request_has_the_headers_of_its_client(katello, run, profile):
    run(profile=profile.name)

    numbers = {each.header("X-Correlation-ID") for each in katello.asked}
    seen: set[int] = set()
    for each in katello.asked:
        kept = ["Connection"] if each.connection in seen else []
        seen.add(each.connection)
        assert each.names == ["Host", *SUBSCRIPTION, *kept]
        assert each.header("Content-type") == each.header("Accept") == "application/json"
        assert each.header("x-subscription-manager-version") == profile.version
        assert each.header("User-Agent") == (
            "RHSM/1.0 (cmd=subscription-manager) subscription-manager/" + profile.version
        )
        assert each.header("Accept-Language") == "en-us"
        assert each.header("Content-Length") == str(len(each.body))
        assert each.header("Connection") == ("keep-alive" if kept else None)
    assert len(numbers) == 1
    assert re.fullmatch("[0-9a-f]{32}", numbers.pop() or "")


def test_the_consumer_says_what_katello_needs(katello, run):
    run(hosts=2)

    sent = [json.loads(each.body) for each in katello.asked if each.method == "POST"]
    for body in sent:
        facts = body["facts"]
        assert list(body) == ["type", "name", "facts", "installedProducts", "contentTags", "role",
                              "addOns", "usage", "serviceLevel"]  # fmt: skip
        assert body["type"] == "system"
        assert facts["system.certificate_version"] == "3.2"
        assert facts["network.hostname"] == facts["network.fqdn"] == body["name"]
        assert facts["uname.nodename"] == body["name"]
    assert len({body["facts"]["dmi.system.uuid"] for body in sent}) == 2
    assert {body["name"] for body in sent} == {
        "perfdash-test-00000.perfdash.example",
        "perfdash-test-00001.perfdash.example",
    }


def test_the_profile_holds_packages_repositories_and_modules(katello, run):
    run(packages=37)

    rpm, repositories, modules = json.loads(katello.asked[-1].body)
    assert [each["content_type"] for each in (rpm, repositories, modules)] == [
        "rpm",
        "enabled_repos",
        "modulemd",
    ]
    assert len({(each["name"], each["arch"]) for each in rpm["profile"]}) == 37
    assert list(rpm["profile"][0]) == ["name", "version", "release", "arch", "epoch", "vendor"]


def test_foremans_registration_adds_a_script_before_and_two_requests_after(katello, run):
    command = katello.command()
    found, token = URL_IN_QUOTES.search(command), BEARER.search(command)
    assert found
    assert token
    script = found[1].removeprefix(katello.url.rstrip("/"))

    outcome = run(profile="foreman-global", script=script, token=token[1], organization_id=1)

    assert outcome.result["hosts_done"] == 1, outcome.result["examples"]
    middle = BEFORE + WITH_CERTIFICATE + UPLOAD
    asked = review_requests(katello)
    assert asked[0] == ("GET", script)
    assert asked[1:-2] == middle
    assert asked[-2] == ("POST", "/register")
    assert asked[-1][0] == "GET"
    assert asked[-1][1].startswith("/unattended/built?token=")
    assert [each.connection for each in katello.asked] == [1, 2, 3, *[4] * 8, 5, 6]


def test_the_scripts_requests_are_curls_with_a_new_token_for_the_second(katello, run):
    command = katello.command()
    found, token = URL_IN_QUOTES.search(command), BEARER.search(command)
    assert found
    assert token
    script = found[1].removeprefix(katello.url.rstrip("/"))

    outcome = run(profile="foreman-global", script=script, token=token[1], organization_id=1)

    first, second, last = katello.asked[0], katello.asked[-2], katello.asked[-1]
    assert first.names == ["Host", "User-Agent", "Accept", "Authorization"]
    assert first.header("Authorization") == f"Bearer {token[1]}"
    assert second.header("Authorization") not in (None, first.header("Authorization"))
    assert second.header("Content-Type") == "application/x-www-form-urlencoded"
    assert second.body.decode() == (
        f"uuid={outcome.samples['uuid'][0]}&host[build]=false&host[organization_id]=1"
        "&setup_insights=false&setup_remote_execution=true"
    )
    assert last.names == ["Host", "User-Agent", "Accept"]
    assert {each.common_name for each in (first, second, last)} == {""}


def test_a_server_without_the_rel_packages_gets_no_profile(katello, run):
    katello.without_packages = True

    outcome = run()

    assert outcome.result["hosts_done"] == 1, outcome.result["examples"]
    assert review_requests(katello) == BEFORE + WITH_CERTIFICATE
    assert outcome.samples["profile_us"] == [None]


def test_the_steps_of_a_host_take_all_of_its_time(run):
    rows = run(hosts=3).samples

    names = [f"{name}_us" for name in columns_of(profiles.RHSM_130)]
    for host in range(3):
        steps = sum(rows[name][host] for name in names)
        assert steps == pytest.approx(rows["total_us"][host], rel=0.2, abs=5000)


@pytest.mark.parametrize("profile", [profiles.RHSM_130, profiles.RHSM_129])
def test_who_deletes_a_host_is_the_client_that_registered_it(katello, run, profile):
    run(profile=profile.name)

    run(module="campaigns.kinds.registration.program.removing", at_once=1)

    (gone,) = [each for each in katello.asked if each.method == "DELETE"]
    assert gone.header("x-subscription-manager-version") == profile.version
    assert gone.header("User-Agent").endswith(f"subscription-manager/{profile.version}")


def test_what_hosts_are_known_by_is_kept_for_one_user_until_they_are_deleted(
    katello, run, tmp_path
):
    uuids = set(run(hosts=3).samples["uuid"])
    kept = list(stored_identities(tmp_path))

    assert {each.uuid for each in kept} == uuids
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.glob("identities-*"))
    assert "PRIVATE KEY" not in repr(kept)

    removed = run(hosts=3, module="campaigns.kinds.registration.program.removing", at_once=2)

    assert removed.result["hosts_done"] == 3
    assert katello.consumers() == 0
    gone = [each for each in katello.asked if each.method == "DELETE"]
    assert {each.common_name for each in gone} == uuids
    again = run(hosts=3, module="campaigns.kinds.registration.program.removing", at_once=2)
    assert again.result["hosts_done"] == 3
