"""Campaigns of the kind http, made and run by a whole perfdash: a closed loop, a rate, and what is kept of a sign-in."""

import base64
import json
import re
import urllib.request
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from campaigns.tests.kinds.http.api import PASSWORD, TOKEN, USER, running_api
from e2e.conftest import wait_for
from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

FILE = """\
name: manifest and file
steps:
  - name: manifest
    get: /repo/files=10,size=2kB/latency=5/PULP_MANIFEST
    expect: {status: 200}
    take: {name: {between: ["", ","]}}
  - name: file
    get: /repo/files=10,size=2kB/latency=5/{name}
"""
SESSION = """\
cookies: keep
before:
  - {name: make, post: /items, expect: {status: 201}, take: {made: {header: Location}}}
steps:
  - name: sign in
    post: /sign-in
    form: {user: "{target_user}", password: "{target_password}"}
    take: {token: {json: token}}
  - {name: mine, get: /mine, headers: {X-Mine: "{token}"}}
  - {name: broken, get: /broken, weight: 0.01}
after:
  - {name: remove, delete: "{made}"}
prove: {get: /count, json: requests}
"""
TABLES = (
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'campaigns%%'"
)
COMMON = {"order": "interleaved", "repetitions": 3, "seed": 3, "launch": True, "kind": "http"}


def launched(perfdash, target, question, parameters, factors):
    body = {"question": question, "target": target, "parameters": parameters, "factors": factors}
    return perfdash.api("POST", "campaigns", COMMON | body)["id"]


def ended(perfdash, campaign):
    perfdash.until(campaign, "finished", seconds=200)
    return perfdash.api("GET", f"campaigns/{campaign}")


def text_of_tables(perfdash):
    """All that is stored, as text."""
    names = perfdash.rows(TABLES)
    query = "SELECT string_agg(t::text, ' ') FROM {} t"
    return str([perfdash.rows(query.format(name)) for (name,) in names])


def test_a_closed_loop_over_hosts_and_an_open_one_over_rates(perfdash):
    target = perfdash.api("POST", "targets", {
        "name": "sandbox of scenarios", "family": "http", "base_url": perfdash.state["sandbox_url"],
    })["id"]  # fmt: skip
    short = {"scenario": FILE, "duration_seconds": 2, "warm_up_seconds": 0.5}

    closed = launched(perfdash, target, "How many hosts?", short, {"hosts": [2, 8]})
    opened = launched(
        perfdash,
        target,
        "Which rate?",
        short | {"loop": "open", "hosts": 40, "success_limit_ms": 10_000, "arrivals": "poisson"},
        {"rate": [60, 120]},
    )

    for campaign in (closed, opened):
        state = ended(perfdash, campaign)
        assert state["runs"]["done"] == 6, state["runs"]
        answer = str(perfdash.api("GET", f"campaigns/{campaign}/findings/answer")["text"])
        assert "carries at least" in answer
        names = {
            row["name"]
            for row in perfdash.api("GET", f"campaigns/{campaign}/distributions")["results"]
        }
        assert {"response", "scenario_time", "manifest: response", "file: service"} <= names
    values = perfdash.api("GET", f"campaigns/{opened}/measurements?metric=goodput")["results"]
    assert len(values) == 6


def test_nothing_of_a_sign_in_is_stored_and_the_steps_around_the_load_are_done(perfdash):
    with running_api() as api:
        target = perfdash.api("POST", "targets", {
            "name": "api with a sign-in", "family": "http", "base_url": api.base_url,
            "username": USER, "password": PASSWORD, "confirm_address": True,
        })["id"]  # fmt: skip
        probed = f"targets/{target}"
        wait_for(lambda: perfdash.api("GET", probed)["probed_at"], "the first probe")
        tried = perfdash.api("POST", f"{probed}/try-scenario", {"scenario": SESSION})
        parameters = {
            "scenario": SESSION, "iterations": 20, "duration_seconds": None, "warm_up_seconds": 0,
        }  # fmt: skip
        campaign = launched(perfdash, target, "Who signs in?", parameters, {"hosts": [2, 3]})
        ended(perfdash, campaign)

        assert api.items == set()
        assert sum(each.method == "DELETE" for each in api.asked) == 1 + 6
        stored = text_of_tables(perfdash)
        export = perfdash.api("GET", f"campaigns/{campaign}/export?format=json")
        for secret in (PASSWORD, TOKEN):
            assert secret not in str(tried)
            assert secret not in stored
            assert secret not in str(export)


def recorded_sign_in(url):
    """Sign in at a Katello, ask for a command, and for the script with the token in it; give the HAR file and all secrets."""
    login = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
    connection = HTTPConnection(urlsplit(url).netloc)
    entries = []

    def ask(method, path, headers, body=None):
        sent = headers | ({"Content-Type": "application/json"} if body else {})
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        text, given = answer.read().decode(), answer.getheaders()
        assert answer.status < 300, text
        request = {
            "method": method, "url": url + path, "headers": [{"name": n, "value": v} for n, v in sent.items()],
        } | ({"postData": {"mimeType": "application/json", "text": body}} if body else {})  # fmt: skip
        content = {"mimeType": answer.getheader("Content-Type"), "text": text}
        response = {
            "status": answer.status,
            "content": content,
            "headers": [{"name": n, "value": v} for n, v in given],
        }
        entries.append(
            {
                "request": request,
                "response": response,
                "time": 5,
                "startedDateTime": "2026-01-01T10:00:00Z",
            }
        )
        return text, dict(given)

    _, headers = ask("GET", "/api/v2/organizations", {"Authorization": f"Basic {login}"})
    cookie = headers["Set-Cookie"].partition(";")[0]
    wanted = json.dumps({"organization_id": 1, "activation_keys": ["bench-ak"]})
    text, _ = ask("POST", "/api/v2/registration_commands", {"Cookie": cookie}, wanted)
    command = json.loads(text)["registration_command"]
    ((path, token),) = re.findall(r"https?://[^/]+([^']+)'.*Bearer ([^']+)'", command)
    ask("GET", path, {"Authorization": f"Bearer {token}"})
    connection.close()
    return json.dumps({"log": {"entries": entries}}), (
        PASSWORD,
        login,
        cookie.partition("=")[2],
        token,
    )


def test_a_recorded_sign_in_is_imported_and_done_by_100_hosts_and_no_secret_is_kept(perfdash):
    with running(katello={"password": PASSWORD}) as sandbox:
        har, secrets = recorded_sign_in(sandbox.katello.base_url)
        target = perfdash.api("POST", "targets", {
            "name": "Katello of a recording", "family": "http", "base_url": sandbox.katello.base_url,
            "username": "admin", "password": PASSWORD, "confirm_address": True,
        })["id"]  # fmt: skip
        request = urllib.request.Request(  # noqa: S310  loopback
            f"{perfdash.state['base_url']}/api/v1/targets/{target}/import-scenario?take=all",
            data=har.encode(),
            headers={"Authorization": f"Bearer {perfdash.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            read = json.load(answer)

        assert [each["secret"] for each in read["offers"] if each["take"].get("between")] == [True]
        assert "cookies: round" in read["scenario"]
        assert read["problems"] == []
        parameters = {
            "scenario": read["scenario"], "iterations": 1, "duration_seconds": None, "warm_up_seconds": 0,
        }  # fmt: skip
        campaign = launched(perfdash, target, "Who registers?", parameters, {"hosts": [50, 100]})
        state = ended(perfdash, campaign)
        assert state["runs"]["done"] == 6, state["runs"]
        failed = perfdash.api("GET", f"campaigns/{campaign}/measurements?metric=failed")["results"]
        assert {each["value"] for each in failed} == {0.0}

        kept = text_of_tables(perfdash)
        kept += str(perfdash.api("GET", f"campaigns/{campaign}/export?format=json")) + str(read)
        kept += "".join(path.read_text(errors="replace") for path in perfdash.data.glob("log/*"))
        for secret in secrets:
            assert secret not in kept


def test_a_scenario_that_is_wrong_tells_the_place(perfdash):
    target = perfdash.api("GET", "targets")["results"][0]["id"]
    wrong = {"scenario": FILE.replace("/{name}", "/{nmae}")}

    with pytest.raises(AssertionError, match=r"Line 8, step 2 “file”: the name {nmae} in get"):
        launched(perfdash, target, "What is wrong?", wrong, {"hosts": [1]})
