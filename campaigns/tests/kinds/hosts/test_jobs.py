"""What hosts pretend to run: the same seed gives the same hosts and times."""

import json

import pytest

from campaigns.kinds.hosts.program.jobs import Script, updates


@pytest.mark.parametrize(("percent", "failing"), [(0, 0), (0.025, 1), (25, 1000), (100, 4000)])
def test_just_so_many_scripts_fail(percent, failing):
    script = Script(4000, failed_percent=percent, failed_exit_code=7)

    codes = [script.exit_code_of(number) for number in range(4000)]

    assert codes.count(7) == failing
    assert codes.count(0) == 4000 - failing


def test_a_seed_gives_the_same_hosts_and_times_again():
    first, again, other = (
        Script(100, 1.0, 5.0, failed_percent=10, seed=seed) for seed in (3, 3, 4)
    )

    assert first.failing == again.failing != other.failing
    times = [first.seconds_of(number) for number in range(100)]
    assert times == [again.seconds_of(number) for number in range(100)]
    assert 1.0 <= min(times) < 1.5
    assert 4.5 < max(times) <= 5.0


def test_output_comes_before_the_end_and_only_where_there_is_any():
    told = json.loads(updates("done\n", 3))

    assert told["version"] == "1"
    assert [each["type"] for each in told["updates"]] == ["output", "exit"]
    assert told["updates"][1]["exit_code"] == 3
    assert told["updates"][0]["timestamp"].endswith("Z")
    assert [each["type"] for each in json.loads(updates("", 0))["updates"]] == ["exit"]
