"""Pages of teams: members, rules, people; what somebody may not do is not offered."""

import pytest
from django.urls import reverse

from campaigns.models import Membership, Team
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


def page_of(client, who, name, *keys):
    client.force_login(who)
    return Page(client.get(reverse(name, args=keys)))


def test_an_admin_adds_a_member_changes_it_and_takes_it_out(browser, team):
    guest = somebody("guest", "viewer", team=Team.objects.create(name="Others"))

    browser.post(reverse("team-member", args=[team.pk]), {"user": "guest", "roles": ["author"]})
    made = Membership.objects.get(team=team, user=guest)
    assert made.roles == ["author"]
    browser.post(reverse("member-remove", args=[made.pk]))

    assert not Membership.objects.filter(team=team, user=guest).exists()


def test_what_is_wrong_stands_beside_its_field(browser, team):
    sent = {"user": "nobody", "roles": ["author"]}
    answer = browser.post(reverse("team-member", args=[team.pk]), sent)

    assert answer.status_code == 422
    assert "There is no account “nobody”" in Page(answer).text


def test_rules_are_saved(browser, team):
    sent = {"name": "Storage", "approvals_needed": "2", "second_for_production": "on"}
    browser.post(reverse("team-rules", args=[team.pk]), sent)

    team.refresh_from_db()
    assert (team.name, team.approvals_needed, team.second_for_production) == ("Storage", 2, True)


def test_who_may_not_manage_sees_members_and_rules_without_buttons(client, team):
    page = page_of(client, somebody("ann", "author"), "team", team.pk)

    assert "ann" in page.text
    assert not page.named("roles")
    assert "beside the author" in page.text


def test_a_viewer_is_offered_nothing_that_changes_a_draft(client, draft):
    page = page_of(client, somebody("vic", "viewer"), "campaign", draft.pk)

    actions = [attributes.get("action", "") for tag, attributes in page.elements if tag == "form"]
    comments = f"/campaigns/{draft.pk}/threads/"
    assert set(actions) <= {reverse("account_logout"), comments}


def test_an_author_edits_a_draft_and_does_not_launch_it(client, draft):
    page = page_of(client, somebody("ann", "author"), "campaign", draft.pk)

    links = {attributes.get("href") for tag, attributes in page.elements if tag == "a"}
    assert reverse("campaign-edit", args=[draft.pk]) in links
    assert reverse("campaign-launch", args=[draft.pk]) not in str(page.elements)


def test_who_is_in_no_team_is_told_so(client, django_user_model):
    page = page_of(client, django_user_model.objects.create_user("lost"), "home")

    assert "You are not in a team yet" in page.text


def test_the_owner_sees_who_is_in_no_team_first(client, django_user_model, team):
    somebody("ann", "author")
    django_user_model.objects.create_user("lost")
    root = django_user_model.objects.create_superuser("root")

    text = page_of(client, root, "people").text

    assert text.index("lost") < text.index("ann")
    assert "in no team" in text
