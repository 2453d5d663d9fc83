"""A hundred clients wait for one campaign, and pages answer all the while."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import pytest

CLIENTS = 100
PAGES = 10


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_pages_answer_while_a_hundred_clients_wait_and_each_hears_of_the_end(perfdash):
    targets = perfdash.api("GET", "targets")["results"]
    target = next(each["id"] for each in targets if each["name"] == "sandbox")
    campaign = perfdash.api(
        "POST",
        "campaigns?launch=true",
        {
            "question": "Who waits?",
            "kind": "downloader",
            "target": target,
            "parameters": {"manifest": "repo/files=5/size=1kB/latency=200/PULP_MANIFEST"},
            "factors": {"engine": ["futures", "asyncio"]},
            "order": "interleaved",
            "repetitions": 100,
        },
    )["id"]
    base, token, places_taken = perfdash.state["base_url"], perfdash.token, Event()

    def get(path, timeout=60):
        request = urllib.request.Request(  # noqa: S310  loopback
            f"{base}{path}", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
            return answer.headers, answer.read()

    def client():
        """Do as docs/reference/api.md says; give how often it asked."""
        asked = 0
        while True:
            asked += 1
            headers, body = get(f"/api/v1/campaigns/{campaign}?fields=state&wait=30&state=running")
            if json.loads(body)["state"] != "running":
                return asked
            if "Retry-After" in headers:
                places_taken.set()
                sleep(float(headers["Retry-After"]))

    with ThreadPoolExecutor(CLIENTS) as pool:
        waiting = [pool.submit(client) for _ in range(CLIENTS)]
        assert places_taken.wait(60)
        for _ in range(PAGES):
            get("/sign-in/", timeout=25)  # were all threads held, it would wait for longer
        perfdash.api("POST", f"campaigns/{campaign}/cancel", {"reason": "enough"})
        told = [each.result(timeout=60) for each in waiting]

    assert sum(told) < CLIENTS * 10
