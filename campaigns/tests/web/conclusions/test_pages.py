import pytest
from django.test import Client
from django.urls import reverse

from campaigns.definition import life
from campaigns.models import Conclusion, Membership, Team
from campaigns.reviews.checklist import checklist
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.sending import withdraw
from campaigns.tests.people import somebody
from campaigns.tests.reviews.conftest import say
from campaigns.tests.web.conftest import Page

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

    assert "20 is the fastest setting measured" in page.text
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
    assert "Re-opened by itself" in reopened
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
    assert "“Stand-in” takes no word any more" in page.text
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

    assert "You had a hand in its text" in Page(client.get(f"/conclusions/{sent.pk}/")).text
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
    life.exclude(campaign.runs.get(position=1), author, "x")
    browser(author).post(f"/campaigns/{campaign.pk}/runs/1/include/")

    sent.refresh_from_db()
    assert sent.state == "in_review"


def test_nobody_is_sent_to_review_without_somebody_asked(draft, author):
    response = browser(author).post(f"/conclusions/{draft.pk}/send/", {})

    assert response.status_code == 422
    assert "Ask somebody" in Page(response).text


def test_who_approved_before_confirms_on_the_page(sent, reviewer):
    Team.objects.update(approvals_needed=2)
    client, address = browser(reviewer), reverse("conclusion", args=[sent.pk])
    decide = reverse("conclusion-decide", args=[sent.pk])
    client.post(decide, decision(sent, "approve"))
    assert "a decision stays" in Page(client.get(address)).text
    Team.objects.update(approvals_needed=1)

    assert "Confirm your approval" in Page(client.get(address)).text
    client.post(decide, decision(sent, "approve"))

    assert Conclusion.objects.get(pk=sent.pk).state == "accepted"
