"""What is known of a target and its feeds is checked when a campaign is saved, not by its first run."""

import pytest
from django.urls import reverse

from campaigns.kinds.registry import driver_of
from campaigns.kit.errors import Invalid
from campaigns.kit.network import NetworkError
from campaigns.kit.rights import NotAllowed
from campaigns.models import AuditEvent, Campaign, SshLogin, Target
from campaigns.planning.checking import check
from campaigns.targets.feeds import confirm_feed, rule_of_feed, withdraw_feed
from campaigns.targets.saving import rules_for
from campaigns.tests.browsing import Page, browser, person
from campaigns.tests.people import somebody
from campaigns.tests.rest import api, own_rates, owner, token

__all__ = ["api", "browser", "own_rates", "owner", "person", "token"]

pytestmark = pytest.mark.django_db
FEED = "http://127.0.0.1:8/feed/PULP_MANIFEST"


@pytest.fixture(autouse=True)
def _owner_confirms(settings):
    settings.OWNER_CONFIRMS, settings.ALLOWED_ADDRESSES = True, "127.0.0.1:9, feeds.example:443"


def made(family, **more):
    base_url = more.pop("base_url", "http://127.0.0.1:9")
    return Target.objects.create(
        name="server", family=family, base_url=base_url, address="127.0.0.1:9", **more
    )


@pytest.fixture
def pulp(db):
    return made("pulp")


def syncing(target, feed=FEED, **parameters):
    return {
        "kind": "sync",
        "question": "How long?",
        "target": target.pk,
        "parameters": {"feed": feed, **parameters},
        "repetitions": 3,
    }


def refused(data):
    with pytest.raises(Invalid) as error:
        check(data)
    return error.value.errors


def test_a_feed_that_workers_may_not_read_is_refused_before_any_sync(pulp, settings):
    errors = refused(syncing(pulp))
    assert list(errors) == ["parameters.feed"]
    assert "127.0.0.1:8 is a loopback or private address" in errors["parameters.feed"][0]
    assert "to prove that all of it was synced" in errors["parameters.feed"][0]

    settings.OWNER_CONFIRMS = False
    (why,) = refused(syncing(pulp))["parameters.feed"]
    assert "Workers may not connect to 127.0.0.1 port 8: no rule allows it" in why
    assert list(refused(syncing(pulp, "https://other.example/"))) == ["parameters.feed"]
    check(syncing(pulp, "https://feeds.example/"))


def test_a_broker_that_virtual_hosts_may_not_connect_to_is_refused(target):
    Target.objects.filter(pk=target.pk).update(family="katello", username="admin", rights=[])
    virtual = {
        "hosts_are": "virtual",
        "population": 1,
        "broker": "127.0.0.1:8",
        "proxy_url": "https://proxy.example",
    }
    errors = refused(
        {
            "question": "How many virtual hosts?",
            "kind": "remote_execution",
            "target": target.pk,
            "parameters": virtual,
            "repetitions": 3,
        }
    )

    (why,) = errors["parameters.broker"]
    assert "127.0.0.1:8 is a loopback or private address. The virtual hosts of a worker" in why


def test_each_level_of_a_feed_is_checked(pulp):
    data = syncing(pulp, None) | {"factors": {"feed": ["https://feeds.example/a", FEED]}}
    del data["parameters"]["feed"]

    assert list(refused(data)) == ["factors.feed"]


def test_a_number_in_the_host_makes_it_several_feeds(pulp):
    several = "http://127.0.0.{n}:9/feed"

    check(syncing(pulp, several, repositories=1))
    (why,) = refused(syncing(pulp, several, repositories=2))["parameters.feed"]
    assert why.startswith("127.0.0.2:9 is a loopback")


def test_a_feed_that_no_worker_reads_needs_no_rule(pulp):
    check(syncing(pulp, content="python/python"))


def test_a_confirmed_feed_is_read_for_this_target_alone(pulp):
    confirm_feed(pulp, FEED, somebody("them", "operator"))
    pulp.refresh_from_db()

    check(syncing(pulp))
    assert rule_of_feed(pulp, FEED) == ""
    rules_for(pulp).check("127.0.0.1", 8)
    other = Target.objects.create(
        name="other", family="pulp", base_url="http://127.0.0.1:9/", address="127.0.0.1:9"
    )
    assert list(refused(syncing(other))) == ["parameters.feed"]
    event = AuditEvent.objects.get(action="feed_confirmed")
    assert event.details["rule"] == "127.0.0.1:8"

    withdraw_feed(pulp, "127.0.0.1:8", somebody("others", "operator"))
    assert list(refused(syncing(pulp))) == ["parameters.feed"]
    with pytest.raises(Invalid, match="are: none"):
        withdraw_feed(pulp, "127.0.0.1:8", somebody("more", "operator"))


def test_an_installation_without_owners_reads_no_confirmed_feed(pulp, settings):
    confirm_feed(pulp, FEED, somebody("them", "operator"))
    settings.OWNER_CONFIRMS = False
    pulp.refresh_from_db()

    with pytest.raises(NetworkError):
        rules_for(pulp).check("127.0.0.1", 8)


@pytest.mark.parametrize("url", ["http://10.0.0.300/", "http://169.254.169.254/x", "ftp://a/b"])
def test_what_no_owner_may_confirm_is_refused(pulp, url):
    with pytest.raises(Invalid):
        confirm_feed(pulp, url, somebody("them", "operator"))


def test_an_author_confirms_no_feed(pulp):
    with pytest.raises(NotAllowed):
        confirm_feed(pulp, FEED, somebody("them", "author"))


def typed(target, **more):
    return {
        "kind": "sync",
        "question": "How long?",
        "target": target.pk,
        "order": "interleaved",
        "repetitions": "3",
        "p-feed": FEED,
        "p-content": "file",
        "p-policy": "immediate",
        "p-sync_policy": "additive",
        "p-repositories": "1",
        "p-repeat": "first",
        "p-optimize": "on",
        "p-publish": "off",
        "act": "save",
        **more,
    }


def test_a_feed_is_confirmed_in_the_form_of_the_campaign(pulp, browser):
    new = reverse("campaign-new")

    answer = browser.post(new, typed(pulp))
    assert answer.status_code == 422
    page = Page(answer)
    (box,) = page.named("confirm-address")
    assert "127.0.0.1:8 is mine; workers may read it" in page.text

    browser.post(new, typed(pulp) | {"confirm-address": box["value"]})
    assert Campaign.objects.get().parameters["feed"] == FEED
    pulp.refresh_from_db()
    assert pulp.confirmed_feeds == ["127.0.0.1:8"]

    shown = reverse("target", args=[pulp.pk])
    assert "Feeds that workers may read 127.0.0.1:8" in Page(browser.get(shown)).text
    browser.post(reverse("target-feed", args=[pulp.pk]), {"rule": "127.0.0.1:8"})
    assert "Feeds that workers may read" not in Page(browser.get(shown)).text


def test_an_author_who_ticks_the_box_is_told_who_may(pulp, client):
    author = somebody("an author", "author")
    client.force_login(author)

    box = {"confirm-address": f"feed {FEED}"}
    answer = client.post(reverse("campaign-new"), typed(pulp) | box)

    assert answer.status_code == 422
    assert "you need the role" in Page(answer).text
    pulp.refresh_from_db()
    assert pulp.confirmed_feeds == []


def test_rest_refuses_and_confirms_a_feed(pulp, api):
    status, body = api.post("campaigns", syncing(pulp))
    assert status == 400
    assert "parameters.feed" in str(body)

    place = f"targets/{pulp.pk}"
    assert api.post(f"{place}/confirm-feed", {"url": "nothing"})[0] == 400
    status, body = api.post(f"{place}/confirm-feed", {"url": FEED})
    assert (status, body["confirmed_feeds"]) == (200, ["127.0.0.1:8"])
    assert api.post("campaigns", syncing(pulp))[0] == 201
    status, body = api.post(f"{place}/withdraw-feed", {"rule": "127.0.0.1:8"})
    assert (status, body["confirmed_feeds"]) == (200, [])
    assert api.post(f"{place}/withdraw-feed", {"rule": "127.0.0.1:8"})[0] == 400


def storing(target):
    return {
        "kind": "storage",
        "question": "Is it fast?",
        "target": target.pk,
        "parameters": {"profile": "published"},
        "repetitions": 3,
    }


def test_the_kind_storage_asks_for_the_ssh_login_when_it_is_saved():
    target = made("http")

    (why,) = refused(storing(target))["target"]
    assert "an admin gives it on the page of the target" in why
    login = SshLogin.objects.create(target=target, host="127.0.0.1", username="them", key="x")
    (why,) = refused(storing(target))["target"]
    assert "The host key of the machine of" in why
    login.host_key = "ssh-ed25519 AAAA"
    login.save()
    check(storing(target))


def test_the_kind_sql_asks_for_the_right_that_the_last_probe_missed():
    target = made("postgresql", base_url="postgresql://127.0.0.1:9/bench", username="them")
    data = storing(target) | {"kind": "sql", "parameters": {}}
    check(data)
    missed = {"name": "making a schema", "expected": "allowed", "measured": "refused"}
    target.proofs = [missed | {"unit": "", "ok": False}]
    target.save()

    (why,) = refused(data)["target"]
    assert "GRANT CREATE ON DATABASE bench TO them. Then probe the target again." in why


SIGNS_IN = "login: target\nsteps:\n- {name: look, get: /}\n"


def test_the_kind_http_asks_for_the_user_that_its_scenario_signs_in_as():
    target = made("http")
    initial = {n: f.initial for n, f in driver_of("http").parameters.base_fields.items()}
    given = {name: value for name, value in initial.items() if value is not None}
    data = storing(target) | {"kind": "http", "parameters": given | {"scenario": SIGNS_IN}}

    (why,) = refused(data)["target"]
    assert "signs in as the target's user" in why
    Target.objects.update(username="them")
    check(data)
