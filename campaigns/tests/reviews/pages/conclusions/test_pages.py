from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from django.utils.html import conditional_escape

from campaigns.findings.charts import sampling
from campaigns.kit.activity import Action, record
from campaigns.models import Campaign, Conclusion, Membership, Team
from campaigns.planning import lifecycle
from campaigns.reviews.checklist import checklist, without_word
from campaigns.reviews.drafting import create
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.sending import withdraw
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody
from campaigns.tests.reviews.conftest import content, say

pytestmark = pytest.mark.django_db


def browser(user):
    client = Client()
    client.force_login(user)
    return client


def decision(conclusion, word, **fields):
    return {
        "decision": word,
        "revision": conclusion.revision,
        "data_hash": data_hash_of(conclusion),
        "with_failed": "on",
        **fields,
    }


def test_a_new_one_is_filled_in_from_the_findings(author, campaign):
    page = Page(browser(author).get(f"/conclusions/new/?campaign={campaign.pk}&view=/campaigns/1/"))

    assert "20 is the fastest; " in page.text
    assert "Set concurrency 20" in page.text
    assert page.named("view-0")[0]["value"] == "/campaigns/1/"


def test_the_story_of_one_in_the_browser(author, reviewer, campaign):
    write, review = browser(author), browser(reviewer)
    response = write.post("/conclusions/new/", {"claim": "20 wins.", "campaign-0": campaign.pk})
    made = Conclusion.objects.get()
    assert response.url == f"/conclusions/{made.pk}/edit/"
    words = {f"word-{check.key}": "known" for check in checklist(made) if check.state != "pass"}
    stored = {"claim": "20 wins.", "campaign-0": campaign.pk, **words}
    assert write.post(response.url, stored).url == f"/conclusions/{made.pk}/"
    asked = Page(write.get(f"/conclusions/{made.pk}/send/"))
    assert [each["value"] for each in asked.named("reviewer")] == [str(reviewer.pk)]
    write.post(f"/conclusions/{made.pk}/send/", {"reviewer": reviewer.pk})
    made.refresh_from_db()

    shown = Page(review.get(f"/conclusions/{made.pk}/"))
    assert shown.named("data_hash")[0]["value"] == data_hash_of(made)
    assert "0 of 1 approval" in shown.text
    review.post(f"/conclusions/{made.pk}/decide/", decision(made, "approve"))

    assert "Accepted" in Page(write.get(f"/conclusions/{made.pk}/")).text
    result = Page(write.get(f"/campaigns/{campaign.pk}/")).text
    assert "20 wins." in result
    write.post(f"/campaigns/{campaign.pk}/runs/3/exclude/", {"reason": "The disk was full."})
    reopened = Page(review.get(f"/conclusions/{made.pk}/")).text
    assert "Re-opened automatically" in reopened
    assert "Run 3 was excluded by ann: The disk was full" in reopened
    assert "Today: " in reopened


@pytest.mark.parametrize(
    "contrast",
    [
        *('{"factor":[]}', "{}", "[]", "{", "NaN", "[" * 5000, r'{"\ud800":1}'),
        '{"factor":"concurrency","at":1}',
        '{"factor":"concurrency","candidate":' + "[" * 500 + "]" * 500 + "}",
    ],
)
def test_a_contrast_that_nobody_offered_is_refused_in_words(author, campaign, contrast):
    typed = {"claim": "20 wins.", "campaign-0": campaign.pk, "contrast-0": contrast}

    response = browser(author).post("/conclusions/new/", typed)

    assert response.status_code == 422
    assert "Name a factor" in Page(response).text or "is no level of" in Page(response).text


def test_what_was_written_on_a_check_that_vanished_stays_to_be_read(draft, author):
    client = browser(author)
    typed = {"claim": "20 wins.", "campaign-0": draft.evidence.get().campaign_id}
    words = {
        "word-stand_in-99": "We know\nthis server.",
        "word-gone-9": "And this.",
        "word-x-1": "",
    }

    response = client.post(f"/conclusions/{draft.pk}/edit/", {**typed, **words})

    page = Page(response)
    assert response.status_code == 422
    assert "“Simulator” needs no justification any more" in page.text
    assert "We know this server." in page.text
    assert "And this." in page.text
    assert page.named("word-stand_in-99") == []
    names = [str(each["name"]) for tag, each in page.elements if tag == "textarea"]
    kept = {name: "known" for name in names if name.startswith("word-")}
    kept["word-stand_in-99"] = ""  # nothing was said of it
    assert client.post(f"/conclusions/{draft.pk}/edit/", {**typed, **kept}).status_code == 302


def test_a_stale_page_is_refused_in_words(sent, author, reviewer):
    before = decision(sent, "approve")
    withdraw(sent.pk, author)
    browser(author).post(f"/conclusions/{sent.pk}/send/", {"reviewer": reviewer.pk})

    response = browser(reviewer).post(f"/conclusions/{sent.pk}/decide/", before, follow=True)

    assert "You looked at revision 1, and revision 2 is in review" in Page(response).text
    assert not sent.decisions.exists()


def test_the_author_has_no_form_to_decide_with_and_is_refused_without(sent, author):
    Membership.objects.filter(user=author).update(roles=["admin"])
    client = browser(author)

    assert (
        "You edited this, so someone else must review it"
        in Page(client.get(f"/conclusions/{sent.pk}/")).text
    )
    response = client.post(
        f"/conclusions/{sent.pk}/decide/", decision(sent, "approve"), follow=True
    )

    assert "You are its author" in Page(response).text


@pytest.mark.parametrize("step", ["", "edit/", "send/"])
def test_a_stranger_finds_nothing(draft, step):
    stranger = somebody("sam", "admin", team=Team.objects.create(name="others"))

    assert browser(stranger).get(f"/conclusions/{draft.pk}/{step}").status_code == 404


def test_whoever_does_not_see_all_evidence_sees_nothing(draft, author, campaign, reviewer):
    elsewhere = Team.objects.create(name="others")
    type(campaign).objects.filter(pk=campaign.pk).update(team=elsewhere)

    assert browser(reviewer).get(f"/conclusions/{draft.pk}/").status_code == 404
    assert "20 connections" not in Page(browser(reviewer).get("/conclusions/")).text
    assert browser(reviewer).get(f"/conclusions/{draft.pk}/report/").status_code == 404


def test_a_viewer_may_look_and_nothing_else(sent):
    viewer = browser(somebody("vic", "viewer"))

    assert viewer.get(f"/conclusions/{sent.pk}/").status_code == 200
    assert viewer.get(f"/conclusions/{sent.pk}/edit/").status_code == 403
    assert viewer.post(f"/conclusions/{sent.pk}/withdraw/").status_code == 403
    assert (
        viewer.post(f"/conclusions/{sent.pk}/decide/", decision(sent, "approve")).status_code == 403
    )


def test_markup_in_every_field_is_text(author, campaign):
    evil = "<script>alert(1)</script>"
    client = browser(author)
    client.post(
        "/conclusions/new/",
        {"claim": evil, "recommendation": evil, "limits": evil, "campaign-0": campaign.pk},
    )
    made = Conclusion.objects.get()

    for address in (f"/conclusions/{made.pk}/", "/conclusions/", f"/campaigns/{campaign.pk}/"):
        assert b"<script>alert" not in client.get(address).content


def test_the_list_is_filtered(sent, author, reviewer):
    text = "20 connections are fastest."

    assert text in Page(browser(reviewer).get("/conclusions/?whose=waiting")).text
    assert text in Page(browser(author).get("/conclusions/?whose=mine&state=in_review")).text
    assert text not in Page(browser(author).get("/conclusions/?state=accepted")).text
    assert text not in Page(browser(reviewer).get("/conclusions/?whose=mine")).text
    assert text not in Page(browser(author).get("/conclusions/?team=zero")).text


@pytest.mark.parametrize(
    "sent_fields", [{}, {"decision": "approve"}, {"decision": "x", "revision": "1"}]
)
def test_a_decision_without_words_is_asked_for_again(sent, reviewer, sent_fields):
    response = browser(reviewer).post(f"/conclusions/{sent.pk}/decide/", sent_fields, follow=True)

    assert "Choose to approve" in Page(response).text


def test_wrong_input_comes_back_with_what_was_typed(author, campaign):
    response = browser(author).post(
        "/conclusions/new/",
        {
            "claim": "",
            "limits": "small files",
            "campaign-0": campaign.pk,
            "view-0": "javascript:alert(1)",
            "contrast-0": "{",
        },
    )

    page = Page(response)
    assert response.status_code == 422
    assert "Say in a sentence what you claim." in page.text
    assert "Give the address of a campaign" in page.text
    assert "small files" in page.text


def test_a_rejection_tells_why(sent, reviewer, author):
    say(sent, reviewer, "reject", reason="Nobody runs this.")

    text = Page(browser(author).get(f"/conclusions/{sent.pk}/")).text
    assert "Rejected. Nobody runs this." in text


def test_a_page_of_one_that_supersedes_begins_with_its_text(sent, reviewer, author, campaign):
    say(sent, reviewer)

    page = Page(browser(author).get(f"/conclusions/new/?supersedes={sent.pk}"))

    assert page.named("supersedes")[0]["value"] == str(sent.pk)
    assert "20 connections are fastest." in page.text


def test_a_run_that_is_excluded_and_let_count_again_before_anybody_looked_changes_nothing(
    sent, campaign, author
):
    lifecycle.exclude(campaign.runs.get(position=1), author, "x")
    browser(author).post(f"/campaigns/{campaign.pk}/runs/1/include/")

    sent.refresh_from_db()
    assert sent.state == "in_review"


def test_nobody_is_sent_to_review_without_somebody_asked(draft, author):
    response = browser(author).post(f"/conclusions/{draft.pk}/send/", {})

    assert response.status_code == 422
    assert "Choose a reviewer" in Page(response).text


def test_the_only_reviewer_is_chosen_already(draft, author, reviewer):
    page = Page(browser(author).get(f"/conclusions/{draft.pk}/send/"))

    assert [(box["value"], "checked" in box) for box in page.named("reviewer")] == [
        (str(reviewer.pk), True)
    ]


def test_the_history_names_a_check_by_its_title(draft, author, campaign):
    check = f"stand_in-{campaign.pk}"
    record(Action.WARNING_JUSTIFIED, user=author, subject=draft, check=check, text="It is known.")

    assert (
        "answered a warning: Simulator: It is known."
        in Page(browser(author).get(f"/conclusions/{draft.pk}/")).text
    )


def test_who_approved_before_confirms_on_the_page(sent, reviewer):
    Team.objects.update(approvals_needed=2)
    client, address = browser(reviewer), reverse("conclusion", args=[sent.pk])
    decide = reverse("conclusion-decide", args=[sent.pk])
    client.post(decide, decision(sent, "approve"))
    assert "decisions are final" in Page(client.get(address)).text
    Team.objects.update(approvals_needed=1)

    assert "Confirm your approval" in Page(client.get(address)).text
    client.post(decide, decision(sent, "approve"))

    assert Conclusion.objects.get(pk=sent.pk).state == "accepted"


@pytest.fixture
def imported(campaign):
    """Results that were measured elsewhere: no proof, no health, no environment came with them."""
    Campaign.objects.filter(pk=campaign.pk).update(source="results.csv")
    campaign.refresh_from_db()
    return campaign


def word_fields(page):
    return [
        str(given["name"])
        for tag, given in page.elements
        if tag == "textarea" and str(given["name"]).startswith("word-")
    ]


def test_warnings_of_one_cause_are_answered_once_and_each_keeps_its_text(author, imported):
    made = create(author, content(imported))
    client, address = browser(author), f"/conclusions/{made.pk}/edit/"
    warned = {check.key: check for check in checklist(made) if check.state != "pass"}
    elsewhere = [key for key, check in warned.items() if check.cause == "elsewhere"]

    page = Page(client.get(address))

    assert len(elsewhere) == 3
    fields = word_fields(page)
    assert f"word-{','.join(elsewhere)}" in fields
    assert len(fields) <= len(warned) - 2
    assert "Measured elsewhere, and not recorded there" in page.text
    typed = {"claim": "20 wins.", "campaign-0": imported.pk}
    answers = {name: f"known: {place}" for place, name in enumerate(fields)}
    assert client.post(address, {**typed, **answers}).status_code == 302
    words = {word.check_name: word for word in made.words.all()}
    assert words.keys() == warned.keys()
    assert {words[key].text for key in elsewhere} == {answers[f"word-{','.join(elsewhere)}"]}
    assert all(words[key].about == check.about for key, check in warned.items())
    assert without_word(made, checklist(made)) == []
    shown = Page(client.get(f"/conclusions/{made.pk}/")).text
    assert "on these 3 (measured elsewhere, and not recorded there)" in shown


def test_one_text_is_on_the_warnings_that_the_page_listed_and_on_no_other(author, imported):
    made = create(author, content(imported))
    client, address = browser(author), f"/conclusions/{made.pk}/edit/"
    several = max(word_fields(Page(client.get(address))), key=len)
    listed = several.removeprefix("word-").split(",")
    typed = {"claim": "20 wins.", "campaign-0": imported.pk}

    client.post(address, {**typed, f"word-{','.join(listed[1:])}": "known"})

    assert listed[0] in {check.key for check in without_word(made, checklist(made))}
    page = Page(client.get(address))
    assert several in word_fields(page)
    assert "Your text does not cover this one yet." in page.text


def test_warnings_of_one_cause_with_different_texts_stay_apart(author, imported):
    made = create(author, content(imported))
    client, address = browser(author), f"/conclusions/{made.pk}/edit/"
    several = max(word_fields(Page(client.get(address))), key=len).removeprefix("word-").split(",")
    typed = {"claim": "20 wins.", "campaign-0": imported.pk}

    client.post(address, {**typed, **{f"word-{key}": f"of {key}" for key in several}})

    page = Page(client.get(address))
    assert {f"word-{key}" for key in several} <= set(word_fields(page))
    assert all(f"of {key}" in page.text for key in several)


def test_evidence_and_chart_come_first_and_the_decision_last(sent, reviewer):
    text = browser(reviewer).get(f"/conclusions/{sent.pk}/").content.decode()

    places = [
        text.index(mark)
        for mark in (
            'id="h-evidence"', '<figure class="drawing"', 'id="h-checklist"', 'id="h-review"',
            "Add a comment", 'id="h-decide"',
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert 'href="#h-decide"' in text[: places[0]]


def test_a_chart_of_the_evidence_that_leaves_runs_out_says_so(draft, author, monkeypatch):
    monkeypatch.setattr(sampling, "FEWEST_CROWDED", 3)
    monkeypatch.setattr(sampling, "FEWEST_OF_GROUP", 2)
    monkeypatch.setattr(sampling, "MOST_OF_GROUP", 2)

    page = Page(browser(author).get(f"/conclusions/{draft.pk}/"))

    assert "6 of 9 runs are drawn: up to 2 of each cell with 3 or more" in page.text


def test_no_chart_is_drawn_before_the_stop_rule_is_met(draft, author, campaign):
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.RUNNING)

    text = browser(author).get(f"/conclusions/{draft.pk}/").content.decode()

    assert 'id="h-evidence"' in text
    assert "<figure" not in text


@pytest.mark.parametrize("step", ["", "send/"])
def test_where_nobody_else_may_review_the_page_leads_to_an_invitation(draft, author, step):
    address = f"/conclusions/{draft.pk}/{step}"
    nobody = "Nobody else in the team “Default” may review it."
    invite = f"/teams/{draft.team_id}/invitations/?role=reviewer"

    of_author = " ".join(browser(author).get(address).content.decode().split())

    assert nobody in of_author
    assert "An admin of the team can invite a person" in of_author
    assert invite not in of_author
    admin = somebody("una", "admin")
    draft.writers.add(admin)
    of_admin = " ".join(browser(admin).get(address).content.decode().split())
    assert nobody in of_admin
    assert invite in of_admin
    page = Page(browser(admin).get(invite))
    chosen = [each["value"] for each in page.named("roles") if "checked" in each]
    assert chosen == ["reviewer"]


def test_too_few_reviewers_for_the_rule_of_the_team_are_counted(sent, author):
    Team.objects.update(approvals_needed=3)

    page = Page(browser(author).get(f"/conclusions/{sent.pk}/"))

    assert "The team’s rule asks for 3 approvals, and 1 member may review it." in page.text


def test_a_campaign_is_cited_by_the_name_that_the_list_offers(author, campaign):
    client = browser(author)
    offered = f"{campaign.name} ({campaign.pk})"
    form = client.get("/conclusions/new/").content.decode()

    client.post("/conclusions/new/", {"claim": "20 wins.", "campaign-0": offered})

    assert 'list="campaigns-offered"' in form
    assert conditional_escape(offered) in form
    assert Conclusion.objects.get().evidence.get().campaign == campaign


@pytest.mark.parametrize("typed", ["which one", "(", "(x)", "0", "12 (", "٣", "9" * 30])
def test_words_that_are_no_campaign_are_told_with_what_to_do(author, campaign, typed):
    response = browser(author).post("/conclusions/new/", {"claim": "A.", "campaign-3": typed})

    page = Page(response)
    assert response.status_code == 422
    assert f"“{typed}” is no campaign of the list. Choose one, or type its number." in page.text
    assert page.named("campaign-0")[0]["value"] == typed


@pytest.mark.parametrize("name", ["Nightly", "", "\x00"])
def test_a_name_that_ends_in_a_number_is_not_the_campaign_of_that_number(author, campaign, name):
    typed = f"{name} ({campaign.pk})"

    response = browser(author).post("/conclusions/new/", {"claim": "A.", "campaign-0": typed})

    assert response.status_code == 422
    assert "is no campaign of the list" in Page(response).text
    assert not Conclusion.objects.exists()


def test_evidence_whose_field_is_empty_is_removed(author, draft, campaign):
    response = browser(author).post(
        f"/conclusions/{draft.pk}/edit/", {"claim": "20 wins.", "campaign-0": "  "}
    )

    assert response.status_code == 422
    assert "0 are named" in Page(response).text


def test_a_campaign_of_another_team_is_not_offered(author, campaign):
    stranger = somebody("sam", "admin", team=Team.objects.create(name="others"))

    assert campaign.name in browser(author).get("/conclusions/new/").content.decode()
    assert campaign.name not in browser(stranger).get("/conclusions/new/").content.decode()


def test_the_list_is_sorted_as_the_address_says(author, campaign):
    first, second = (
        create(author, replace(content(campaign), claim=claim)) for claim in ("First.", "Second.")
    )
    Conclusion.objects.filter(pk=second.pk).update(changed_at=Now() - timedelta(hours=1))

    def claims(sort):
        page = browser(author).get("/conclusions/", {"sort": sort}).context["page"]
        return [each.pk for each in page]

    assert claims("") == [second.pk, first.pk]
    assert claims("no such") == []
    assert claims("oldest") == claims("changed") == [first.pk, second.pk]
