import re

import pytest
from django.db import IntegrityError, transaction

from campaigns.kit.errors import Invalid
from campaigns.kit.rights import NotAllowed, NotVisible
from campaigns.models import Announcement, AuditEvent, Conclusion, Decision, Membership, Team
from campaigns.reviews.checklist import checklist, without_word
from campaigns.reviews.content import Cited
from campaigns.reviews.deciding import may_confirm
from campaigns.reviews.drafting import create, delete, edit
from campaigns.reviews.errors import Moved, NotReady, OwnWork, ReviewRefused
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.sending import send, withdraw
from campaigns.tests.people import join, somebody
from campaigns.tests.reviews.conftest import content, say, words_on

pytestmark = pytest.mark.django_db
State = Conclusion.State


def test_it_is_accepted_by_somebody_else(sent, reviewer):
    accepted = say(sent, reviewer)

    assert accepted.state == State.ACCEPTED
    assert accepted.decided_at is not None
    assert accepted.decisions.get().data_hash == data_hash_of(accepted)


def test_sending_freezes_findings_hash_and_checklist(sent, campaign):
    (evidence,) = sent.evidence.all()

    assert sent.state == State.IN_REVIEW
    assert sent.revision == 1
    assert evidence.data_hash == campaign.findings.get(name="answer").data_hash
    assert "levels" in evidence.snapshot["findings"]
    assert {"n", "drift", "sessions"} <= {each["name"] for each in evidence.snapshot["checks"]}


def test_every_step_is_on_record_and_announced(sent, reviewer, author):
    say(sent, reviewer)

    actions = AuditEvent.objects.filter(subject_kind="conclusion", subject_key=sent.pk)
    assert {
        *("conclusion_created", "word_given", "conclusion_sent", "reviewer_asked"),
        *("decision_made", "conclusion_accepted"),
    } <= set(actions.values_list("action", flat=True))
    asked, decided = Announcement.objects.filter(conclusion=sent).order_by("pk")
    assert (asked.kind, asked.to) == ("review_asked", [reviewer.pk])
    assert decided.kind == "review_decided"
    assert author.pk in decided.to


def test_the_authors_own_yes_counts_for_nothing(sent, author):
    join_as_admin(author)

    with pytest.raises(OwnWork, match="author"):
        say(sent, author)

    assert not Decision.objects.exists()


def test_whoever_edited_it_does_not_decide_on_it(draft, author, reviewer, campaign):
    helper = somebody("eve", "author", "reviewer")
    edit(draft.pk, helper, content(campaign, claim="21 connections are fastest."))
    sent = send(draft.pk, author, [reviewer])

    with pytest.raises(OwnWork, match="You edited this"):
        say(sent, helper)


def test_somebody_who_wrote_it_cannot_be_asked(draft, author):
    join_as_admin(author)

    with pytest.raises(Invalid, match="ann cannot review"):
        send(draft.pk, author, [author])


def test_a_member_without_the_role_is_told_which_it_takes(sent):
    viewer = somebody("vic", "viewer")

    with pytest.raises(NotAllowed, match="reviewer"):
        say(sent, viewer)


def test_a_stranger_learns_nothing(sent, draft):
    stranger = somebody("sam", "admin", team=new_team())

    with pytest.raises(NotVisible):
        say(sent, stranger)
    with pytest.raises(NotVisible):
        edit(sent.pk, stranger, content(sent.evidence.get().campaign))


def test_a_role_that_was_taken_away_decides_nothing(sent, reviewer):
    Membership.objects.filter(user=reviewer).update(roles=["viewer"])

    with pytest.raises(NotAllowed):
        say(sent, reviewer)


def test_two_approvals_are_needed_where_the_team_says_so(sent, reviewer, other, team):
    team.approvals_needed = 2
    team.save()

    first = say(sent, reviewer)
    second = say(sent, other)

    assert (first.state, second.state) == (State.IN_REVIEW, State.ACCEPTED)


def test_the_approval_of_somebody_who_lost_the_role_counts_no_more(sent, reviewer, other, team):
    team.approvals_needed = 2
    team.save()
    say(sent, reviewer)
    Membership.objects.filter(user=reviewer).update(roles=["viewer"])

    found = say(sent, other)

    assert found.state == State.IN_REVIEW


@pytest.fixture
def enough(sent, reviewer, other, team):
    """Two approvals that count, in review all the same: a role came back after the last one."""
    Team.objects.filter(pk=team.pk).update(approvals_needed=2)
    say(sent, reviewer)
    Membership.objects.filter(user=reviewer).update(roles=["viewer"])
    say(sent, other)
    Membership.objects.filter(user=reviewer).update(roles=["reviewer"])
    return Conclusion.objects.get(pk=sent.pk)


def test_who_approved_confirms_where_enough_approvals_are_there(enough, reviewer):
    assert enough.state == State.IN_REVIEW
    assert may_confirm(enough, reviewer)

    accepted = say(enough, reviewer)

    assert accepted.state == State.ACCEPTED
    assert accepted.decisions.count() == 2
    assert "rob confirmed" in Announcement.objects.order_by("-pk")[0].data["what"]


def test_so_it_is_when_the_rule_was_lowered_after_the_last_approval(sent, reviewer, team):
    Team.objects.filter(pk=team.pk).update(approvals_needed=2)
    say(sent, reviewer)
    Team.objects.filter(pk=team.pk).update(approvals_needed=1)

    assert say(sent, reviewer).state == State.ACCEPTED


def test_a_confirmation_is_of_what_was_looked_at_and_of_an_approval_that_counts(enough, reviewer):
    with pytest.raises(Moved):
        say(enough, reviewer, data_hash="another")
    with pytest.raises(ReviewRefused, match="already"):
        say(enough, reviewer, "reject", reason="no")
    Membership.objects.filter(user=reviewer).update(roles=["viewer"])
    with pytest.raises(NotAllowed):
        say(enough, reviewer)


def test_nobody_decides_twice_on_a_revision(sent, reviewer, team):
    team.approvals_needed = 2
    team.save()
    say(sent, reviewer)

    with pytest.raises(ReviewRefused, match="already"):
        say(sent, reviewer)


def test_changes_are_asked_for_with_a_reason(sent, reviewer, author, campaign):
    with pytest.raises(ReviewRefused, match="Say why"):
        say(sent, reviewer, "request_changes")
    back = say(sent, reviewer, "request_changes", reason="Which workload?")

    assert (back.state, back.reason) == (State.CHANGES_REQUESTED, "Which workload?")
    edit(back.pk, author, content(campaign, claim="For small files 20 are fastest."))
    again = send(back.pk, author, [reviewer])
    assert again.revision == 2
    assert say(again, reviewer).state == State.ACCEPTED


def test_a_rejected_one_ends_until_it_is_taken_back(sent, reviewer, author):
    rejected = say(sent, reviewer, "reject", reason="Nobody runs this.")

    assert rejected.state == State.REJECTED
    with pytest.raises(ReviewRefused, match="rejected"):
        send(rejected.pk, author, [reviewer])
    assert withdraw(rejected.pk, author).state == State.DRAFT


def test_a_stale_page_is_refused(sent, reviewer, author):
    withdraw(sent.pk, author)
    send(sent.pk, author, [reviewer])

    with pytest.raises(Moved, match="revision 1"):
        say(sent, reviewer)
    with pytest.raises(Moved, match="data"):
        say(sent, reviewer, revision=2, data_hash="v1:other")


def test_an_approval_of_a_former_revision_does_not_count(sent, reviewer, other, author, team):
    team.approvals_needed = 2
    team.save()
    say(sent, reviewer)
    withdraw(sent.pk, author)
    again = send(sent.pk, author, [reviewer, other])

    assert say(again, other).state == State.IN_REVIEW


def test_nobody_edits_what_others_decide_on(sent, author, campaign):
    with pytest.raises(ReviewRefused, match="in review"):
        edit(sent.pk, author, content(campaign))


def test_an_edit_of_what_was_changed_since_is_refused(draft, author, campaign):
    edit(draft.pk, author, content(campaign, limits="Small files."))

    with pytest.raises(Moved):
        edit(draft.pk, author, content(campaign, limits="Large files."), seen=draft.changed_at)


def test_a_warning_takes_the_authors_word(author, reviewer, campaign):
    made = create(author, content(campaign))
    sent = send(made.pk, author, [reviewer])

    with pytest.raises(NotReady, match="sessions"):
        say(sent, reviewer)


def test_a_word_is_void_once_the_check_says_something_else(draft, author, reviewer):
    draft.words.update(about="2: The comparison rests on 2 sessions, which confirm it.")
    sent = send(draft.pk, author, [reviewer])

    with pytest.raises(NotReady):
        say(sent, reviewer)


def test_a_word_is_void_once_the_number_is_another_one(sent, reviewer):
    (evidence,) = sent.evidence.all()
    check = next(each for each in evidence.snapshot["checks"] if each["state"] == "warn")
    check["number"] = "18 of 18"  # and what it means is told by the same words
    evidence.save()

    assert [each.key for each in without_word(sent, checklist(sent))] == [
        f"{check['name']}-{check['campaign']}"
    ]
    with pytest.raises(NotReady):
        say(sent, reviewer)


def test_a_failed_check_takes_the_reviewers_explicit_yes(sent, reviewer):
    (evidence,) = sent.evidence.all()
    failing = {**evidence.snapshot["checks"][0], "state": "fail"}
    evidence.snapshot["checks"][0] = failing
    evidence.save()
    key = f"{failing['name']}-{failing['campaign']}"
    sent.words.create(
        check_name=key,
        text="It is two hosts.",
        about=f"{failing['number']}: {failing['words']}",
        user=sent.author,
    )

    with pytest.raises(NotReady, match="Checks failed"):
        say(sent, reviewer, with_failed=False)

    assert say(sent, reviewer, with_failed=True).state == State.ACCEPTED


def test_an_accepted_one_is_taken_back_with_a_reason_only(sent, reviewer, author):
    say(sent, reviewer)

    with pytest.raises(ReviewRefused, match="give a reason"):
        withdraw(sent.pk, author)

    assert withdraw(sent.pk, author, "The hosts were swapped.").state == State.DRAFT


def test_everybody_concerned_is_told_that_an_accepted_one_is_taken_back(sent, reviewer, author):
    say(sent, reviewer)
    helper = somebody("eve", "author")

    withdraw(sent.pk, helper, "The hosts were swapped.")

    told = Announcement.objects.get(kind="review_reopened")
    assert set(told.to) == {author.pk, reviewer.pk}
    assert (told.by, told.conclusion_id) == (helper, sent.pk)
    assert "eve took the accepted conclusion" in told.data["what"]
    assert told.data["words"] == "The hosts were swapped."


def test_nobody_is_told_that_what_was_never_accepted_is_taken_back(sent, author):
    withdraw(sent.pk, author)

    assert not Announcement.objects.filter(kind="review_reopened").exists()


def test_a_new_one_supersedes_when_it_is_accepted(sent, reviewer, author, campaign):
    old = say(sent, reviewer)
    made = create(author, content(campaign, supersedes=old.pk))
    edit(made.pk, author, content(campaign, supersedes=old.pk, words=words_on(made)))
    new = send(made.pk, author, [reviewer])
    assert Conclusion.objects.get(pk=old.pk).state == State.ACCEPTED

    say(new, reviewer)

    old.refresh_from_db()
    assert (old.state, old.reason) == (State.SUPERSEDED, f"Superseded by conclusion {new.pk}.")


def test_only_what_stands_is_superseded(draft, author, campaign):
    with pytest.raises(Invalid, match="only an accepted"):
        create(author, content(campaign, supersedes=draft.pk))


def test_a_campaign_that_goes_on_is_not_concluded_from(draft, author, reviewer, campaign):
    type(campaign).objects.filter(pk=campaign.pk).update(state="running")

    with pytest.raises(NotReady, match="running"):
        send(draft.pk, author, [reviewer])


def test_only_a_draft_that_was_never_sent_is_deleted(sent, author, campaign):
    other = create(author, content(campaign))
    delete(other.pk, author)
    withdraw(sent.pk, author)

    with pytest.raises(ReviewRefused, match="record"):
        delete(sent.pk, author)

    assert not Conclusion.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"claim": " "}, "claim"),
        ({"claim": "x" * 501}, "claim"),
        ({"limits": "a\x00b"}, "limits"),
        *(
            ({"claim": text}, "claim")
            for text in ("\u200b", "\u2800 \u3164", "20 is \u202efast", "\u2066x\u2069", "a\u2028b")
        ),
        ({"words": {"drift-1": "\u200b"}}, "words.drift-1"),
        ({"evidence": []}, "evidence"),
        ({"evidence": [Cited(999_999)]}, "evidence.0.campaign"),
        ({"words": {"nothing-1": "x"}}, "words.nothing-1"),
        ({"supersedes": 999_999}, "supersedes"),
    ],
)
def test_what_cannot_be_is_refused_by_field(author, campaign, fields, field):
    with pytest.raises(Invalid) as refused:
        create(author, content(campaign, **fields))

    assert list(refused.value.errors) == [field]


def test_the_message_names_the_letter_that_nobody_sees(author, campaign):
    with pytest.raises(Invalid) as refused:
        create(author, content(campaign, claim="20 is \u202efast"))

    assert "U+202E" in refused.value.errors["claim"][0]


def test_a_claim_in_any_script_is_taken(author, campaign):
    claim = "٢٠ اتصالاً أسرع \u200d👩\u200d🚀 – größer"

    assert create(author, content(campaign, claim=claim)).claim == claim


@pytest.mark.parametrize(("reason", "letter"), [("\u200b", "U+200B"), ("no\u202e", "U+202E")])
def test_a_reason_that_nobody_can_read_is_refused(sent, reviewer, author, reason, letter):
    with pytest.raises(ReviewRefused, match=re.escape(letter)):
        say(sent, reviewer, "reject", reason=reason)
    say(sent, reviewer)
    with pytest.raises(ReviewRefused, match=re.escape(letter)):
        withdraw(sent.pk, author, reason)


@pytest.mark.parametrize(
    "view", ["javascript:alert(1)", "//evil.example/campaigns/1/", "/sign-in/", "/campaigns/1/\n"]
)
def test_a_view_is_an_address_of_perfdash(author, campaign, view):
    with pytest.raises(Invalid, match="address"):
        create(author, content(campaign, evidence=[Cited(campaign.pk, view=view)]))


def test_a_view_may_be_a_level_of_a_result(author, campaign):
    view = "/campaigns/1/evidence/?open=drift#panel-drift"

    made = create(author, content(campaign, evidence=[Cited(campaign.pk, view=view)]))

    assert made.evidence.get().view == view


def test_a_contrast_names_levels_of_the_campaign(author, campaign):
    good = {"factor": "concurrency", "candidate": 20, "baseline": 5, "at": {}}
    create(author, content(campaign, evidence=[Cited(campaign.pk, contrast=good)]))

    bad = {**good, "candidate": 21}
    with pytest.raises(Invalid, match="no level"):
        create(author, content(campaign, evidence=[Cited(campaign.pk, contrast=bad)]))


def join_as_admin(user):
    Membership.objects.filter(user=user).delete()
    join(user)


def new_team():
    return Team.objects.create(name="others")


def test_the_database_keeps_decisions_and_who_wrote(sent, reviewer, author, other):
    say(sent, reviewer)
    deeds = {
        "decision is never deleted": lambda: Decision.objects.filter(conclusion=sent).delete(),
        "decision is never changed": lambda: Decision.objects.update(word="reject"),
        "author of a conclusion stays": lambda: Conclusion.objects.update(author=other),
        "hand in a conclusion": lambda: sent.writers.remove(author),
    }

    for words, deed in deeds.items():
        with pytest.raises(IntegrityError, match=words), transaction.atomic():
            deed()

    assert Decision.objects.get(conclusion=sent).word == "approve"
    assert Conclusion.objects.get(pk=sent.pk).author == author
