import re
from datetime import timedelta

import pytest

from campaigns.kit.numbers import counted
from campaigns.models import Campaign, Run
from campaigns.results.importing.demonstration import published_campaign
from campaigns.reviews.checklist import checks_of
from campaigns.tests.findings.compute import loads
from campaigns.tests.findings.compute.conftest import noisy, paired, store
from campaigns.tests.reviews.conftest import LEVELS, finished

pytestmark = pytest.mark.django_db
__all__ = ["paired"]


def check_of(campaign, name):
    (found,) = [each for each in checks_of([campaign])[campaign.pk] if each.name == name]
    return found


def a_day_later(campaign, after):
    for run in campaign.runs.filter(position__gt=after):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(hours=20))


def test_sessions_that_no_comparison_rests_on_confirm_nothing(interleaved):
    campaign = interleaved(list(LEVELS))
    store(campaign, noisy(LEVELS))
    a_day_later(campaign, 3)  # one block before: it has an estimate, and no word of its own

    check = check_of(finished(campaign), "sessions")

    levels = campaign.findings.get(name="levels").result
    assert levels["sessions"] == 2
    rows = [row["standing"] for group in levels["groups"] for row in group["comparisons"]]
    assert {row["standing"] for row in rows} == {"not_confirmed"}
    assert (check.state, check.number) == ("warn", "2")
    of = counted(len(rows), "comparison")
    assert check.words.endswith(f"which do not confirm {len(rows)} of {of}.")


@pytest.mark.parametrize(
    ("later", "state", "words"),
    [
        (9.0, "pass", "The comparison rests on 2 sessions, which confirm it."),
        (12.0, "warn", "The comparison rests on 2 sessions, which do not confirm it."),
    ],
)
def test_sessions_have_to_agree(paired, later, state, words):
    campaign = paired(["/a"], 6)
    noise = (0.03, 0.02, -0.02, -0.03, -0.01, 0.01)

    def value(run):
        if run.cell.levels_by_factor["engine"] == "futures":
            return 10.0
        return (9.0 if run.position <= 6 else later) + noise[run.block.repetition - 1]

    store(campaign, value)
    a_day_later(campaign, 6)

    check = check_of(finished(campaign), "sessions")

    assert (check.state, check.number) == (state, "2")
    assert check.words == words


def test_a_drift_that_cannot_be_seen_says_what_is_missing(interleaved):
    campaign = interleaved([*LEVELS, 40])  # 12 runs, in 3 blocks
    store(campaign, noisy({**LEVELS, 40: 6.0}))

    words = check_of(finished(campaign), "drift").words

    assert words == "Too few to see a drift: it takes 5 blocks, and there are 3."


def test_a_drift_of_runs_in_no_blocks_says_how_many_it_takes(interleaved):
    campaign = interleaved([5, 10])
    Campaign.objects.filter(pk=campaign.pk).update(order=Campaign.Order.RANDOM)
    campaign.refresh_from_db()
    store(campaign, noisy(LEVELS))

    words = check_of(finished(campaign), "drift").words

    assert words == "Too few to see a drift: it takes 8 runs, and there are 6."


def test_of_levels_measured_one_after_the_other_the_drift_within_them_is_told():
    campaign, _ = published_campaign(None)

    check = check_of(finished(campaign), "drift")

    assert (check.state, check.number) == ("warn", "p 0.322")
    assert re.fullmatch(
        r"Drift: none shown within levels \(at most ±\d\S* % (a run|an hour) would have been missed\); between levels "
        r"it cannot be determined in this order\.",
        check.words,
    )


def test_what_is_carried_is_in_the_checklist_and_no_load_is_judged_against_the_criterion(target):
    campaign = loads.launch(target, {"concurrency": loads.LOADS}, criterion=loads.LIMIT)
    loads.store(campaign)

    check = check_of(finished(campaign), "capacity")

    assert (check.state, check.title, check.link[-11:]) == ("warn", "Capacity", "#h-capacity")
    assert check.words.startswith(f"Carries {check.number}. Carried means that")
    assert check.number == "at least concurrency 200, below 400"
    assert "Its bounds lie further apart than a factor of 1.5" in check.words
    assert check.words.endswith("It rests on one session: this does not count as confirmation.")
    names = {each.name for each in checks_of([campaign])[campaign.pk]}
    assert "criterion" not in names  # the highest load is meant to fail


def test_a_stated_criterion_is_in_the_checklist(target):
    campaign = loads.launch(
        target, {"engine": ["asyncio", "futures"]}, roles={}, criterion=loads.LIMIT
    )
    loads.store(
        campaign,
        lambda run: 80.0 if run.cell.levels_by_factor["engine"] == "futures" else 20.0,
        units=lambda run: 50,
    )

    check = check_of(finished(campaign), "criterion")

    assert (check.state, check.number) == ("fail", "does not pass")
    assert check.words.startswith("Does not pass in 1 of 2 cells: engine futures: ")
    assert check.link.endswith("#h-thresholds")
