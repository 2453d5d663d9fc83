"""Three targets side by side in one campaign: one is slow, one is killed in the middle; and two that share targets."""

import os
import signal
import socket
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread
from time import sleep

import pytest

from e2e.conftest import wait_for
from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

BOOKS = """
    SELECT target.name, block.number, run.state, count(DISTINCT run.id)
    FROM campaigns_run run JOIN campaigns_cell cell ON cell.id = run.cell_id
    JOIN campaigns_target target ON target.id = cell.target_id
    JOIN campaigns_block block ON block.id = run.block_id
    WHERE run.campaign_id = %s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
AT_ONCE = """
    SELECT count(*) FROM campaigns_attempt one JOIN campaigns_run r1 ON r1.id = one.run_id
    JOIN campaigns_run r2 ON r2.campaign_id = r1.campaign_id
    JOIN campaigns_attempt other ON other.run_id = r2.id AND other.id > one.id
    WHERE r1.campaign_id = ANY(%s)
    AND one.claimed_at < other.finished_at AND other.claimed_at < one.finished_at
"""
DELAY_SECONDS = 0.05


@contextmanager
def slowly(base_url):
    """Serve a sandbox at another port, each answer later; yield its URL."""
    host, port = base_url.removeprefix("http://").split(":")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=_accept, args=(listening, (host, int(port))), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def _accept(listening, address):
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        try:
            server = socket.create_connection(address)
        except OSError:  # the sandbox behind it has ended
            client.close()
            continue
        Thread(target=_pass, args=(client, server, DELAY_SECONDS), daemon=True).start()
        Thread(target=_pass, args=(server, client, 0), daemon=True).start()


def _pass(source, sink, seconds):
    with source, suppress(OSError):
        while part := source.recv(65536):
            sleep(seconds)
            sink.sendall(part)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def servers(perfdash):
    """Two plain sandboxes and a slow one, saved as targets: names with keys, and the process of each."""
    with ExitStack() as stack:
        boxes = [stack.enter_context(running()) for _ in range(3)]
        urls = [boxes[0].base_url, boxes[1].base_url]
        urls.append(stack.enter_context(slowly(boxes[2].base_url)))
        keys = {}
        for name, url in zip(("proxy-8", "proxy-16", "proxy-slow"), urls, strict=True):
            body: dict[str, object] = {
                "name": f"{name} {url[-5:]}",
                "family": "http",
                "base_url": url,
            }
            body |= {"confirm_address": True, "hardware": f"the machine of {name}"}
            keys[name] = perfdash.api("POST", "targets", body)["id"]
        yield keys, boxes


def launch(perfdash, keys, **changes):
    body = {
        "question": "Which proxy is the fastest?",
        "kind": "downloader",
        "targets": keys,
        "parameters": {"manifest": "/repo/files=40,size=2000/latency=5/PULP_MANIFEST"},
        "factors": {"concurrency": [4, 10]},
        "order": "interleaved",
        "repetitions": 5,
        "seed": 3,
        "launch": True,
    }
    return perfdash.api("POST", "campaigns", body | changes)["id"]


def test_one_is_slow_and_one_is_killed_in_the_middle(perfdash, servers):
    keys, boxes = servers
    campaign = launch(perfdash, list(keys.values()))

    def books():
        return [
            (name.rsplit(" ", 1)[0], *others) for name, *others in perfdash.rows(BOOKS, campaign)
        ]

    wait_for(
        lambda: [
            row for row in books() if row[0] == "proxy-16" and row[1] == 2 and row[2] == "done"
        ],
        "a run of block 2 on proxy-16",
        seconds=200,
    )
    wait_for(
        lambda: not [row for row in books() if row[1] == 2 and row[2] in ("planned", "running")],
        "the end of block 2",
        seconds=200,
    )
    os.kill(boxes[1].pid, signal.SIGKILL)
    perfdash.until(campaign, "finished", seconds=400)

    kept = [row for row in books() if row[0] != "proxy-16"]
    assert {row[2:] for row in kept} == {("done", 2)}
    lost = {row[1]: row[2] for row in books() if row[0] == "proxy-16" and row[1] > 3}
    assert "cancelled" in lost.values()
    assert perfdash.rows(AT_ONCE, [campaign]) == [(0,)]

    text = str(perfdash.api("GET", f"campaigns/{campaign}/findings/answer")["text"])
    assert "proxy-16" in text
    assert "took part in" in text
    assert "also differs: hardware and network the machine of proxy-8" in text


def test_two_campaigns_over_the_same_targets_in_opposite_order_both_end(perfdash, servers):
    keys, _ = servers
    one, two = keys["proxy-8"], keys["proxy-slow"]
    first = launch(perfdash, [one, two], repetitions=3, factors={})
    second = launch(perfdash, [two, one], repetitions=3, factors={})

    for campaign in (first, second):
        perfdash.until(campaign, "finished", seconds=400)
        assert {row[2:] for row in perfdash.rows(BOOKS, campaign)} == {("done", 1)}
    assert perfdash.rows(AT_ONCE, [first, second]) == [(0,)]
