"""What goes wrong on the way of a host, on the real simulator: one failure a host, no retry, one resend."""

import pytest

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.wire import Answer
from campaigns.kinds.registration.program.answers import Known, take
from campaigns.tests.kinds.registration.program.recording import recording

pytestmark = pytest.mark.system


def test_a_dropped_kept_connection_is_answered_by_one_resend_on_a_new_one(katello, run):
    katello.drops.add("GET serials")

    outcome = run()

    assert outcome.result["hosts_done"] == 1, outcome.result["examples"]
    assert outcome.samples["retries"] == [1]
    asked = [(each.connection, each.path.rpartition("/")[2]) for each in katello.asked]
    assert asked[3:5] == [(3, "serials"), (4, "serials")]
    assert {number for number, _ in asked[5:]} == {4}
    assert {each.common_name for each in katello.asked[2:]} == {outcome.samples["uuid"][0]}


def test_a_connection_that_is_dropped_at_its_first_request_is_a_failure(katello, run):
    katello.drops.add("POST consumers")

    outcome = run()

    assert outcome.result["host_failures"] == {"connect": 1}
    assert outcome.samples["retries"] == [0]
    assert outcome.samples["failed_at"] == ["consumer"]
    assert [each.method for each in katello.asked].count("POST") == 1


def test_a_second_drop_in_a_row_is_not_answered_again(katello, run):
    katello.drops |= {"GET serials"}
    katello.drops_again = True

    outcome = run()

    assert outcome.result["host_failures"] == {"connect": 1}
    assert [each.path.endswith("serials") for each in katello.asked].count(True) == 2


def test_an_answer_that_is_nested_too_deeply_is_no_json():
    deep = Answer(200, [], b"[" * 100_000, 0, 0, 0, keep_alive=False)

    with pytest.raises(LoadFailed, match="no JSON"):
        take(Known(), "consumer", deep)


@pytest.mark.parametrize(
    ("fault", "kind", "status", "words"),
    [
        ("html", "protocol", 200, "no JSON"),
        ("unavailable", "5xx", 503, "503"),
        ("empty", "5xx", 500, "500"),
        ("rate", "429", 429, "429"),
        ("unauthorized", "auth", 401, "401"),
        ("half", "protocol", 0, "mid-answer"),
        ("reset", "connect", 0, "reset"),
    ],
)
def test_each_way_to_fail_has_its_class_and_is_tried_once(
    fault, kind, status, words, tmp_path, run
):
    with recording(fault=fault, fault_on="^POST /rhsm/consumers") as katello:
        outcome = run(url=katello.url, ca=katello.ca)

    assert outcome.result["host_failures"] == {kind: 1}
    assert outcome.samples["failure"] == [kind]
    assert outcome.samples["status"] == [status]
    assert outcome.samples["failed_at"] == ["consumer"]
    assert words in outcome.samples["words"][0]
    assert [each.method for each in katello.asked].count("POST") == 1


def test_an_answer_that_does_not_come_is_a_timeout_after_the_clients_limit(run):
    # The first one: what comes before it might take as long on a busy machine.
    with recording(fault="hang", fault_on="^GET /rhsm/$") as katello:
        outcome = run(url=katello.url, ca=katello.ca, timeout_seconds=0.3)

    assert outcome.result["host_failures"] == {"timeout": 1}
    assert outcome.samples["failed_at"] == ["service"]
    assert outcome.samples["service_us"][0] >= 300_000
    assert outcome.samples["consumer_us"] == [None]


def test_resets_in_bursts_leave_the_others_alone(run):
    with recording(fault="reset", fault_on="accessible_content", fault_share=0.5) as katello:
        outcome = run(20, url=katello.url, ca=katello.ca)

    failed = outcome.result["hosts_failed"]
    assert 0 < failed < 20
    assert outcome.result["hosts_done"] == 20 - failed
    assert set(outcome.result["host_failures"]) == {"connect"}


def test_a_refused_profile_is_only_noted_as_the_client_does(run):
    with recording(fault="unavailable", fault_on="^PUT .*/profiles") as katello:
        outcome = run(url=katello.url, ca=katello.ca)

    assert outcome.result["hosts_done"] == 1
    assert outcome.samples["profile_refused"] == [1]
    assert outcome.samples["failure"] == [""]


def test_the_certificate_of_another_host_is_refused(katello, run):
    katello.swaps_certificates = True

    outcome = run(2)

    assert outcome.result["hosts_failed"] >= 1
    assert set(outcome.result["host_failures"]) == {"auth"}
    assert 403 in outcome.samples["status"]


def test_a_server_that_is_not_trusted_is_a_failure_of_tls(katello, run):
    with recording() as other:
        outcome = run(ca=other.ca)

    assert outcome.result["host_failures"] == {"tls": 1}
    assert katello.asked == []


def test_an_expired_token_ends_foremans_registration(run):
    outcome = run(
        profile="foreman-global",
        script="/register?organization_id=1&activation_keys=bench-ak",
        token="eyJhbGciOiJIUzI1NiJ9.e30.expired",  # noqa: S106  nobody made it
        organization_id=1,
    )

    assert outcome.result["host_failures"] == {"auth": 1}
    assert outcome.samples["failed_at"] == ["script"]
    assert "unauthorized" in outcome.samples["words"][0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"activation_keys": "nope"}, "Couldn't find activation key 'nope'"),
        ({"organization": "X"}, "Couldn't find Organization 'X'."),
    ],
)
def test_an_unknown_key_or_organization_is_told_in_the_servers_words(run, changes, words):
    outcome = run(**changes)

    assert outcome.result["host_failures"] == {"4xx": 1}
    assert outcome.samples["status"] == [404]
    assert words in outcome.samples["words"][0]
