"""A small client of a real Pulp's REST API, for tests and recordings."""

from time import monotonic, sleep

import requests

API = "/pulp/api/v3/"
FINAL = {"completed", "failed", "canceled", "skipped"}


class Rest:
    """Logged in once: a session's cookie, as basic authentication costs Pulp a second of its processor."""

    def __init__(self, base_url, user, password):
        self.base_url = base_url
        self.session = requests.Session()
        self.session.trust_env = False
        self.login = self.session.post(f"{base_url}{API}login/", auth=(user, password), timeout=30)
        self.login.raise_for_status()
        self.session.headers["X-CSRFToken"] = self.session.cookies["csrftoken"]

    def ask(self, method, path, body=None):
        """Ask, and give the response whatever it says; `path` is a href or the part after /api/v3/."""
        url = self.base_url + (path if path.startswith("/") else f"{API}{path}")
        return self.session.request(method, url, json=body, timeout=60)

    def get(self, path):
        return self._good("GET", path)

    def post(self, path, **body):
        return self._good("POST", path, body)

    def done(self, answer, seconds=60.0):
        """Wait for the end of the task that an answer names, and give the task."""
        end = monotonic() + seconds
        while (task := self.get(answer["task"]))["state"] not in FINAL:
            assert monotonic() < end, task
            sleep(0.1)
        return task

    def feed(self, name, url, **fields):
        """Make a remote and a repository of file content."""
        remote = self.post("remotes/file/file/", name=name, url=url, **fields)
        repository = self.post("repositories/file/file/", name=name)
        return remote, repository

    def sync(self, remote, repository, **fields):
        """Begin a sync; give the answer that names its task."""
        return self.post(f"{repository['pulp_href']}sync/", remote=remote["pulp_href"], **fields)

    def remove(self, *things):
        for thing in things:
            answer = self.ask("DELETE", thing["pulp_href"])
            if answer.status_code == 202:
                self.done(answer.json())

    def clean_orphans(self):
        return self.done(self.post("orphans/cleanup/", orphan_protection_time=0))

    def _good(self, method, path, body=None):
        answer = self.ask(method, path, body)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()
