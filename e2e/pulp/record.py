"""Writes down what a real Pulp answers, for the simulated Pulp: `script/record-pulp`.

Each case is a file: its exchanges in order, the request and what came back. Addresses of Pulp and feed
become `http://pulp` and `http://feed`, secrets `[secret]`, ids of objects stay. Where an answer has to
be waited for, the last one is kept, and the states that were passed.

Usage: script/record-pulp [--data DIR] [--out DIR] [CASE ...]. The Pulp must be clean and have one worker.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import requests

from e2e.pulp import cases
from e2e.pulp.rest import API, FINAL
from sandbox.process import running

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "sandbox" / "pulp" / "recordings"
KEPT_HEADERS = ("Allow", "Content-Type", "Location", "Set-Cookie", "WWW-Authenticate")
SECRET = "[secret]"  # noqa: S105  what stands in its place
COOKIE = re.compile(r"\b(sessionid|csrftoken)=[^;, ]+")
LONGEST_TEXT = 4000


class Recorder:
    """Asks Pulp as a driver does, and keeps what was said."""

    def __init__(self, state, feed):
        self.state, self.feed = state, feed
        self.exchanges = []
        self.session = requests.Session()
        self.session.trust_env = False

    def ask(self, method, path, body=None, *, auth=None, note="", token=True):
        """Ask and write down; give the response. `auth`: user and password, never written down."""
        answer = self.quietly(method, path, body, auth=auth, token=token)
        self._write(method, path, body, answer, note=note, auth=auth)
        return answer

    def quietly(self, method, path, body=None, *, auth=None, token=True):
        url = self.state["base_url"] + (path if path.startswith("/") else f"{API}{path}")
        headers = {}
        if token and (found := self.session.cookies.get("csrftoken")):
            headers["X-CSRFToken"] = found
        return self.session.request(method, url, json=body, auth=auth, headers=headers, timeout=60)

    def login(self):
        """Log in without a record."""
        self.quietly("POST", "login/", auth=(self.state["user"], self.state["password"]))

    def task(self, answer, *, until=FINAL, seconds=120.0, note=""):
        """Wait for a task's state, write the last answer down, and give the task."""
        href = answer.json()["task"]
        end = monotonic() + seconds
        states: list = []
        while True:
            last = self.quietly("GET", href)
            state = last.json()["state"]
            if states[-1:] != [state]:
                states.append(state)
            if state in until:
                break
            assert monotonic() < end, f"{href} is {state} after {seconds:.0f} s"
            sleep(0.05)
        self._write("GET", href, None, last, note=note, states=states)
        return last.json()

    def restart(self):
        """Bring back what was killed; nothing of it is written down."""
        command = [sys.executable, "-m", "perfdash.local.pulp", "start", "--data"]
        subprocess.run([*command, self.state["data"]], cwd=ROOT, check=True, capture_output=True)
        path = Path(self.state["data"]) / "run" / "state.json"
        self.state = json.loads(path.read_text(encoding="utf-8"))

    def _write(self, method, path, body, answer, **more):
        auth = more.pop("auth", None)
        request = {"method": method, "path": path if path.startswith("/") else f"{API}{path}"}
        if body is not None:
            request["body"] = body
        if auth is not None:
            wrong = auth != (self.state["user"], self.state["password"])
            request["basic_auth"] = "wrong" if wrong else "right"
        headers = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
        response = {"status": answer.status_code, "headers": headers, "body": _body(answer)}
        exchange = {"request": request, "response": response}
        self.exchanges.append({**{key: word for key, word in more.items() if word}, **exchange})

    def clean(self, text):
        """Take secrets and this machine's addresses out."""
        text = COOKIE.sub(rf"\1={SECRET}", text)
        for address, name in (
            (self.state["base_url"], "http://pulp"),
            (self.state["content_url"], "http://pulp-content"),
            (self.feed.base_url, "http://feed"),
            (self.state["password"], SECRET),
            (self.state["data"], "/var/lib/pulp"),
            (str(ROOT), "/project"),
            (sys.base_prefix, "/usr"),
        ):
            text = text.replace(address, name)
            text = text.replace(address.removeprefix("http://"), name.removeprefix("http://"))
        return text


def _body(answer):
    """JSON as it is, and of other text the beginning."""
    if answer.headers.get("Content-Type", "").startswith("application/json"):
        return answer.json()
    return answer.text[:LONGEST_TEXT]


def record(state, names, out):
    """Write the cases down, each to its file."""
    out.mkdir(parents=True, exist_ok=True)
    with running() as feed:
        for name in names:
            recorder = Recorder(state, feed)
            case = cases.CASES[name]
            cases.tidy(recorder)
            recorder.session.cookies.clear()
            case(recorder)
            state = recorder.state
            found = {"case": name, "what": case.__doc__, "exchanges": recorder.exchanges}
            text = recorder.clean(json.dumps(found, indent=1, ensure_ascii=False))
            (out / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
            sys.stderr.write(f"{name}: {len(recorder.exchanges)} exchanges\n")


def main():
    parser = argparse.ArgumentParser(prog="script/record-pulp", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / ".perfdash-pulp")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    state = json.loads((options.data / "run" / "state.json").read_text(encoding="utf-8"))
    record(state, options.cases or list(cases.CASES), options.out)


if __name__ == "__main__":
    main()
