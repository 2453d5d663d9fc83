"""Processes share the files of a run: each file is fetched once, and every byte is counted."""

import subprocess
import sys
from collections import Counter

import pytest

from campaigns.kinds.downloader.engines.shards import queue_of
from campaigns.kinds.programs.program import ROOT
from campaigns.tests.kinds.programs.conftest import request_for

pytestmark = pytest.mark.system

TAKE = "from campaigns.kinds.downloader.engines.shards import numbers_from; print(*numbers_from(int(__import__('sys').argv[1])))"


@pytest.fixture
def engine():
    return "campaigns.kinds.downloader.engines.curl"


def test_no_number_is_taken_twice(tmp_path):
    queue = queue_of(60_000, tmp_path)
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE, str(queue)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            pass_fds=(queue,),
        )
        for _ in range(3)
    ]

    taken = Counter(
        int(number) for taker in takers for number in taker.communicate(timeout=30)[0].split()
    )

    assert len(taken) == 60_000
    assert set(taken.values()) == {1}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("processes", ["1", "2", "4"])
def test_any_number_of_processes_fetches_all_files(sandbox, download, tmp_path, processes):
    url = sandbox.manifest(files=30, size="1000-3000")

    outcome = download(url, processes=processes, concurrency=6)

    sizes = [size for _, _, size in request_for(url, tmp_path)["files"]]
    assert outcome.hello["processes"] == int(processes)
    assert outcome.hello["concurrency"] == 6
    assert sorted(outcome.samples["file"]) == list(range(30))
    assert set(outcome.samples["failure"]) == {""}
    assert sum(outcome.samples["bytes"]) == sum(sizes) >= outcome.progress.get("bytes", 0)
    assert outcome.result["spoken"] == {"1.1": 30}
    assert 1 <= outcome.result["figures"]["connections"] <= 6


@pytest.mark.parametrize(
    ("asked", "in_force"),
    [({"concurrency": 1}, 1), ({"most_per_second": 500.0}, 1), ({"most_concurrent": 3}, 3)],
)
def test_no_more_processes_are_started_than_have_work(download, asked, in_force):
    outcome = download("http://127.0.0.1:9/", files=[], processes="8", only_describe=True, **asked)

    assert outcome.hello["processes"] == in_force


def test_processes_stop_at_the_time_limit_with_what_they_have(sandbox, download, tmp_path):
    url = sandbox.manifest(files=30, size=1000, stalls=0.3)

    outcome = download(
        url,
        processes="2",
        concurrency=20,
        time_limit_seconds=3.0,
        read_timeout_seconds=60.0,
    )

    whole = [path for path in (tmp_path / "files").rglob("*") if path.is_file()]
    assert not outcome.result["complete"]
    assert 3.0 <= outcome.result["seconds"] < 30
    assert len(whole) == outcome.samples["failure"].count("")
    assert 0 < len(whole) < 30
