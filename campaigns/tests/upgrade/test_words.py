"""What is stored under an earlier word is read under that of today, and under the earlier one after the way back."""

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from campaigns.models import (
    Announcement,
    Attempt,
    Channel,
    CheckWord,
    EnvironmentFact,
    ManualStep,
    Setting,
    Target,
    TargetStep,
)

BEFORE = "0026_failure_examples"
THEN = """
    SELECT
        (SELECT hand_value::text || apply::text || read_back::text FROM campaigns_setting WHERE name = 'by_a_person'),
        (SELECT action::text FROM campaigns_targetstep),
        (SELECT words FROM campaigns_handrequest),
        (SELECT kind FROM campaigns_announcement WHERE kind LIKE 'campaign_needs%'),
        (SELECT kinds::text FROM campaigns_channel)
"""


def rows(query: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def of_today() -> list[object]:
    """Return all that the migration renames, as the models of today read it."""
    return [
        list(Setting.objects.order_by("pk").values_list("apply", "read_back", "manual_value")),
        list(TargetStep.objects.values_list("action")),
        list(ManualStep.objects.values_list("words", "setting", "value")),
        list(Announcement.objects.order_by("pk").values_list("kind")),
        list(Channel.objects.values_list("kinds")),
        list(EnvironmentFact.objects.order_by("pk").values_list("side", "name", "value")),
        list(Attempt.objects.order_by("pk").values_list("simulator")),
    ]


def test_a_simulator_of_then_is_one_of_today(upgraded):
    facts = EnvironmentFact.objects.filter(name="simulated target")

    assert not EnvironmentFact.objects.filter(name="stand-in").exists()
    assert set(facts.values_list("value", flat=True)) == {"sandbox of perfdash"}
    assert set(facts.values_list("attempt__simulator", flat=True)) == {"sandbox of perfdash"}
    assert rows("SELECT DISTINCT stand_in FROM perfdash_views.attempts WHERE stand_in <> ''") == [
        ("sandbox of perfdash",)
    ]


def test_settings_of_a_simulator_are_set_where_it_takes_them_today(upgraded):
    actions = Setting.objects.values_list("apply", "read_back")

    assert {action["url"] for pair in actions for action in pair} == {
        f"/simulator/settings/{name}"
        for name in ("puma_workers", "puma_threads", "db_pool", "cpus", "memory_gib")
    }


def test_what_may_never_change_keeps_its_word(upgraded):
    assert CheckWord.objects.filter(check_name__startswith="stand_in-").exists()


def test_words_of_today_are_those_of_then_after_the_way_back_and_the_same_again(upgraded):
    target, owner = Target.objects.earliest("pk"), User.objects.get(username="owner")
    manual = {"way": "manual", "words": "Set it."}
    own = Setting.objects.create(
        target=target, name="by_a_person", apply=manual, read_back={"way": "manual"}, manual_value=4
    )
    TargetStep.objects.create(target=target, name="empty", action=manual)
    ManualStep.objects.create(target=target, setting=own, value=4, words="Set it to 4.")
    kind = Announcement.Kind.CAMPAIGN_NEEDS_MANUAL_STEP
    Announcement.objects.create(kind=kind)
    Channel.objects.create(user=owner, name="mine", kind="email", kinds=["trial", kind])
    today = of_today()

    call_command("migrate", "campaigns", BEFORE, verbosity=0)

    assert rows(THEN) == [
        (
            '4{"way": "hand", "words": "Set it."}{"way": "hand"}',
            '{"way": "hand", "words": "Set it."}',
            "Set it to 4.",
            "campaign_needs_hand",
            '["trial", "campaign_needs_hand"]',
        )
    ]
    assert rows("SELECT count(*) FROM campaigns_environmentfact WHERE name = 'stand-in'") != [(0,)]

    call_command("migrate", verbosity=0, interactive=False)

    assert of_today() == today
