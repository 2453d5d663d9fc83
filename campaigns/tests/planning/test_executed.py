"""What an author wrote is executed only with rights of a login that an admin of the team has confirmed."""

import pytest
from django.urls import reverse

from campaigns.kinds.registry import all_kinds
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import AuditEvent, Campaign, Target
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.launch_checks import ask_rights_at, planned_by
from campaigns.planning.preview import preview
from campaigns.targets.rights import confirm_rights, is_confirmed, withdraw_rights
from campaigns.targets.saving import save_target
from campaigns.tests.browsing import Page, browser, person
from campaigns.tests.people import somebody
from campaigns.tests.rest import api, own_rates, owner, token
from campaigns.tests.targets.executing import Executing
from campaigns.tests.toy import definition, worker

__all__ = ["api", "browser", "own_rates", "owner", "person", "token", "worker"]

pytestmark = pytest.mark.django_db
REFUSED = "has rights beyond the server: superuser"


@pytest.fixture
def kind(target, monkeypatch):
    driver = Executing()
    monkeypatch.setitem(all_kinds(), "executing", driver)
    return driver


@pytest.fixture
def admin(db):
    return somebody("the admin")


def written(target, **changes):
    parameters = {"path": "/a", "note": "COPY x TO PROGRAM 'id'"}
    return definition(kind="executing", target=target.pk, parameters=parameters) | changes


def drafted(target, **changes):
    return drafts.create(check(written(target, **changes)), None)


def asked(campaign):
    ask_rights_at(planned_by(campaign))
    return Campaign.objects.get(pk=campaign.pk)


def test_a_launch_waits_until_an_admin_has_confirmed_the_rights(kind, target, admin):
    campaign = asked(drafted(target))

    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.launch(campaign, None)
    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.try_one(campaign, None)

    confirm_rights(target, ["superuser"], admin)
    assert lifecycle.launch(campaign, None).state == Campaign.State.RUNNING
    event = AuditEvent.objects.get(action="rights_confirmed")
    assert (event.user, event.details["rights"], event.details["username"]) == (
        admin,
        ["superuser"],
        "tester",
    )


def test_what_was_launched_is_not_resumed_extended_or_run_again_without_it(kind, target, admin):
    campaign = asked(drafted(target))
    confirm_rights(target, ["superuser"], admin)
    campaign = lifecycle.launch(campaign, None)
    campaign.runs.filter(position=1).update(state="void")
    lifecycle.pause(campaign)
    withdraw_rights(target, admin)

    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.resume(campaign)
    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.extend(campaign, 1, None)
    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.run_again(campaign.runs.get(position=1), None)
    assert AuditEvent.objects.filter(action="rights_withdrawn").count() == 1


def test_a_campaign_in_which_its_author_wrote_nothing_needs_no_confirmation(kind, target):
    campaign = asked(drafted(target, parameters={"path": "/a"}))

    assert lifecycle.launch(campaign, None).state == Campaign.State.RUNNING


def test_one_cell_in_which_its_author_wrote_something_is_enough(kind, target, monkeypatch):
    monkeypatch.setattr(Executing, "factors", (*Executing.factors, "note"))
    varied = written(target, parameters={"path": "/a"}, factors={"note": ["nothing", "SELECT 1"]})
    campaign = asked(drafts.create(check(varied | {"order": "interleaved"}), None))

    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.launch(campaign, None)


def test_a_login_without_rights_needs_no_confirmation(kind, target):
    kind.found = ()

    assert lifecycle.launch(asked(drafted(target)), None).state == Campaign.State.RUNNING


def test_a_server_that_does_not_answer_keeps_what_was_known(kind, target):
    asked(drafted(target))
    kind.found = None

    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.launch(asked(drafted(target)), None)


@pytest.mark.parametrize(
    "change",
    [
        {"username": "another"},
        {"base_url": "http://127.0.0.1:9/other"},
        {"base_url": "http://127.0.0.1:10", "password": "correct horse battery"},
    ],
)
def test_another_login_or_address_ends_a_confirmation(kind, target, admin, change):
    asked(drafted(target))
    target.refresh_from_db()
    confirm_rights(target, ["superuser"], admin)
    target.refresh_from_db()
    assert is_confirmed(target)

    saved = save_target(changed(target) | change, target)

    assert saved.rights is None
    with pytest.raises(NotPossible, match=REFUSED):
        lifecycle.launch(asked(drafted(saved)), None)


def changed(target):
    names = ("name", "family", "base_url", "username")
    return {name: getattr(target, name) for name in names} | {"confirm_address": True}


def test_a_note_about_a_target_leaves_its_confirmation(kind, target, admin):
    asked(drafted(target))
    confirm_rights(target, ["superuser"], admin)
    target.refresh_from_db()

    saved = save_target(changed(target) | {"notes": "a note"}, target)

    assert saved.rights == ["superuser"]
    assert is_confirmed(saved)


@pytest.mark.parametrize("now", [("superuser", "dblink"), ("dblink",)])
def test_another_set_of_rights_ends_a_confirmation(kind, target, admin, now):
    kind.found = ("superuser",) if "superuser" in now else ("dblink", "superuser")
    asked(drafted(target))
    target.refresh_from_db()
    confirm_rights(target, list(kind.found), admin)
    kind.found = now

    with pytest.raises(NotPossible, match=f"beyond the server: {', '.join(now)}"):
        lifecycle.launch(asked(drafted(target)), None)


def test_what_was_not_shown_is_not_confirmed(kind, target, admin):
    asked(drafted(target))

    for rights in ([], ["dblink"], ["superuser", "dblink"]):
        with pytest.raises(Invalid, match="The rights of its login are: superuser"):
            confirm_rights(target, rights, admin)


@pytest.mark.parametrize("role", ["operator", "author", "reviewer"])
def test_only_an_admin_confirms(kind, target, role):
    asked(drafted(target))

    with pytest.raises(NotAllowed):
        confirm_rights(target, ["superuser"], somebody("them", role))


def test_the_preview_says_so_before_anything_is_launched(kind, target):
    asked(drafted(target))

    texts = [text for _, text in preview(check(written(target))).found]

    assert any(REFUSED in text and "let an admin of the team" in text for text in texts)


def test_the_browser_shows_and_confirms_them_beside_the_script(kind, target, browser, worker):
    campaign = drafted(target)
    page = reverse("campaign", args=[campaign.pk])
    launch = reverse("campaign-launch", args=[campaign.pk])

    assert REFUSED in Page(browser.post(launch, follow=True)).text
    shown = Page(browser.get(page))
    assert [each["value"] for each in shown.named("rights")] == ["superuser"]

    given = {"rights": ["superuser"], "campaign": campaign.pk}
    answer = browser.post(reverse("target-rights", args=[target.pk]), given)
    assert answer["Location"] == page
    assert "The admin" not in Page(browser.get(page)).text
    browser.post(launch)
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING


def test_the_page_of_the_target_shows_confirms_and_withdraws(kind, target, browser, person):
    asked(drafted(target))
    page, act = reverse("target", args=[target.pk]), reverse("target-rights", args=[target.pk])

    assert "not confirmed" in Page(browser.get(page)).text
    assert browser.post(act, {"rights": ["superuser"]})["Location"] == page
    assert f"{person} confirmed superuser of the user “tester”" in Page(browser.get(page)).text
    browser.post(act, {"act": "withdraw"})
    assert "not confirmed" in Page(browser.get(page)).text
    assert "are confirmed" in Page(browser.post(act, {"act": "withdraw"}, follow=True)).text
    assert "The rights of its login are" in Page(browser.post(act, {}, follow=True)).text


def test_rest_refuses_tells_and_confirms(kind, target, api, worker):
    status, refused = api.post("campaigns", written(target) | {"launch": True})
    assert (status, Campaign.objects.count()) == (409, 0)
    assert REFUSED in refused["detail"]
    _, known = api.get(f"targets/{target.pk}")
    assert (known["rights"], known["confirmed_rights"]) == (["superuser"], None)
    _, draft = api.post("campaigns", written(target))
    assert api.post(f"campaigns/{draft['id']}/launch", {})[0] == 409
    assert api.post(f"campaigns/{draft['id']}/try", {})[0] == 409

    place = f"targets/{target.pk}"
    assert api.post(f"{place}/confirm-rights", {"rights": ["dblink"]})[0] == 400
    status, body = api.post(f"{place}/confirm-rights", {"rights": ["superuser"]})
    assert (status, body["confirmed_rights"]["holds"]) == (200, True)
    assert body["confirmed_rights"]["confirmed_by"] == "owner"
    assert api.post(f"campaigns/{draft['id']}/launch", {})[0] == 200

    assert api.post(f"{place}/withdraw-rights")[1]["confirmed_rights"] is None
    assert api.post(f"{place}/withdraw-rights")[0] == 409
    assert api.get("targets")[1]["results"][0]["confirmed_rights"] is None


def test_nobody_tells_the_rights_of_a_target_that_somebody_sets(api, target):
    assert api.patch(f"targets/{target.pk}", {"rights": []})[0] == 400
    assert Target.objects.get().rights is None
