"""4000 virtual hosts at one mosquitto pick a job up, all of them, once."""

import pytest

from campaigns.kinds.base import Context
from campaigns.kinds.hosts.answering import answering, answering_request, unconnected
from campaigns.tests.kinds.hosts.pull_mqtt import MOSQUITTO, identities_of, mosquitto, smart_proxy
from campaigns.tests.kinds.programs.certificates import Authority

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not MOSQUITTO, reason="mosquitto is not installed"),
]
HOSTS = 4000


def test_four_thousand_hosts_pick_a_job_up(keeper, tmp_path):
    keeper.deadline_seconds = 600.0
    context: Context = keeper.context()
    authority = Authority(tmp_path, "katello")
    identities = identities_of(authority, HOSTS)
    with (
        mosquitto(tmp_path / "mosquitto", authority) as broker,
        smart_proxy(authority, broker.port) as proxy,
    ):
        request = answering_request(
            context, identities, ("127.0.0.1", broker.port), proxy.url,
            ca=authority.file.read_text(), timeout_seconds=120.0, tls_timeout_seconds=120.0,
        )  # fmt: skip
        with answering(context, request) as hosts:
            assert hosts.connected == HOSTS
            jobs = proxy.start([each.uuid for each in identities], "date")
            proxy.wait(jobs, 300.0)
            answered = hosts.end()

    assert unconnected(answered) == ""
    assert answered.failures == {}
    assert answered.scripts.total() == HOSTS
    assert len(answered.scripts) == 1
    assert list(answered.rows["exit_code"]) == [0] * HOSTS
    assert sum(answered.rows["disconnects"]) == sum(answered.rows["duplicates"]) == 0
    assert all(proxy.jobs[job].fetched == 1 for job in jobs)
