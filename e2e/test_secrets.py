"""Plant secrets, let everything that can go wrong go wrong, and look for them everywhere."""

import base64
import html
import json
import re
import secrets
import shlex
import stat
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

import psutil
import psycopg
import pytest
import redis
import requests

from campaigns.tests.kinds.programs.certificates import Authority
from e2e.conftest import FAST, copied, place, served, wait_for
from perfdash.addresses import redis_url

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

PASSWORD = """Qz7%41 'w"x<y>&\\$(id);--ß/+=#"""  # noqa: S105
ENTRY_POINT = "[perfdash.drivers]\ntelltale = e2e.secrets_kind:driver\n"
TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
PROGRAMS = "campaigns.kinds."


def forms_of(secret):
    """What a secret may look like."""
    raw = secret.encode()
    found = {
        secret, repr(secret)[1:-1], json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret), shlex.quote(secret),
        quote(secret), quote(secret, safe=""), quote_plus(secret), raw.hex(),
        secret.replace("'", "''"), str(raw)[2:-1], secret.replace("\\", "\\\\"),
    }  # fmt: skip
    for before in ("", "a", "me:"):
        code = base64.b64encode(before.encode() + raw).decode()
        inner = code[-(-len(before) * 8 // 6) : len(code) - 4]
        found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form.encode() for form in found if len(form) >= 8}


class Search:
    """Looks for secrets, and remembers where it found one."""

    def __init__(self, planted):
        self.forms = {name: forms_of(secret) for name, secret in planted.items()}
        self.found = []
        self.looked_at = 0

    def look(self, where, text):
        data = text if isinstance(text, bytes) else text.encode(errors="replace")
        self.looked_at += len(data)
        for name, forms in self.forms.items():
            for form in forms:
                if form in data:
                    at = data.index(form)
                    self.found.append((where, name, data[max(0, at - 60) : at + 20]))
                    break


@contextmanager
def watching_processes(search, pid):
    """Look at all command lines, and at the environment of engine programs, all the while: once at each."""
    done = threading.Event()
    programs = set()
    seen = set()

    def look():
        while not done.wait(0.05):
            for process in psutil.Process(pid).children(recursive=True):
                with suppress(psutil.Error, OSError):
                    line = " ".join(process.cmdline())
                    if (process, line) in seen:
                        continue
                    search.look(f"command line of {process.pid}", line)
                    if PROGRAMS in line:
                        programs.add(process.pid)
                        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
                        search.look(f"environment of {line}", environment)
                    seen.add((process, line))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield programs
    finally:
        done.set()
        thread.join()


class Visitor(requests.Session):
    """A browser of one person that looks at every answer."""

    def __init__(self, perfdash, search, link):
        super().__init__()
        self.base, self.looker, self.link = perfdash.state["base_url"], search, link
        assert self.get(link, timeout=30).status_code == 200

    def see(self, method, path, **named):
        if method != "GET":
            named["headers"] = {"X-CSRFToken": self.cookies["perfdash_csrf"], "Referer": self.base}
        answer = self.request(method, f"{self.base}/{path}", timeout=30, **named)
        self.looker.look(f"{method} {path} {answer.status_code}", answer.content)
        self.looker.look(f"{method} {path}: headers", str(answer.headers))
        return answer


def credential_fields(place, directory):
    """The secrets of a credential, each of them one that was never anywhere else."""
    certificate, key = Authority(directory, "planted").identity("planted")
    return {
        "name": "planted",
        "places": place,
        "certificate": certificate,
        "key": key,
        "token": secrets.token_urlsafe(24),
    }


def target_fields(name, **changes):
    return {
        "name": name,
        "family": "telltale",
        "base_url": "http://127.0.0.1:9",
        "username": "me",
        "password": PASSWORD,
        "confirm_address": True,
    } | changes


@pytest.fixture
def started(first_start):
    """A perfdash that knows the kind `telltale`, as a package installed beside it adds one."""
    with place() as path:
        package = path / "packages" / "telltale-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: telltale\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text(ENTRY_POINT)
        data = copied(first_start, path / "data")
        with served(data, PYTHONPATH=str(package.parent), **FAST) as perfdash:
            yield perfdash


def measure(perfdash, target, kind, **changes):
    definition = {
        "question": "What is told?",
        "kind": kind,
        "target": target,
        "order": "interleaved",
        "repetitions": 1,
        "launch": True,
        "max_failed_percent": 100,
        "max_consecutive_failures": 100,
    }
    campaign = perfdash.api("POST", "campaigns", definition | changes)["id"]
    perfdash.until(campaign, "finished")
    return campaign


def look_everywhere(perfdash, search, data):
    """The database, the broker, and every file but the secrets themselves."""
    environment = perfdash.environment_of_commands
    with psycopg.connect(environment["DATABASE_URL"]) as connection:
        tables = [name for (name,) in connection.execute(TABLES)]
        assert "campaigns_attempt" in tables
        for table in tables:
            with connection.cursor().copy(f'COPY "{table}" TO STDOUT') as copied:
                search.look(f"table {table}", b"".join(bytes(part) for part in copied))
    broker = redis.Redis.from_url(redis_url(environment["BROKER_URL"]))
    broker.config_set("rdbcompression", "no")  # a dump shows the words as they are
    for key in broker.scan_iter():
        search.look(f"broker {key!r}", broker.dump(key) or b"")
    elsewhere = {"secrets", "database"}
    for path in data.rglob("*"):
        within = path.relative_to(data)
        if path.is_file() and not elsewhere & set(within.parts):
            search.look(f"file {within}", path.read_bytes())


def test_no_secret_is_found_where_it_has_no_business(started, tmp_path):
    data = started.data
    sandbox = next(
        each for each in started.api("GET", "targets")["results"] if each["name"] == "sandbox"
    )
    credential = credential_fields(sandbox["base_url"].rstrip("/"), tmp_path)
    kept = {path.name: path.read_text().strip() for path in (data / "secrets").iterdir()}
    unused = started.manage("sign_in_link", "--base-url", started.state["base_url"])
    token = started.manage("create_token", "owner", "--name", "planted")
    link = started.manage("sign_in_link", "--base-url", started.state["base_url"])
    search = Search(
        {
            "password": PASSWORD,
            "token": token,
            "link": unused.rstrip("/").rpartition("/")[2],
            "used link": link.rstrip("/").rpartition("/")[2],
            "credential's token": credential["token"],
            "credential's key": credential["key"].splitlines()[2],
            "credential's certificate": credential["certificate"].splitlines()[3],
            **kept,
        }
    )
    visitor = Visitor(started, search, link)
    with watching_processes(search, started.process.pid) as programs:
        use_a_credential(started, search, visitor, sandbox["id"], credential)
        go_wrong_in_every_way(started, search, visitor, unused, token)
    assert programs
    look_everywhere(started, search, data)
    search.look("terminal", started.log.read_bytes())

    assert search.found == []
    assert search.looked_at > 1_000_000
    for path in (*(data / "secrets").iterdir(), data / "run" / "state.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def use_a_credential(started, search, visitor, sandbox, fields):
    """Save it badly and well, load the sandbox with it, and look at each page that knows it."""
    for wrong in ({"name": "x" * 200}, {"username": "both"}, {"key": fields["certificate"]}):
        assert visitor.see("POST", "credentials/new/", data=fields | wrong).status_code == 422
    visitor.see("POST", "credentials/new/", data=fields)
    (made,) = started.api("GET", "credentials")["results"]
    visitor.see(
        "POST", f"credentials/{made['id']}/edit/", data={"name": "planted", "places": "https://h"}
    )
    scenario = 'steps: [{name: read, get: "/", headers: {X-Other: "{host}"}}]'
    values = {"scenario": scenario, "credential": "planted", "iterations": 2, "hosts": 2}
    campaign = measure(started, sandbox, "http", parameters=values)
    pages = ["credentials/", f"credentials/{made['id']}/", f"credentials/{made['id']}/edit/"]
    pages += ["api/v1/credentials", f"api/v1/credentials/{made['id']}", "activity/"]
    names = ("", "runs.csv", "campaign.json", "log/", "runs/1/", "report/", "bundle/")
    pages += [f"campaigns/{campaign}/{name}" for name in names]
    pages += [f"api/v1/campaigns/{campaign}", f"api/v1/campaigns/{campaign}/runs/1"]
    for page in pages:
        visitor.see("GET", page)
    facts = json.dumps(started.api("GET", f"campaigns/{campaign}/runs/1"))
    assert "planted, version 1" in facts


def go_wrong_in_every_way(started, search, visitor, unused, token):
    visitor.see("GET", "targets/new/")
    wrong = target_fields("x" * 200, base_url=f"http://me:{quote(PASSWORD, safe='')}@host/")
    assert visitor.see("POST", "targets/new/", data=wrong).status_code == 422
    made = visitor.see("POST", "targets/new/", data=target_fields("by form"))
    (by_form,) = map(int, re.findall(r"/targets/(\d+)/", made.url))
    by_rest = started.api(
        "POST", "targets", target_fields("by REST", base_url="http://127.0.0.2:9")
    )
    rest = requests.Session()
    rest.headers["Authorization"] = f"Bearer {token}"
    base = started.state["base_url"]
    for body in (
        target_fields("y" * 200),
        target_fields("z", family=5, password=[PASSWORD]),
        [PASSWORD],
    ):
        answer = rest.post(f"{base}/api/v1/targets", json=body, timeout=30)
        assert answer.status_code == 400
        if body != [PASSWORD]:
            search.look("REST: bad target", answer.content)
    campaigns = [
        measure(
            started, target, "telltale", factors={"manners": ["good", "failing", "void", "buggy"]}
        )
        for target in (by_form, by_rest["id"])
    ]
    sandbox = next(
        each["id"] for each in started.api("GET", "targets")["results"] if each["name"] == "sandbox"
    )
    manifest = "/repo/files=20,size=500/latency=100/PULP_MANIFEST"
    campaigns.append(
        measure(
            started, sandbox, "downloader",
            parameters={"manifest": manifest}, factors={"engine": ["asyncio", "futures"]},
        )
    )  # fmt: skip
    probed = "SELECT health FROM campaigns_target WHERE id = %s"
    visitor.see("POST", f"targets/{by_form}/probe/")
    wait_for(lambda: started.rows(probed, by_form) == [("unreachable",)], "a probe that fails")
    kinds = {state for (state,) in started.rows("SELECT DISTINCT state FROM campaigns_attempt")}
    assert kinds >= {"accepted", "failed", "void"}
    requests.head(unused, timeout=30)
    assert requests.get(visitor.link, timeout=30).status_code == 403
    pages = ["", "account/", "campaigns/", "targets/", "nothing/here/", "sign-in/"]
    pages += [
        f"targets/{target}/{page}" for target in (by_form, by_rest["id"]) for page in ("", "edit/")
    ]
    for campaign in campaigns:
        runs = started.api("GET", f"campaigns/{campaign}/runs")["results"]
        pages += [
            f"campaigns/{campaign}/{name}" for name in ("", "runs.csv", "campaign.json", "log/")
        ]
        pages += [f"campaigns/{campaign}/runs/{run['position']}/" for run in runs]
        pages += [f"api/v1/campaigns/{campaign}", f"api/v1/campaigns/{campaign}/runs"]
        pages += [f"api/v1/campaigns/{campaign}/runs/{run['position']}" for run in runs]
    for page in [*pages, "api/v1/targets", "api/v1/kinds", "api/v1/nothing"]:
        visitor.see("GET", page)
    error_page(started, visitor)


def error_page(started, visitor):
    """Make a page fail: its table is not there for a moment."""
    rename = "ALTER TABLE {} RENAME TO {}"
    url = started.environment_of_commands["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(rename.format("campaigns_apitoken", "away"))
        try:
            assert visitor.see("GET", "account/").status_code == 500
        finally:
            connection.execute(rename.format("away", "campaigns_apitoken"))
