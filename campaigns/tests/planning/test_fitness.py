"""Whether a target is fit: judged by intervals, read from campaigns, required at a launch."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from campaigns.kit.errors import NotPossible
from campaigns.models import (
    Attempt,
    Campaign,
    EffectiveSetting,
    EnvironmentFact,
    Proof,
    Run,
    SshLogin,
    Target,
)
from campaigns.planning import drafts, lifecycle, storage
from campaigns.planning.checking import Invalid, check
from campaigns.planning.fitness.checks import CHECKS, NOT_FIT, WARNING
from campaigns.planning.fitness.judging import FIT, NOT_KNOWN, interval, judge
from campaigns.planning.fitness.known import Fitness, fitness_of, names_for
from campaigns.planning.fitness.making import make_check, make_more
from campaigns.planning.fitness.requiring import missing_of
from campaigns.planning.preview import preview
from campaigns.results.storing import Value, store_values
from campaigns.tests.people import somebody

MIB = 1024 * 1024 / 1e6


@pytest.mark.parametrize(
    ("name", "values", "outcome", "undecided"),
    [
        ("storage-published", [150, 151, 152], "fit", False),
        ("storage-published", [80, 81, 82], "fit with a warning", False),
        ("storage-published", [95, 100, 105], "fit with a warning", True),
        ("storage-published", [40, 41, 42], "not fit", False),
        ("storage-published", [55, 60, 66], "not known", True),
        ("storage-published", [150, 151], "not known", True),
        ("storage-ssd", [300, 301, 302], "fit with a warning", False),
        ("storage-maintenance", [60 * MIB + 0.02] * 2 + [60 * MIB + 0.03], "fit", False),
        ("storage-maintenance", [60, 60, 60.01], "not fit", False),
        ("storage-database", [8, 8.1, 8.2], "fit", False),
        ("storage-database", [30, 31, 32], "fit with a warning", False),
        ("database-commit", [30, 31, 32], "fit", False),
        ("database-collapse", [0.5, 0.51, 0.52], "fit with a warning", False),
    ],
)
def test_the_bound_of_the_interval_is_compared(name, values, outcome, undecided):
    judged = judge(CHECKS[name], values)
    assert (judged.outcome, judged.undecided) == (outcome, undecided), judged.reason


def test_the_interval_is_students():
    low, high = interval([10.0, 12.0, 14.0])
    assert [low, high] == pytest.approx([7.032, 16.968], abs=1e-3)


@pytest.fixture
def target(db, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:9"
    target = Target.objects.create(
        name="db1", family="machine", base_url="ssh://127.0.0.1:9", address="127.0.0.1:9"
    )
    SshLogin.objects.create(
        target=target, host="127.0.0.1", port=22, username="perfdash", host_key="ssh-ed25519 AAAA"
    )
    return target


@pytest.fixture
def database(db, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:9"
    return Target.objects.create(
        name="pg1",
        family="postgresql",
        base_url="postgresql://127.0.0.1:9/bench",
        address="127.0.0.1:9",
    )


def made(target, values, measures="the storage", days=0.0):
    """The campaign of a check with these values of its runs."""
    user = somebody(f"operator{Campaign.objects.count()}", "operator")
    campaign = make_check("storage-published", target, user)
    runs = campaign.runs.order_by("position")
    for run, value in zip(runs, values, strict=False):
        attempt = Attempt.objects.create(
            run=run,
            number=1,
            token=1,
            state="accepted",
            claimed_at=Now(),
            finished_at=Now() - timedelta(days=days),
        )
        store_values(attempt, [Value("read_throughput", value, "MB/s", lower_is_better=False)])
        EffectiveSetting.objects.create(
            attempt=attempt, name="measures", asked="the storage", in_force=measures, ok=True
        )
        EffectiveSetting.objects.create(
            attempt=attempt, name="device", asked="as it is", in_force="/dev/sda", ok=True
        )
        EnvironmentFact.objects.create(
            attempt=attempt, side="target", name="kernel", value="Linux 6.1"
        )
        EnvironmentFact.objects.create(
            attempt=attempt, side="target", name="huge pages", value="always"
        )
    runs.update(state=Run.State.DONE, finished_at=Now())
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    return campaign


def of(target, name="storage-published"):
    (found,) = fitness_of(target, [name])
    return found


def test_it_is_not_known_until_it_was_run(target):
    assert {each.outcome for each in fitness_of(target)} == {"not known"}
    assert "never run" in of(target).reason


def test_what_three_runs_say_with_age_and_reason(target):
    campaign = made(target, [150, 151, 152])
    found = of(target)
    assert (found.outcome, found.campaign) == ("fit", campaign.pk)
    assert found.at is not None
    assert campaign.tags == ["fitness"]
    assert of(target, "storage-ssd").outcome == "fit with a warning"
    assert of(target, "storage-maintenance").outcome == "not known"
    host = of(target, "host")
    assert (host.outcome, "huge pages is always" in host.reason) == ("fit with a warning", True)


def test_the_page_cache_is_never_fit(target):
    made(target, [5000, 5001, 5002], measures="the page cache")
    assert (of(target).outcome, "page cache" in of(target).reason) == ("not known", True)


def test_it_grows_old_and_another_kernel_ends_it(target):
    made(target, [150, 151, 152], days=31)
    assert "31 days old" in of(target).reason
    Attempt.objects.update(finished_at=Now() - timedelta(days=1))
    assert of(target).is_fit
    later = EnvironmentFact.objects.filter(attempt__in=_later(target), name="kernel")
    later.update(value="Linux 6.2")
    assert "kernel of the machine is another: Linux 6.2" in of(target).reason
    later.update(value="Linux 6.1")
    assert of(target).is_fit
    EffectiveSetting.objects.filter(attempt__in=later.values("attempt"), name="device").update(
        in_force="/dev/sdb"
    )
    assert "tmp is on another device: /dev/sdb" in of(target).reason


def _later(target):
    """The attempts of a later campaign, which is none of the check: its directory varies."""
    campaign = made(target, [1, 2, 3])
    Campaign.objects.filter(pk=campaign.pk).update(
        parameters=campaign.parameters | {"profile": "pulp"}
    )
    return Attempt.objects.filter(run__campaign=campaign)


def test_one_that_did_not_get_far_does_not_hide_the_one_before(target):
    whole = made(target, [150, 151, 152])
    made(target, [40])
    assert (of(target).outcome, of(target).campaign) == ("fit", whole.pk)


def test_databases_have_checks_of_their_own(target, database):
    assert [each.name for each in fitness_of(database)] == [
        *("database-commit", "database-collapse", "database-connections"),
    ]
    assert names_for(target)[-1] == "host"
    SshLogin.objects.all().delete()
    assert names_for(target) == []


def test_the_rate_of_most_clients_is_compared_with_the_best(database):
    campaign = make_check("database-collapse", database, somebody("dba", "operator"), scale=3000)
    assert campaign.parameters["scale"] == 3000
    rates = {10: 900.0, 50: 1000.0, 100: 980.0, 250: 800.0, 500: 500.0}
    for run in campaign.runs.select_related("cell"):
        attempt = Attempt.objects.create(
            run=run, number=1, token=1, state="accepted", claimed_at=Now(), finished_at=Now()
        )
        rate = rates[run.cell.levels_by_factor["clients"]] + run.block.number
        store_values(attempt, [Value("tps", rate, "1/s", lower_is_better=False)])
        EnvironmentFact.objects.create(
            attempt=attempt, side="target", name="max_connections", value="513"
        )
    assert "fits into memory" in of(database, "database-collapse").reason
    for attempt in Attempt.objects.all():
        Proof.objects.create(
            attempt=attempt,
            step="reset",
            name="size of the database",
            expected="any",
            measured="44.1 GiB, larger than memory (16.0 GiB by effective_cache_size)",
            ok=True,
        )
    found = of(database, "database-collapse")
    assert found.outcome == "fit with a warning", found.reason
    assert found.high < 0.6
    connections = of(database, "database-connections")
    assert (connections.outcome, "allows 510" in connections.reason) == ("fit", True)
    (fewer,) = fitness_of(database, ["database-connections"], clients=501)
    assert fewer.outcome == "not fit"
    asking = Campaign(required_checks=["database-connections"], team=database.team)
    assert missing_of(asking, [database], [1, 500]) == []
    (missing,) = missing_of(asking, [database], [501, 1])
    assert "“pg1” is not fit" in missing


def test_a_check_that_has_not_decided_takes_two_more_runs(target):
    campaign = made(target, [55, 60, 66])
    assert of(target).undecided
    make_more("storage-published", target, somebody("again", "operator"))
    assert campaign.runs.count() == 5


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"check": "database-commit"}, "for another family of targets than machine"),
        ({"check": "bogus"}, "There is no check"),
        ({"check": "bogus", "act": "more"}, "There is no check"),
        ({"check": "storage-published", "scale": "-1"}, "is no scale"),
        ({"check": "storage-published"}, "give its SSH login on the page of the target first"),
    ],
)
def test_a_check_that_cannot_be_made_is_refused_with_its_reason(target, client, sent, message):
    SshLogin.objects.all().delete()
    client.force_login(somebody("dba", "operator"))

    answer = client.post(f"/targets/{target.pk}/fitness/", sent, follow=True)

    assert message in answer.text
    assert not Campaign.objects.exists()


def test_a_launch_says_what_is_missing_and_a_reason_lets_it_through(target):
    data = {
        "kind": "storage",
        "question": "Which is faster?",
        "target": target.pk,
        "factors": {"block_size": ["4k", "64k"]},
        "parameters": {"profile": "own"},
        "repetitions": 1,
    }
    with pytest.raises(Invalid, match="There is no check"):
        check(data | {"required_checks": ["fast"]})
    made(target, [40, 41, 42])
    asked = data | {"required_checks": ["storage-published"]}
    draft = drafts.create(check(asked), None)
    assert storage.definition_of(draft)["required_checks"] == ["storage-published"]
    found = [text for _, text in preview(check(asked)).found]
    assert any("is not fit by the check storage-published" in text for text in found)
    assert "Make the check on the page of the target, or state" in " ".join(found)
    with pytest.raises(NotPossible, match=r"“db1” is not fit .*needs 60 MB/s"):
        lifecycle.launch(draft, None)
    reason = {"unfit_reason": "A slow disk is what we ask about."}
    launched = lifecycle.launch(drafts.create(check(asked | reason), None), None)
    assert launched.caveat.endswith("Launched all the same: A slow disk is what we ask about.")
    assert launched.log.filter(text=launched.caveat).exists()
    made(target, [150, 151, 152])
    assert lifecycle.launch(draft, None).caveat == ""


@pytest.mark.parametrize(
    ("outcome", "is_fit"),
    [(FIT, True), (WARNING, True), (NOT_FIT, False), (NOT_KNOWN, False), ("", False)],
)
def test_a_check_that_says_nothing_does_not_let_a_campaign_through(outcome, is_fit):
    assert Fitness("storage-published", "", outcome, "", "").is_fit is is_fit


def test_a_check_that_was_never_made_holds_a_launch_back(target):
    (unmade,) = fitness_of(target, ["storage-published"])

    assert (unmade.outcome, unmade.is_fit) == (NOT_KNOWN, False)
