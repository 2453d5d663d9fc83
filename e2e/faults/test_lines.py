"""Beat, control worker and web are killed at any moment, 20 times: a line has one occasion for each, and one launch."""

import random
from time import sleep

import pytest

from e2e.conftest import copied, place, wait_for
from e2e.faults import processes
from e2e.faults.conftest import SEED
from e2e.faults.plant import Plant, started

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(580)]
ROUNDS = 20
LONGEST_SECONDS = 1.5
ROLES = {"beat": processes.beat, "control": processes.control, "web": processes.web}
YEARLY = "30 2 1 1 *"
"""So rarely that each occasion here is one that the test makes."""
DUE = """
    UPDATE campaigns_line SET due_at = date_trunc('minute', now()) - make_interval(mins => 10 * %s)
    WHERE id = %s RETURNING to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') AS at
"""
OCCASION = (
    "SELECT outcome, reason, campaign_id FROM campaigns_occasion WHERE line_id = %s AND key = %s"
)
STATE = "SELECT id FROM campaigns_campaign WHERE id = %s AND state = 'finished'"
LAUNCHED = "SELECT count(*) AS number, count(DISTINCT campaign_id) AS campaigns FROM campaigns_occasion WHERE line_id = %s AND outcome = 'launched'"
CAMPAIGNS = "SELECT count(*) AS number FROM campaigns_campaign WHERE line_id = %s"


@pytest.fixture(scope="module")
def hurried(first_start):
    """A perfdash that looks at its lines every second."""
    with (
        place() as path,
        started(Plant(copied(first_start, path / "data"), LINES_SECONDS="1")) as made,
    ):
        yield made


@pytest.fixture
def line(hurried, target):
    """A line that begins with a short campaign."""
    place_of = hurried.try_api(
        "POST",
        "targets",
        {"name": "lines", "family": "http", "base_url": target.base_url, "confirm_address": True},
    )
    campaign = hurried.try_api(
        "POST",
        "campaigns",
        {
            "question": "Does it survive?",
            "kind": "downloader",
            "target": place_of["id"],
            "parameters": {"manifest": "/repo/files=4,size=2000/PULP_MANIFEST"},
            "factors": {"engine": ["asyncio", "futures"]},
            "order": "random",
            "repetitions": 3,
            "seed": 1,
            "launch": True,
        },
    )
    hurried.until(campaign["id"], "finished")
    body = {"campaign": campaign["id"], "name": "Survives", "subject": "", "cron": YEARLY}
    made = hurried.try_api("POST", "lines", body)
    return made["id"]


def test_each_occasion_is_one_and_launches_once(hurried, line):
    chance = random.Random(SEED)
    for number in range(ROUNDS):
        role = chance.choice(list(ROLES))
        by_hand = number % 4 == 3
        key = begun(hurried, line, number, by_hand=by_hand)
        sleep(chance.random() * LONGEST_SECONDS)
        processes.kill(ROLES[role](hurried.pid))
        if by_hand:
            hurried.try_api("POST", f"lines/{line}/occasions", {"key": key})
        settled(hurried, line, key, role)

    (launched,) = hurried.rows(LAUNCHED, line)
    (campaigns,) = hurried.rows(CAMPAIGNS, line)
    assert launched == {"number": ROUNDS, "campaigns": ROUNDS}
    assert campaigns["number"] == ROUNDS + 1


def begun(hurried, line, number, *, by_hand):
    """Let the line be due, or ask for it; return the key of the occasion."""
    if not by_hand:
        (row,) = hurried.rows(DUE, number, line)
        return f"schedule {row['at']}"
    key = f"round {number}"
    hurried.try_api("POST", f"lines/{line}/occasions", {"key": key})
    return key


def settled(hurried, line, key, role):
    """Wait until the killed one is back, and the occasion has launched, and its campaign has ended."""
    wait_for(lambda: ROLES[role](hurried.pid), role)
    (row,) = wait_for(lambda: hurried.rows(OCCASION, line, key), f"the occasion {key}", 60)
    assert (row["outcome"], row["reason"]) == ("launched", "")
    wait_for(lambda: hurried.rows(STATE, row["campaign_id"]), "the end of its campaign", 60)
