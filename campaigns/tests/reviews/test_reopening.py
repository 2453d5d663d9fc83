import json
from datetime import UTC, datetime

import pytest

from campaigns import tasks
from campaigns.findings import compute as analysis
from campaigns.findings.compute import findings as storing
from campaigns.kinds.registry import driver_of
from campaigns.kit.events import work_waits
from campaigns.models import Announcement, AuditEvent, Campaign, Conclusion, Finding
from campaigns.planning import amending, lifecycle
from campaigns.planning.analyses import request_analysis
from campaigns.reviews import reopening
from campaigns.reviews.checklist import checklist, without_word
from campaigns.reviews.errors import Moved
from campaigns.reviews.reopening import look_again, look_at_overdue, moved_since, overdue
from campaigns.reviews.sending import send
from campaigns.stats.methods import of_earlier_rules
from campaigns.tests.people import somebody
from campaigns.tests.remembered import remembered
from campaigns.tests.reviews.conftest import say

pytestmark = pytest.mark.django_db
State = Conclusion.State


@pytest.fixture
def accepted(sent, reviewer):
    return remembered(say, sent, reviewer)


def exclude(campaign, user, position=3):
    lifecycle.exclude(campaign.runs.get(position=position), user, "The disk was full.")


def test_nothing_is_re_opened_where_nothing_changed(accepted, campaign):
    assert look_again(campaign) == []
    assert overdue() == []


def test_an_excluded_run_re_opens_at_once_and_says_so(accepted, campaign, author):
    exclude(campaign, author)
    request_analysis(campaign)

    accepted.refresh_from_db()
    assert accepted.state == State.REOPENED
    assert accepted.reason == (f"{campaign.name}: Run 3 was excluded by ann: The disk was full.")


def test_one_in_review_goes_back_to_its_author(sent, campaign, author, reviewer):
    exclude(campaign, author)

    with pytest.raises(Moved, match="Run 3 was excluded"):
        say(sent, reviewer)

    sent.refresh_from_db()
    assert sent.state == State.REOPENED
    assert not sent.decisions.exists()


def test_a_run_that_counts_again_re_opens(campaign, draft, author, reviewer):
    exclude(campaign, author)
    analysis.analyse(campaign)
    sent = send(draft.pk, author, [reviewer])

    lifecycle.include(campaign.runs.get(position=3), author)
    request_analysis(campaign)

    sent.refresh_from_db()
    assert "Run 3, which was excluded (The disk was full.), counts again" in sent.reason


def test_an_amendment_re_opens(accepted, campaign, author):
    amending.amend(campaign, {"margin_percent": 1}, "Stricter.", author)
    request_analysis(campaign)

    accepted.refresh_from_db()
    assert "equivalence margin 2 % → 1 %, by ann: Stricter" in accepted.reason


def test_a_late_run_re_opens(accepted, campaign):
    late = campaign.runs.get(position=7)
    late.attempts.create(
        number=2, state="failed", pool="", token=0, claimed_at=datetime(2026, 1, 2, tzinfo=UTC)
    )

    look_again(campaign)

    accepted.refresh_from_db()
    assert accepted.reason == f"{campaign.name}: Late run 7 came in."


def test_a_campaign_that_is_extended_re_opens_by_dispatch(accepted, campaign):
    lifecycle.extend(campaign, 1, somebody("olga", "operator"))

    work_waits.send(sender=None)

    accepted.refresh_from_db()
    assert "planned 0 → 3; The campaign is running again" in accepted.reason


def test_a_worker_killed_before_it_could_tell_is_made_good(accepted, campaign, author):
    """The run was excluded and analysed, and nobody asked to look again."""
    exclude(campaign, author)
    analysis.analyse(campaign)

    assert overdue() == [campaign.pk]
    assert look_at_overdue() == [accepted]


def test_another_hash_alone_re_opens_with_both(accepted, campaign):
    before = accepted.evidence.get().data_hash
    Finding.objects.filter(campaign=campaign).update(data_hash="v1:other")

    look_again(campaign)

    accepted.refresh_from_db()
    (change,) = accepted.reopened_by
    assert (change["before"], change["after"]) == (before, "v1:other")


def test_other_versions_alone_are_noted(accepted, campaign, monkeypatch):
    monkeypatch.setattr(storing, "METHODS", "later")
    monkeypatch.setattr("campaigns.findings.answers.METHODS", "later")
    monkeypatch.setattr(tasks, "close_old_connections", lambda: None)
    monkeypatch.setattr(
        tasks, "give_way", lambda compute: compute()
    )  # a thread has its own connection
    Campaign.objects.filter(pk=campaign.pk).update(analysis_requested_at=datetime.now(UTC))

    tasks.analyse(campaign.pk)

    accepted.refresh_from_db()
    assert accepted.state == State.ACCEPTED
    assert accepted.evidence.get().snapshot["recomputed_by"]["methods"] == "later"
    assert AuditEvent.objects.filter(action="conclusion_recomputed").count() == 1
    assert overdue() == []


def test_findings_of_version_1_stay_as_they_were_signed(accepted, campaign, monkeypatch):
    evidence = accepted.evidence.get()
    for finding in evidence.snapshot["findings"].values():
        del finding["v"]
    row = evidence.snapshot["findings"]["levels"]["groups"][0]["comparisons"][0]
    row |= {"display": {"word": "faster", "tone": "good"}, "advice": "Run it again."}
    evidence.save()
    signed = json.dumps(evidence.snapshot["findings"], sort_keys=True)
    monkeypatch.setattr(storing, "METHODS", "later")
    monkeypatch.setattr("campaigns.findings.answers.METHODS", "later")
    analysis.analyse(campaign)

    assert look_again(campaign) == []

    accepted.refresh_from_db()
    evidence.refresh_from_db()
    assert accepted.state == State.ACCEPTED
    assert evidence.snapshot["recomputed_by"]["methods"] == "later"
    assert json.dumps(evidence.snapshot["findings"], sort_keys=True) == signed
    assert evidence.snapshot["data_hash"] == evidence.data_hash


def test_a_verdict_that_other_versions_change_re_opens_with_both_values(accepted, campaign):
    found = Finding.objects.get(campaign=campaign, name="levels")
    row = found.result["groups"][0]["comparisons"][0]["comparison"]["verdict"]
    before, row["word"] = row["word"], "not_enough_data"
    found.save()
    campaign.findings.update(computed_at=datetime.now(UTC))

    look_again(campaign)

    accepted.refresh_from_db()
    assert accepted.state == State.REOPENED
    changes = [each for each in accepted.reopened_by if each["words"].endswith("verdict")]
    assert [(each["before"], each["after"]) for each in changes] == [(before, "not_enough_data")]
    words = "levels, concurrency 10 vs. 5, verdict is not enough data; it was "
    assert words in accepted.reason


def by_methods(conclusion, methods, change):
    """Pretend that the conclusion was frozen by these methods, after `change` of its findings of levels."""
    (evidence,) = conclusion.evidence.defer(None)
    evidence.snapshot["versions"]["methods"] = methods
    change(evidence.snapshot["findings"]["levels"])
    evidence.save(update_fields=["snapshot"])


def with_other_numbers(levels):
    for row in levels["groups"][0]["comparisons"]:
        row["comparison"]["verdict"]["p_adjusted"] *= 0.5
    levels["groups"][0]["best"]["upper_pct"][0] += 10.0


def crowned(place):
    def change(levels):
        group = levels["groups"][0]
        group["best"] = {**group["best"], "seen": group["cells"][place], "possibly": group["cells"]}

    return change


@pytest.mark.parametrize(("methods", "again"), [("23", False), ("24", True)])
def test_numbers_that_earlier_rules_made_re_open_nothing(accepted, campaign, methods, again):
    by_methods(accepted, methods, with_other_numbers)
    analysis.analyse(campaign)

    assert bool(look_again(campaign)) is again


def test_a_setting_that_would_not_be_called_the_fastest_today_re_opens(accepted, campaign):
    claim = accepted.claim
    by_methods(accepted, "23", crowned(0))
    analysis.analyse(campaign)

    look_again(campaign)

    accepted.refresh_from_db()
    assert accepted.state == State.REOPENED
    assert accepted.reason == (
        f"{campaign.name}: It called concurrency 5 the fastest, which is not shown: 20 may be."
    )
    assert accepted.claim == claim


def test_the_setting_that_is_still_the_fastest_re_opens_nothing(accepted, campaign):
    by_methods(accepted, "23", crowned(-1))
    analysis.analyse(campaign)

    assert look_again(campaign) == []


@pytest.mark.parametrize(
    ("methods", "earlier"), [("23", True), ("", True), ("24", False), ("31", False)]
)
def test_which_methods_judged_by_earlier_rules(methods, earlier):
    assert of_earlier_rules(methods) is earlier


def test_one_that_ranks_a_load_is_re_opened_and_says_so(accepted, campaign, monkeypatch):
    monkeypatch.setattr(driver_of(campaign.kind), "load", ("concurrency",), raising=False)
    before = campaign.findings.get(name="answer").data_hash
    analysis.analyse(campaign)
    assert campaign.findings.get(name="answer").data_hash == before

    look_again(campaign)

    accepted.refresh_from_db()
    assert accepted.state == State.REOPENED
    assert accepted.reason == (
        f"{campaign.name}: It ranks a load: concurrency says how much was asked of the target at once, and its "
        "levels are not compared any more."
    )


@pytest.mark.parametrize(
    ("findings", "ranked"),
    [
        ({"levels": {"factor": "hosts", "overall": []}}, ["hosts"]),
        ({"levels": {"factor": "workers", "overall": [{"setting": {"hosts": 5}}]}}, ["hosts"]),
        ({"matrix": {"factors": {"hosts": {}, "workers": {}}}}, ["hosts"]),
        ({"pairs": {"factor": "hosts"}}, ["hosts"]),
        ({"levels": {"factor": "workers"}, "matrix": None}, []),
        ({}, []),
    ],
)
def test_findings_that_rank_a_load_are_found(findings, ranked):
    assert reopening.ranked_loads(findings, ["hosts"]) == ranked


def test_everybody_concerned_is_told(accepted, campaign, author, reviewer):
    exclude(campaign, author)
    request_analysis(campaign)

    told = Announcement.objects.get(kind="review_reopened")
    assert set(told.to) == {author.pk, reviewer.pk}
    event = AuditEvent.objects.get(action="conclusion_reopened")
    assert (event.user, event.details["was"]) == (None, "accepted")


def test_a_draft_is_left_alone(draft, campaign, author):
    exclude(campaign, author)

    assert look_again(campaign) == []


def test_a_re_opened_one_is_accepted_anew_on_the_data_of_now(accepted, campaign, author, reviewer):
    exclude(campaign, author)
    request_analysis(campaign)
    analysis.analyse(campaign)
    again = send(accepted.pk, author, [reviewer])

    assert again.revision == 2
    assert again.reopened_by == []
    missing = [check.name for check in reopening_checks(again)]
    assert "exclusions" in missing


def reopening_checks(conclusion):
    return without_word(conclusion, checklist(conclusion))


def test_the_findings_of_then_and_now_stand_side_by_side(accepted, campaign, author):
    exclude(campaign, author)
    request_analysis(campaign)
    campaign.refresh_from_db()
    assert moved_since(accepted) == []
    analysis.analyse(campaign)

    found = {each["words"]: (each["before"], each["after"]) for each in moved_since(accepted)}

    counts = [values for path, values in found.items() if path.endswith("runs that count")]
    assert (3, 2) in counts


def test_many_changes_are_told_in_short(campaign):
    found = [
        {"name": "S1", "kind": "finding", "words": f"path {n}", "was": "1", "is": "2"}
        for n in range(7)
    ]

    assert reopening.reason_of(found).endswith("path 4 is 2; it was 1; and 2 more.")
