"""Targets that are one server, however their URLs are typed."""

import threading

import pytest

from campaigns.kit import name_service
from campaigns.kit.errors import Invalid
from campaigns.models import Campaign, Target
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.targets import saving
from campaigns.targets.allowed import allowed_on
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

BOOK = {
    "pulp.example": {"10.0.0.5"},
    "other.example": {"10.0.0.6"},
    "many.example": {"10.0.0.5", "10.0.0.6"},
    "mapped.example": {"::ffff:10.0.0.5"},
    "here.example": {"127.0.1.1"},
    "localhost": {"127.0.0.1"},
}


@pytest.fixture(autouse=True)
def book(monkeypatch, settings, toy):
    """What names resolve to; an IP address stands for itself."""
    settings.OWNER_CONFIRMS = True
    settings.ALLOWED_ADDRESSES = "*:*"
    known = {host: frozenset(found) for host, found in BOOK.items()}

    def resolve(host):
        if host[0].isdigit() or ":" in host:
            return frozenset({host})
        if host not in known:
            raise OSError("no such name")
        return known[host]

    monkeypatch.setattr(name_service, "resolve", resolve)
    return known


def save(url, target=None, **changes):
    name = target.name if target else url
    return saving.save_target({"name": name, "family": "http", "base_url": url} | changes, target)


def launch(target):
    return lifecycle.launch(drafts.create(check(definition(target=target.pk)), None), None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://pulp.example", "https://10.0.0.5"),
        ("https://10.0.0.5", "https://pulp.example/pulp/"),
        ("https://pulp.example", "https://many.example"),
        ("https://pulp.example", "http://mapped.example:443"),
        ("http://127.0.0.1:8080", "http://127.0.0.2:8080"),
        ("http://localhost:8080", "http://[::1]:8080"),
        ("http://localhost:8080", "http://here.example:8080"),
        ("http://gone.example:8080", "http://gone.example:8080/b"),
    ],
)
def test_targets_with_a_common_ip_address_and_port_share_one_address(first, second):
    one, two = save(first), save(second)

    assert two.address == one.address
    assert "same server as" in saving.remarks_on(two, {})[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://pulp.example", "https://other.example"),
        ("https://pulp.example", "http://pulp.example"),
        ("https://gone.example", "https://away.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8081"),
    ],
)
def test_other_servers_and_other_ports_keep_their_own(first, second):
    one, two = save(first), save(second)

    assert two.address != one.address
    assert saving.remarks_on(two, {}) == []


def test_limits_and_production_mark_hold_whatever_was_typed():
    save("https://pulp.example", max_concurrency=1, is_production=True)

    allowed = allowed_on(save("https://10.0.0.5"))

    assert allowed.most_concurrent == 1
    assert allowed.production is not None


def test_a_retired_target_gives_its_address_to_nobody():
    saving.retire_target(save("https://pulp.example"))

    assert save("https://10.0.0.5").address == "10.0.0.5:443"


def test_a_target_that_is_two_others_makes_them_one():
    one, two = save("https://pulp.example"), save("https://other.example")

    both = save("https://many.example")

    two.refresh_from_db()
    assert one.address == two.address == both.address


def test_two_that_are_measured_are_not_made_one(toy):
    launch(save("https://pulp.example"))
    launch(save("https://other.example"))

    with pytest.raises(Invalid, match="both being measured"):
        save("https://many.example")


def test_what_is_measured_keeps_its_address_and_the_other_takes_it_over(toy):
    old = save("https://pulp.example")
    busy = save("https://other.example")
    launch(busy)

    both = save("https://many.example")

    old.refresh_from_db()
    assert old.address == both.address == busy.address == "other.example:443"


def test_a_target_saved_before_names_were_looked_at_is_found_when_it_is_saved_again():
    one, old = save("https://pulp.example"), save("https://10.0.0.5")
    Target.objects.filter(pk=old.pk).update(address="10.0.0.5:443")
    old.refresh_from_db()

    save("https://10.0.0.5", old, notes="looked at")

    one.refresh_from_db()
    assert one.address == old.address


def test_a_name_that_resolves_no_more_leaves_things_as_they_are(book):
    save("https://pulp.example")
    two = save("https://10.0.0.5")
    del book["pulp.example"]

    assert save("https://10.0.0.5", two).address == "pulp.example:443"


def test_a_name_that_has_moved_away_parts_them_at_the_next_save(book):
    save("https://pulp.example")
    two = save("https://10.0.0.5")
    book["pulp.example"] = frozenset({"10.0.0.9"})

    assert save("https://10.0.0.5", two).address == "10.0.0.5:443"


def test_it_does_not_part_them_while_a_campaign_goes_on(book):
    launch(save("https://pulp.example"))
    two = save("https://10.0.0.5")
    book["pulp.example"] = frozenset({"10.0.0.9"})

    assert save("https://10.0.0.5", two).address == "pulp.example:443"


def test_a_twin_neither_retires_nor_moves_while_the_server_is_measured(toy):
    campaign = launch(save("https://pulp.example"))
    twin = save("https://10.0.0.5", quiet_hours="daily 22:00-06:00")

    with pytest.raises(Invalid, match=f"{campaign.name}.*the same server.*Retire it afterwards"):
        saving.retire_target(twin)
    with pytest.raises(Invalid, match="Change its address afterwards"):
        save("https://10.0.0.6", twin)
    Campaign.objects.update(state=Campaign.State.CANCELLED, closed_at=campaign.launched_at)
    saving.retire_target(twin)


def test_a_run_is_checked_against_the_url_of_its_target_not_its_lease():
    save("https://pulp.example")
    twin = save("https://10.0.0.5")
    whole = {"kind": "downloader", "factors": {"engine": ["futures", "asyncio"]}}

    def measure(manifest):
        parameters = {"manifest": manifest, "concurrency": 2}
        return check(definition(target=twin.pk, parameters=parameters) | whole)

    assert measure("https://10.0.0.5/a/PULP_MANIFEST").campaign.target == twin
    with pytest.raises(Invalid, match=r"is not on .* \(10.0.0.5:443\)"):
        measure("https://pulp.example/a/PULP_MANIFEST")


def test_a_name_service_that_hangs_holds_nobody_up(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(name_service, "ENOUGH_SECONDS", 0.05)
    monkeypatch.setattr(name_service, "resolve", lambda host: release.wait(10) and frozenset())

    one, two = save("https://pulp.example"), save("https://10.0.0.5")

    release.set()
    assert (one.address, two.address) == ("pulp.example:443", "10.0.0.5:443")


@pytest.mark.parametrize(("password", "told"), [("admin", 1), ("sesame", 0), ("", 0)])
def test_a_password_too_short_to_be_redacted_is_told(password, told):
    sentences = saving.remarks_on(save("https://pulp.example"), {"password": password})

    assert len(sentences) == told
    assert not any(password and password in sentence for sentence in sentences)


API, CONTENT = "http://pulp.example:24817", "http://pulp.example:24816"


def test_a_pulp_is_held_together_with_the_address_of_its_content():
    """No run loads the content of a Pulp while another one syncs it."""
    at_content = save(f"{CONTENT}/pulp/content/")
    pulp = save(API, family="pulp", content_url=CONTENT)
    later = save("http://10.0.0.5:24816")

    at_content.refresh_from_db()
    assert at_content.address == pulp.address == later.address


def test_a_pulp_whose_content_gets_an_address_is_held_with_whoever_has_it():
    at_content, pulp = save(CONTENT), save(API, family="pulp")
    assert at_content.address != pulp.address

    save(API, pulp, family="pulp", content_url=CONTENT)

    at_content.refresh_from_db()
    pulp.refresh_from_db()
    assert at_content.address == pulp.address


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"family": "http"}, "Only a Pulp has one"),
        ({"content_url": "http://other.example:24816"}, "a target of its own"),
        ({"content_url": "ftp://pulp.example"}, None),
        ({"content_url": f"{CONTENT}/?x=1"}, "without"),
        ({"content_url": "http://me:secret@pulp.example:24816"}, None),
    ],
    ids=["another family", "another host", "another scheme", "query", "user"],
)
def test_a_content_url_that_cannot_be_is_refused_at_its_field(changes, words):
    with pytest.raises(Invalid, match=words) as refused:
        save(API, **{"family": "pulp", "content_url": CONTENT, **changes})

    assert list(refused.value.errors) == ["content_url"]


def test_content_is_not_moved_while_a_campaign_measures():
    pulp = save(API, family="pulp")
    launch(save("http://10.0.0.5:24817", family="http"))

    with pytest.raises(Invalid, match="Change its address afterwards"):
        save(API, pulp, family="pulp", content_url=CONTENT)
