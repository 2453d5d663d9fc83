"""What real web servers carry: an nginx that lets K clients in, and an HAProxy that passes K requests on at once."""

import threading
from contextlib import ExitStack

import pytest

from campaigns.kinds.programs.program import run_program
from campaigns.kit import histogram
from campaigns.kit.network import parse_rules
from e2e.conftest import wait_for
from e2e.web_servers import haproxy, manifest, nginx

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

BOOKS = """
    SELECT target.name, block.number, run.state
    FROM campaigns_run run JOIN campaigns_cell cell ON cell.id = run.cell_id
    JOIN campaigns_target target ON target.id = cell.target_id
    JOIN campaigns_block block ON block.id = run.block_id
    WHERE run.campaign_id = %s
"""
FAILURES_ALONE = {"failed_percent": 5}
FILES = 250  # of three runs it takes 352 without a failure to show 5 %, of two settings 732


@pytest.fixture
def started(tmp_path):
    """Call `started(server, ...)`: servers that stop at the end of the test, each in a directory of its own."""
    with ExitStack() as stack:

        def started(server, *arguments, **options):
            place = tmp_path / f"server-{len(list(tmp_path.iterdir()))}"
            place.mkdir()
            return stack.enter_context(server(place, *arguments, **options))

        yield started


def target(perfdash, name, server, hardware=""):
    body = {"name": f"{name} {server.url[-5:]}", "family": "http", "base_url": server.url}
    body |= {"hardware": hardware, "confirm_address": True}
    return perfdash.api("POST", "targets", body)["id"]


def launch(perfdash, clients, number, criterion, **changes):
    """Start a campaign in which so many clients download `number` files, in turn."""
    body = {
        "question": "How many clients does it carry?",
        "kind": "downloader",
        "parameters": {"manifest": manifest(number)},
        "factors": {"concurrency": clients},
        "roles": {"concurrency": "load"},
        "criterion": criterion,
        "order": "interleaved",
        "repetitions": 3,
        "seed": 7,
        "launch": True,
    }
    return perfdash.api("POST", "campaigns", body | changes)["id"]


def finding_of(perfdash, campaign):
    """Wait for the end of a campaign; return what is carried, and all that the answer says."""
    perfdash.until(campaign, "finished", seconds=500)
    found = perfdash.api("GET", f"campaigns/{campaign}/findings/capacity")["result"]
    return found, str(perfdash.api("GET", f"campaigns/{campaign}/findings/answer")["text"])


@pytest.mark.nightly
def test_two_servers_of_which_one_lets_twice_as_many_clients_in(perfdash, started):
    one, two = (started(nginx, 0.2, most, [FILES]) for most in (50, 100))
    keys = [
        target(perfdash, "small", one, "limit_conn 50"),
        target(perfdash, "large", two, "limit_conn 100"),
    ]

    campaign = launch(perfdash, [50, 70, 100, 140], FILES, FAILURES_ALONE, targets=keys)
    found, text = finding_of(perfdash, campaign)

    carried = [setting["capacity"] for setting in found["settings"]]
    assert [(each["word"], each["low"], each["high"]) for each in carried] == [
        ("between", 50, 70),
        ("between", 100, 140),
    ]
    (of,) = found["ratios"]
    low, high = of["ratio"]["low"], of["ratio"]["high"]
    assert (low, high) == (pytest.approx(100 / 70), pytest.approx(140 / 50))
    assert low < 2 < high
    assert of["ratio"]["word"] == "better"
    assert "at least 1.4 times as much" in text
    assert "also differs: hardware and network limit_conn 50 / limit_conn 100" in text


@pytest.mark.nightly
def test_the_answer_of_one_server_stands_where_the_other_is_stopped_in_block_3(perfdash, started):
    one, two = (started(nginx, 0.05, most, [FILES]) for most in (20, 40))
    keys = [target(perfdash, "stays", one), target(perfdash, "stops", two)]
    campaign = launch(perfdash, [20, 25], FILES, FAILURES_ALONE, targets=keys, repetitions=5)

    def second_block_is_done():
        states = [state for _, block, state in perfdash.rows(BOOKS, campaign) if block == 2]
        return states and set(states) == {"done"}

    wait_for(second_block_is_done, "the end of block 2", 200)
    two.process.terminate()
    found, text = finding_of(perfdash, campaign)

    stays, stops = (setting["capacity"] for setting in found["settings"])
    assert (stays["word"], stays["low"], stays["high"], stays["blocks"]) == ("between", 20, 25, 5)
    assert (stops["word"], stops["blocks"]) == ("not_enough_data", 2)
    assert f"stops {two.url[-5:]} took part in 2 of 5 blocks" in text
    kept = {state for name, _, state in perfdash.rows(BOOKS, campaign) if name.startswith("stays")}
    assert kept == {"done"}


def test_the_time_of_an_answer_reaches_three_delays_at_three_times_the_places(perfdash, started):
    seconds, places = 0.2, 20
    behind = started(nginx, seconds, None, [240])
    key = target(perfdash, "queue", started(haproxy, behind, places))
    limit = {"metric": "file_time_p50", "at_most": f"{3 * seconds} s"}

    campaign = launch(perfdash, [40, 80], 240, {"conditions": [limit]}, target=key)
    found, _ = finding_of(perfdash, campaign)

    (setting,) = found["settings"]
    carried = setting["capacity"]
    assert (carried["word"], carried["low"], carried["high"]) == ("between", 40, 80)
    # Every answer should wait for N seconds / places. The median did; p95 crossed at 49 to 51 on a busy machine, why is open.
    assert carried["about"] == pytest.approx(3 * places, rel=0.05)
    assert carried["estimate"] is None  # the line is not claimed over a gap of ratio 2


def test_an_offered_rate_is_bracketed_and_nothing_is_interpolated(perfdash, started):
    seconds, places = 0.2, 20
    server = started(haproxy, started(nginx, seconds, None, [1]), places)
    served = places / seconds
    rates = [round(0.9 * served), round(0.9 * 1.25 * served)]
    runs = [
        {"tags": {"rate": rate}, "block": block} | offered(server, rate, seconds=2)
        for block, order in ((1, rates), (2, rates[::-1]), (3, rates))
        for rate in order
    ]
    body = {
        "campaign": {
            "question": "Which rate is carried?",
            "order": "interleaved",
            "roles": {"rate": "load"},
            "criterion": {"conditions": [{"metric": "p95", "at_most": 1.5 * seconds}]},
        },
        "metrics": {"p95": {"unit": "s", "lower_is_better": True}},
        "runs": runs,
    }
    answer = perfdash.api("POST", "submissions", body)
    found, _ = finding_of(perfdash, answer["submission"]["campaign"]["id"])

    capacity = found["settings"][0]["capacity"]
    assert (capacity["word"], capacity["low"], capacity["high"]) == ("between", *rates)
    assert rates[0] < served < rates[1]
    assert capacity["estimate"] is None
    assert "levels_only" in capacity["badges"]


def offered(server, rate, seconds):
    """Offer requests at a rate by the load engine; return the values of a submitted run."""
    outcome = run_program(
        "campaigns.kinds.load",
        {
            "url": f"{server.url}/1/file-0",
            "rules": parse_rules(server.address).to_json(),
            "schedule": {
                "hosts": 400,
                "loop": "open",
                "rate_per_second": rate,
                "duration_seconds": seconds,
            },
        },
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        deadline_seconds=60.0,
    )
    times = histogram.counts_of(outcome.result["histograms"]["response"].encode("ascii"))
    assert not outcome.result["failures"]
    return {"values": {"p95": times.at([0.95])[0] / 1e6}, "units_done": times.total}
