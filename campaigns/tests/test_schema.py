"""The database's own rules: what no code may get past."""

import math
from datetime import timedelta
from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from campaigns.kit import encryption
from campaigns.models import (
    ApiToken,
    Attempt,
    Block,
    Campaign,
    Cell,
    Distribution,
    EnvironmentFact,
    Exclusion,
    Factor,
    Finding,
    Generator,
    GeneratorLease,
    Level,
    Measurement,
    Phase,
    Run,
    Series,
    Session,
    SignInLink,
    Target,
    TargetLease,
    Team,
    Worker,
)
from campaigns.models.teams import default_team
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.tests.metrics import metric
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition, target, toy

__all__ = ["target", "toy"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target) -> Campaign:
    return lifecycle.launch(drafts.create(check(definition(target=target.pk)), None), None)


@pytest.fixture
def run(campaign) -> Run:
    return Run.objects.get(campaign=campaign, position=1)


@pytest.fixture
def attempt(run) -> Attempt:
    return make_attempt(run, 1, Attempt.State.ACCEPTED)


def make_attempt(run: Run, number: int, state: str) -> Attempt:
    claimed = None if state == Attempt.State.QUEUED else Now()
    return Attempt.objects.create(
        run=run, number=number, state=state, pool="measure", token=1, claimed_at=claimed
    )


def refused(constraint: str):
    """A block whose last statement breaks a constraint of that name."""
    return pytest.raises(IntegrityError, match=constraint)


def test_migrations_are_in_step_with_the_models():
    call_command("makemigrations", "--check", "--dry-run", stdout=StringIO())


def test_the_database_is_postgresql():
    assert connection.vendor == "postgresql"


# Attempts and runs


def test_a_run_has_one_accepted_attempt_at_most(run):
    make_attempt(run, 1, Attempt.State.ACCEPTED)

    with refused("one_accepted_attempt_a_run"):
        make_attempt(run, 2, Attempt.State.ACCEPTED)


@pytest.mark.parametrize("second", [Attempt.State.QUEUED, Attempt.State.RUNNING])
@pytest.mark.parametrize("first", [Attempt.State.QUEUED, Attempt.State.RUNNING])
def test_a_run_has_one_open_attempt_at_most(run, first, second):
    make_attempt(run, 1, first)

    with refused("one_open_attempt_a_run"):
        make_attempt(run, 2, second)


def test_closed_attempts_pile_up_beside_an_accepted_and_an_open_one(run):
    for number, state in enumerate(["void", "lost", "failed", "accepted", "queued"], start=1):
        make_attempt(run, number, state)

    assert run.attempts.count() == 5


def test_the_number_of_an_attempt_is_there_once(run):
    make_attempt(run, 1, Attempt.State.LOST)

    with refused("attempt_number_once"):
        make_attempt(run, 1, Attempt.State.QUEUED)


@pytest.mark.parametrize("state", ["running", "accepted", "failed", "void", "lost"])
def test_an_attempt_that_nobody_claimed_neither_runs_nor_ends(run, state):
    with refused("claimed_before_it_ends"):
        Attempt.objects.create(run=run, number=1, state=state, pool="measure", token=1)


def test_an_attempt_that_nobody_claimed_can_be_cancelled(run):
    Attempt.objects.create(run=run, number=1, state="cancelled", pool="measure", token=1)


def test_a_position_is_there_once_among_planned_runs_and_once_among_try_outs(run):
    place = {"campaign": run.campaign, "cell": run.cell, "block": run.block, "position": 1}
    Run.objects.create(**place, purpose=Run.Purpose.TRIAL)

    for purpose, constraint in [
        (Run.Purpose.WARM_UP, "run_position_once"),
        (Run.Purpose.TRIAL, "trial_position_once"),
    ]:
        with refused(constraint), transaction.atomic():
            Run.objects.create(**place, purpose=purpose)


def test_a_position_is_not_negative(run):
    with pytest.raises(IntegrityError, match="position_check"):
        Run.objects.filter(pk=run.pk).update(position=-1)


def test_runs_and_attempts_are_in_a_state_that_somebody_knows(run, attempt):
    for row, constraint in ((run, "run_state_known"), (attempt, "attempt_state_known")):
        with refused(constraint), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(state="nonsense")


@pytest.mark.parametrize("state", ["planned", "running"])
def test_an_open_run_has_not_ended(run, state):
    with refused("open_run_has_not_ended"):
        Run.objects.filter(pk=run.pk).update(state=state, finished_at=Now())


def test_one_exclusion_of_a_run_is_in_force_and_says_why(run):
    Exclusion.objects.create(run=run, reason="a backup", withdrawn_at=Now())
    Exclusion.objects.create(run=run, reason="a backup")

    for reason, constraint in (("again", "one_exclusion_a_run"), ("", "exclusion_says_why")):
        withdrawn_at = None if reason else Now()
        with refused(constraint), transaction.atomic():
            Exclusion.objects.create(run=run, reason=reason, withdrawn_at=withdrawn_at)


def test_a_cell_and_a_block_with_runs_are_not_deleted(run):
    for row in (run.cell, run.block):
        with pytest.raises(ProtectedError):
            row.delete()


# Campaigns


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"repetitions": 0}, "at_least_one_repetition"),
        ({"repetitions": -1}, "at_least_one_repetition"),
        ({"cool_down_seconds": -0.1}, "cool_down_not_negative"),
        ({"smallest_effect": 0}, "effect_and_margin_positive"),
        ({"margin": -0.1}, "effect_and_margin_positive"),
        ({"launched_at": None}, "launched_before_it_leaves_draft"),
        ({"state": "nonsense"}, "campaign_state_known"),
        ({"run_limit_seconds": 0}, "run_limit_positive"),
        ({"order": "paired", "paired_factor": ""}, "paired_order_names_its_factor"),
    ],
)
def test_a_campaign_keeps_its_rules(campaign, changes, constraint):
    with refused(constraint):
        Campaign.objects.filter(pk=campaign.pk).update(**changes)


@pytest.mark.parametrize("state", ["running", "paused", "cancelling", "cancelled", "finished"])
def test_nothing_leaves_draft_without_a_launch(target, state):
    draft = drafts.create(check(definition(target=target.pk)), None)

    with refused("launched_before_it_leaves_draft"):
        Campaign.objects.filter(pk=draft.pk).update(state=state)


def test_factors_levels_cells_blocks_and_sessions_are_there_once(campaign):
    factor = campaign.factors.get()
    session = campaign.sessions.get()
    for constraint, make in {
        "factor_once": lambda: Factor(campaign=campaign, name="engine", position=2),
        "factor_position_once": lambda: Factor(campaign=campaign, name="other", position=1),
        "level_value_once": lambda: Level(factor=factor, position=3, value="new"),
        "level_position_once": lambda: Level(factor=factor, position=1, value="other"),
        "cell_position_once": lambda: Cell(
            campaign=campaign, position=1, levels_by_factor={"engine": "x"}
        ),
        "cell_combination_once": lambda: Cell(
            campaign=campaign, position=3, levels_by_factor={"engine": "new"}
        ),
        "block_number_once": lambda: Block(
            campaign=campaign, session=session, number=1, repetition=9
        ),
        "session_number_once": lambda: Session(
            campaign=campaign, number=1, kind=Session.Kind.EXTENSION
        ),
        "finding_once_a_campaign": lambda: Finding(
            campaign=campaign, name="answer", result={}, data_hash="x"
        ),
    }.items():
        if constraint == "finding_once_a_campaign":
            make().save()
        with refused(constraint), transaction.atomic():
            make().save()


# What an attempt observed


@pytest.mark.parametrize(
    ("constraint", "make"),
    [
        (
            "campaigns_measurement_pkey",
            lambda attempt: Measurement(attempt=attempt, metric=metric(), value=1),
        ),
        (
            "distribution_once",
            lambda attempt: Distribution(attempt=attempt, name="total", encoded=b"x", count=1),
        ),
        (
            "series_once",
            lambda attempt: Series(
                attempt=attempt, name="rate", unit="B/s", step_seconds=1, values=[1.0]
            ),
        ),
        (
            "phase_once",
            lambda attempt: Phase(attempt=attempt, of="measure", name="save", seconds=1),
        ),
        (
            "fact_once",
            lambda attempt: EnvironmentFact(
                attempt=attempt, side="target", name="kernel", value="6.1"
            ),
        ),
    ],
)
def test_an_observation_is_stored_once_an_attempt(attempt, constraint, make):
    make(attempt).save()

    with refused(constraint):
        make(attempt).save(force_insert=True)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_measured_value_is_a_number(attempt, value):
    with refused("value_is_a_number"):
        Measurement.objects.create(attempt=attempt, metric=metric(), value=value)


# Targets, leases, people


def test_one_lease_an_address_and_one_a_host(attempt, campaign):
    other = make_attempt(campaign.runs.get(position=2), 1, Attempt.State.QUEUED)
    TargetLease.objects.create(address="127.0.0.1:9", attempt=attempt)
    GeneratorLease.objects.create(host="here", attempt=attempt)

    for make in (
        lambda: TargetLease.objects.create(address="127.0.0.1:9", attempt=other),
        lambda: GeneratorLease.objects.create(host="here", attempt=other),
        lambda: TargetLease.objects.create(address="127.0.0.2:9", attempt=attempt),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            make()
    GeneratorLease.objects.create(host="there", attempt=attempt)  # of a run with several generators


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "sleeping"},
        {"state": "claimed", "worker": "w", "host": "h"},
        {"state": "failed"},
        {"state": "started", "worker": "w", "host": "h", "claimed_at": Now()},
        {"number": 1},
    ],
)
def test_a_generator_is_in_a_state_that_can_be(attempt, wrong):
    Generator.objects.create(attempt=attempt, number=1, pool="generate", module="m")

    with pytest.raises(IntegrityError), transaction.atomic():
        Generator.objects.create(
            **{"attempt": attempt, "number": 2, "pool": "generate", "module": "m"} | wrong
        )


def test_a_lease_outlives_the_attempt_that_held_it(attempt):
    lease = TargetLease.objects.create(address="127.0.0.1:9", attempt=attempt, token=7)

    attempt.delete()

    lease.refresh_from_db()
    assert (lease.attempt, lease.token) == (None, 7)


def test_the_name_of_a_target_is_there_once_in_a_team(target):
    place = {"name": target.name, "family": "http", "base_url": "http://x", "address": "x:80"}
    Target.objects.create(**place, team=Team.objects.create(name="Another"))

    with refused("target_name_once_in_a_team"):
        Target.objects.create(**place)


def test_a_target_with_campaigns_is_not_deleted(campaign):
    with pytest.raises(ProtectedError):
        campaign.target.delete()


def test_there_is_one_default_team():
    default_team()

    with refused("one_default_team"):
        Team.objects.create(name="Second", is_default=True)


def test_the_default_team_is_made_where_it_is_missing_and_found_again():
    assert default_team() == default_team()
    assert Team.objects.get().is_default


@pytest.mark.parametrize("model", [ApiToken, SignInLink])
def test_a_hash_belongs_to_one_key(model):
    user = somebody("owner")
    rest = {"name": "x"} if model is ApiToken else {"expires_at": Now() + timedelta(minutes=1)}
    model.objects.create(user=user, hash="a" * 64, **rest)

    with pytest.raises(IntegrityError):
        model.objects.create(user=user, hash="a" * 64, **rest)


def test_a_worker_has_one_row():
    Worker.objects.create(name="measure@here", host="here")

    with pytest.raises(IntegrityError):
        Worker.objects.create(name="measure@here", host="there")


def test_whoever_has_an_account_and_campaigns_is_not_deleted(target):
    user = somebody("owner")
    drafts.create(check(definition(target=target.pk)), user)

    with pytest.raises(ProtectedError):
        user.delete()


def test_a_text_that_is_too_long_is_an_error_and_not_cut(campaign):
    with pytest.raises(DatabaseError, match="too long"):
        Campaign.objects.filter(pk=campaign.pk).update(name="n" * 121)


# Secrets


def everything_stored() -> str:
    """Every value of every table of perfdash, as text."""
    with connection.cursor() as cursor:
        tables = [
            name
            for name in connection.introspection.table_names(cursor)
            if name.startswith("campaigns_")
        ]
        rows = []
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')  # noqa: S608
            rows += [row for (row,) in cursor.fetchall()]
    return "\n".join(rows)


def test_a_password_is_nowhere_in_the_database(campaign):
    stored = everything_stored()

    assert "toy server" in stored
    assert "correct horse" not in stored


def test_a_password_is_opened_by_any_key_of_the_list_and_by_no_other(target, settings):
    old, new = settings.ENCRYPTION_KEYS, Fernet.generate_key().decode()

    settings.ENCRYPTION_KEYS = [new, *old]
    assert encryption.decrypt(target.password) == "correct horse battery"
    settings.ENCRYPTION_KEYS = [new]
    with pytest.raises(encryption.SecretUnreadable, match="PERFDASH_ENCRYPTION_KEYS"):
        encryption.decrypt(target.password)


def test_a_rotated_password_needs_the_new_key_alone(target, settings):
    old, new = settings.ENCRYPTION_KEYS, Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, *old]

    rotated = encryption.rotate(target.password)

    settings.ENCRYPTION_KEYS = [new]
    assert encryption.decrypt(rotated) == "correct horse battery"
    assert encryption.rotate("") == ""


def test_a_password_that_no_key_opens_is_not_rotated(target, settings):
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    with pytest.raises(encryption.SecretUnreadable):
        encryption.rotate(target.password)


def test_a_password_is_on_no_page(campaign):
    client = Client()
    client.force_login(somebody("owner"))
    target_key, campaign_key = [campaign.target_id], [campaign.pk]

    for page in (
        reverse("home"),
        reverse("target-list"),
        reverse("target", args=target_key),
        reverse("target-edit", args=target_key),
        reverse("campaign", args=campaign_key),
        reverse("campaign-print", args=campaign_key),
        reverse("campaign-clone", args=campaign_key),
        reverse("campaign-json", args=campaign_key),
        reverse("campaign-runs-csv", args=campaign_key),
    ):
        response = client.get(page)
        content = b"".join(response) if response.streaming else response.content

        assert response.status_code == 200, page
        assert b"correct horse" not in content
        assert campaign.target.password.encode() not in content


GROWING = (Run, Attempt, Measurement, Block, Cell, EnvironmentFact, Phase, Series, Distribution)
BEGINNINGS = """
    SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_index longer USING (indrelid)
    WHERE i.indrelid = %s::regclass AND i.indexrelid <> longer.indexrelid AND NOT i.indisunique AND i.indpred IS NULL
        AND longer.indpred IS NULL AND i.indnatts = 1 AND longer.indkey[0] = i.indkey[0]
"""


def test_no_index_of_what_grows_with_runs_is_the_beginning_of_another(db):
    found = []
    with connection.cursor() as cursor:
        for model in GROWING:
            cursor.execute(BEGINNINGS, [model._meta.db_table])
            found += cursor.fetchall()
    assert not found
