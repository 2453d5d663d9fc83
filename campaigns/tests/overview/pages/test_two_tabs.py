"""A form that was opened twice: the second saving is refused, shows the difference, and loses nothing."""

from html.parser import HTMLParser

import pytest
from django.urls import reverse

from campaigns.accounts.notifications.channels import save_channel
from campaigns.accounts.teams import create_team
from campaigns.models import Comment, Conclusion, Membership, Team
from campaigns.planning import lifecycle, templates
from campaigns.results import archive
from campaigns.reviews.comments import begin, place_on
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.drafting import create
from campaigns.targets.settings import save_setting
from campaigns.tests.browsing import Page
from campaigns.tests.people import join, somebody
from campaigns.tests.targets.settings_server import over_http

pytestmark = pytest.mark.django_db


class Forms(HTMLParser):
    """What a browser would send of each form of a page, as it was drawn."""

    def __init__(self, response):
        super().__init__()
        self.found: list[dict[str, list[str]]] = []
        self.name = ""
        self.text: str | None = None
        self.feed(response.content.decode())

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        if tag == "form":
            self.found.append({})
        elif tag == "input" and told.get("name"):
            ticks = told.get("type") in ("checkbox", "radio")
            if not ticks or "checked" in told:
                self.add(told["name"], told.get("value", "on" if ticks else ""))
        elif tag in ("select", "textarea"):
            self.name, self.text = told["name"], "" if tag == "textarea" else None
        elif tag == "option" and self.name and "selected" in told:
            self.add(self.name, told["value"])

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.add(self.name, str(self.text).removeprefix("\n"))
            self.text = None

    def add(self, name, value):
        self.found[-1].setdefault(name, []).append(value)


def form_at(browser, address, having):
    """Open a page, and give the form that has a field of this name and value."""
    name, _, value = having.partition("=")
    forms = Forms(browser.get(address)).found
    return next(form for form in forms if name in form and (not value or value in form[name]))


def shown(response):
    """The differences that a refused form shows: label, what is stored, what was typed."""
    assert response.status_code == 409, (response.status_code, Page(response).text[:500])
    return [(each.label, each.stored, each.typed) for each in response.context["moved"].differences]


def test_a_draft_is_not_overwritten_by_the_tab_that_was_opened_before(browser, draft, person):
    address = reverse("campaign-edit", args=[draft.pk])
    mine, other = (form_at(browser, address, "question") for _ in range(2))
    browser.post(address, other | {"repetitions": "7", "act": "save"})

    refused = browser.post(address, mine | {"question": "Mine?", "act": "save"})

    assert shown(refused) == [("Repetitions", "7", "3")]
    page = Page(refused)
    assert "Mine?" in refused.content.decode()
    assert "You saved this form in another tab" in page.text
    draft.refresh_from_db()
    assert (draft.repetitions, draft.question) == (7, "Is the new engine faster?")

    again = Forms(refused).found[-1] | {"repetitions": "7", "act": "save"}
    assert browser.post(address, again).status_code == 302
    draft.refresh_from_db()
    assert (draft.repetitions, draft.question) == (7, "Mine?")


def test_levels_and_parameters_of_a_draft_are_compared_one_by_one(browser, draft):
    address = reverse("campaign-edit", args=[draft.pk])
    mine, other = (form_at(browser, address, "question") for _ in range(2))
    browser.post(address, other | {"p-path": "/b", "act": "save"})

    refused = browser.post(address, mine | {"p-note": "mine", "act": "save"})

    assert shown(refused) == [("Note", "(empty)", "mine"), ("Path", "/b", "/a")]


def test_a_stale_tab_neither_launches_nor_tries(browser, draft, worker):
    address = reverse("campaign-edit", args=[draft.pk])
    mine, other = (form_at(browser, address, "question") for _ in range(2))
    browser.post(address, other | {"repetitions": "7", "act": "save"})

    for act in ("launch", "try"):
        assert browser.post(address, mine | {"act": act}).status_code == 409

    draft.refresh_from_db()
    assert (draft.state, draft.runs.count()) == ("draft", 0)


def test_a_look_at_the_plan_keeps_the_revision_that_was_opened(browser, draft):
    address = reverse("campaign-edit", args=[draft.pk])
    mine, other = (form_at(browser, address, "question") for _ in range(2))
    browser.post(address, other | {"repetitions": "7", "act": "save"})

    looked = browser.post(address, mine | {"act": "preview"})

    assert browser.post(address, Forms(looked).found[-1] | {"act": "save"}).status_code == 409


def test_of_somebody_else_the_name_is_told(browser, draft, client):
    address = reverse("campaign-edit", args=[draft.pk])
    mine = form_at(browser, address, "question")
    client.force_login(somebody("anna"))
    other = form_at(client, address, "question")
    client.post(address, other | {"repetitions": "7", "act": "save"})

    refused = browser.post(address, mine | {"act": "save"})

    assert "anna saved this form after you opened it here" in Page(refused).text


def test_a_target_is_not_overwritten(browser, target):
    address = reverse("target-edit", args=[target.pk])
    mine, other = (form_at(browser, address, "base_url") for _ in range(2))
    other |= {"notes": "theirs", "is_production": "on", "password": "another long one"}
    assert browser.post(address, other).status_code == 302

    refused = browser.post(address, mine | {"notes": "mine", "hardware": "8 cores"})

    assert set(shown(refused)) == {
        ("Notes", "theirs", "mine"),
        ("This is a production server", "yes", "no"),
        ("Password", "(changed; not shown)", ""),
    }
    assert "8 cores" in refused.content.decode()
    assert "another long one" not in refused.content.decode()
    target.refresh_from_db()
    assert (target.notes, target.is_production) == ("theirs", True)
    assert browser.post(address, Forms(refused).found[-1]).status_code == 302


def test_a_setting_is_not_overwritten(browser, target, person):
    save_setting(over_http("puma_workers", unit="workers"), target, person)
    address = reverse("setting-edit", args=[target.pk, "puma_workers"])
    mine, other = (form_at(browser, address, "minimum") for _ in range(2))
    other |= {"maximum": "12", "apply_url": "/other"}
    assert browser.post(address, other).status_code == 302

    refused = browser.post(address, mine | {"label": "Mine"})

    assert shown(refused) == [
        ("Maximum", "12", mine["maximum"][0]),
        ("How it is set: URL", "/other", mine["apply_url"][0]),
    ]
    setting = target.setting_rows.get()
    assert (setting.maximum, setting.label) == (12, "")


def test_the_rules_of_a_team_are_not_overwritten(browser, person):
    person.is_superuser = True
    person.save()
    team = create_team("Storage", person)
    page, address = reverse("team", args=[team.pk]), reverse("team-rules", args=[team.pk])
    mine, other = (form_at(browser, page, "approvals_needed") for _ in range(2))
    browser.post(address, other | {"approvals_needed": "3"})

    refused = browser.post(address, mine | {"name": "Disks"})

    assert shown(refused) == [("Approvals needed", "3", "1")]
    assert Team.objects.get(pk=team.pk).name == "Storage"
    kept = next(form for form in Forms(refused).found if "approvals_needed" in form)
    assert kept["name"] == ["Disks"]
    assert browser.post(address, kept).status_code == 302


def test_the_roles_of_a_member_are_not_overwritten(browser, person):
    team = create_team_of(person)
    member = join(somebody("other"), "viewer", team=team)
    page, address = reverse("team", args=[team.pk]), reverse("team-member", args=[team.pk])
    mine, other = (form_at(browser, page, "user=other") for _ in range(2))
    browser.post(address, other | {"roles": ["operator"]})

    refused = browser.post(address, mine | {"roles": ["reviewer"]})

    assert shown(refused) == [("Roles of other", "operator", "reviewer")]
    member.refresh_from_db()
    assert member.roles == ["operator"]
    kept = next(form for form in Forms(refused).found if form.get("user") == ["other"])
    assert kept["roles"] == ["reviewer"]
    assert browser.post(address, kept).status_code == 302
    assert Membership.objects.get(pk=member.pk).roles == ["reviewer"]


def create_team_of(person):
    person.is_superuser = True
    person.save()
    return create_team("Storage", person)


def test_a_template_is_not_overwritten(browser, draft, person):
    template = templates.make_template(draft, {"name": "Engines", "notes": ""}, person)
    address = reverse("template-edit", args=[template.pk])
    mine, other = (form_at(browser, address, "notes") for _ in range(2))
    browser.post(address, other | {"notes": "Monthly."})

    refused = browser.post(address, mine | {"name": "Motors"})

    assert shown(refused) == [("Notes", "Monthly.", "(empty)")]
    template.refresh_from_db()
    assert template.name == "Engines"


def test_the_rule_of_samples_is_not_overwritten(browser, person):
    team = create_team_of(person)
    page, address = reverse("storage"), reverse("storage-rule", args=[team.pk])
    mine = form_at(browser, page, "keep_samples_days")
    archive.keep_samples(team, 30, person)

    refused = browser.post(address, mine | {"keep_samples_days": "7"})

    assert refused.status_code == 409
    assert archive.kept_days(team) == 30
    text = Page(refused).text
    assert "Keep raw samples for" in text
    assert "30 7" in text


def test_a_channel_is_not_overwritten(browser, person, settings):
    settings.NOTIFICATION_ADDRESSES = "hooks.example:443"
    row, _ = save_channel(
        {"name": "ci", "kind": "webhook", "address": "https://hooks.example/secret"}, person
    )
    page, address = reverse("notifications"), reverse("channel-edit", args=[row.pk])
    mine, other = (form_at(browser, page, f"{row.pk}-name") for _ in range(2))
    browser.post(address, other | {f"{row.pk}-name": "builds", "kinds": ["campaign_finished"]})

    refused = browser.post(address, mine | {"kinds": []})

    text = Page(refused).text
    assert refused.status_code == 409
    assert "Name builds ci" in text
    row.refresh_from_db()
    assert (row.name, row.kinds) == ("builds", ["campaign_finished"])


def test_a_conclusion_is_not_overwritten(browser, draft, person, worker):
    campaign = lifecycle.launch(draft, person)
    made = create(person, Content("20 wins.", [Cited(campaign.pk)]))
    address = reverse("conclusion-edit", args=[made.pk])
    mine, other = (form_at(browser, address, "claim") for _ in range(2))
    browser.post(address, other | {"claim": "24 wins."})

    refused = browser.post(address, mine | {"limits": "Small files."})

    assert shown(refused) == [("Claim", "24 wins.", "20 wins.")]
    assert "Small files." in refused.content.decode()
    assert Conclusion.objects.get().limits == ""


def test_a_comment_is_not_overwritten(browser, draft, person):
    said = begin(place_on(draft), "First.", person)
    address = reverse("comment-edit", args=[said.comment.pk])
    mine, other = (form_at(browser, address, "text") for _ in range(2))
    browser.post(address, other | {"text": "Second.", "act": "post"})

    refused = browser.post(address, mine | {"text": "Third.", "act": "post"})

    assert refused.status_code == 409
    assert "Its text is now: “Second.”" in Page(refused).text
    assert "Third." in refused.content.decode()
    assert Comment.objects.get().text == "Second."
    kept = next(form for form in Forms(refused).found if "text" in form) | {"act": "post"}
    assert browser.post(address, kept).status_code == 302


def test_an_amendment_of_the_same_field_is_not_overwritten(browser, draft, person, worker):
    campaign = lifecycle.launch(draft, person)
    address = reverse("campaign-amend", args=[campaign.pk])
    mine, other, third = (form_at(browser, address, "margin_percent") for _ in range(3))
    why = {"reason": "It was too narrow."}
    assert browser.post(address, other | why | {"margin_percent": "4"}).status_code == 302

    refused = browser.post(address, mine | why | {"margin_percent": "6"})

    assert shown(refused) == [("Equivalence margin", "4", "6")]
    assert browser.post(address, third | why | {"question": "And now?"}).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.margin, campaign.question) == (0.04, "And now?")
