"""docker-compose.yml in real containers: from README's recipe to the upgrade by a newer image."""

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import pytest

from campaigns.tests.ports import free_port
from e2e.conftest import ROOT, wait_for
from e2e.containers.engine import BUILD, Podman, require_podman
from perfdash import __version__

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(2400)]

LARGEST_IMAGE = 600_000_000
OURS = (
    *(
        "web",
        "worker-measure",
        "worker-programs",
        "worker-generate",
        "worker-control",
        "worker-analysis",
    ),
    *("beat", "sandbox"),
)
PROJECT = f"perfdash_{secrets.token_hex(3)}"
"""netavark keeps the names in networks of all storages of podman in one place, and some of what was killed."""
NEWER = f"{__version__}.post1"


class Stack:
    """perfdash by docker-compose.yml in a copy of this checkout; the engine runs no health check by itself."""

    def __init__(self, podman, directory):
        self.podman = podman
        self.directory = directory
        self.port = free_port()
        self.token = ""
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        listed = subprocess.run(
            ["/usr/bin/env", "git", "ls-files", "-co", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        for name in listed.stdout.splitlines():
            if (ROOT / name).is_file():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, directory / name)
        compose = directory / "docker-compose.yml"
        published = compose.read_text().replace(":8000:8000", f":{self.port}:8000")
        compose.write_text(published)
        recipe = (ROOT / "README.md").read_text().partition("`docker-compose.yml`:\n\n```sh\n")[2]
        secrets = recipe.partition("docker compose")[0]
        subprocess.run(["/bin/sh", "-euc", secrets], cwd=directory, check=True)
        with (directory / ".env").open("a") as file:
            file.write("PERFDASH_ALLOWED_ADDRESSES=sandbox:8099\n")

    def compose(self, *arguments):
        return self.podman(
            "-p", PROJECT, "--profile", "sandbox", *arguments,
            program="podman-compose", cwd=self.directory,
        )  # fmt: skip

    def manage(self, *arguments):
        run = ("run", "-T", "--rm", "--no-deps", "web", "python", "manage.py")
        return self.compose(*run, *arguments)

    def exec(self, service, *command):
        return self.podman("exec", self.container(service), *command)

    def migrate(self):
        return self.compose("run", "-T", "--rm", "--no-deps", "migrate")

    def up(self, *services):
        self.compose("up", "--detach", "--no-deps", *services)
        for service in services:
            self.wait_until_healthy(service)

    def container(self, service):
        return f"{PROJECT}_{service}_1"

    def wait_until_healthy(self, service):
        check = ("healthcheck", "run", self.container(service))
        wait_for(lambda: self.podman(*check, check=False) == 0, f"{service} is healthy", 300)

    def page(self, path):
        """Give the text of a page, as a browser that keeps its cookies sees it."""
        with self.browser.open(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return answer.read().decode()

    def api(self, method, path, body=None):
        if not self.token:
            made = self.exec("web", "python", "manage.py", "create_token", "owner", "--name", "e2e")
            self.token = made.split()[-1]
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
            },
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)

    def launch(self, label, repetitions):
        targets = self.api("GET", "targets")["results"]
        sandbox = next(target["id"] for target in targets if target["name"] == "sandbox")
        feed = f"/repo/files=40,size=2000,label={label}/latency=500/PULP_MANIFEST"
        campaign = self.api(
            "POST",
            "campaigns",
            {
                "question": f"Does it survive {label}?",
                "kind": "downloader",
                "target": sandbox,
                "parameters": {"manifest": feed, "concurrency": 10},
                "factors": {"engine": ["asyncio", "futures"]},
                "repetitions": repetitions,
                "launch": True,
            },
        )
        return campaign["id"]

    def runs(self, campaign):
        """Give the runs of a campaign that are done."""
        found = self.api("GET", f"campaigns/{campaign}/runs")["results"]
        return [run for run in found if run["state"] == "done"]

    def finish(self, campaign, runs):
        def finished():
            return self.api("GET", f"campaigns/{campaign}")["state"] == "finished"

        wait_for(finished, "the campaign is finished", 600)
        assert len(self.runs(campaign)) == runs


@pytest.fixture(scope="module")
def podman():
    require_podman()
    kept = os.environ.get("PERFDASH_CONTAINERS")
    engine = Podman(Path(kept or tempfile.mkdtemp(prefix="perfdash-containers-", dir="/var/tmp")))
    try:
        engine.make_bases()
        yield engine
    finally:
        engine.end_containers()
        if not kept:
            engine.remove_everything()


@pytest.fixture(scope="module")
def stack(podman):
    directory = podman.home / "perfdash"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    made = Stack(podman, directory)
    podman(*BUILD, "--pull=never", "-t", "perfdash", directory)
    made.up("postgres", "redis")
    made.migrate()
    made.up(*OURS)
    made.exec("web", "python", "manage.py", "prepare", "--sandbox-url", "http://sandbox:8099")
    return made


def test_the_image_is_small_and_has_no_tools(podman, stack):
    size = int(podman("image", "inspect", "--format={{.Size}}", "perfdash"))

    print(f"The image has {size / 1e6:.0f} MB.")  # noqa: T201
    assert size < LARGEST_IMAGE
    look = (
        "id -u; command -v pip cc strip uv; python -c 'import pyarrow.parquet, scipy.stats, pycurl;"
        " import plotly.io; plotly.io.to_html({}, include_plotlyjs=False, validate=False)'"
    )
    assert podman("run", "--rm", "--read-only", "perfdash", "sh", "-c", look) == "999"


def test_nothing_is_written_but_into_memory_and_the_volume(stack):
    write = "for each in / /srv/perfdash /srv/work /tmp; do touch $each/x 2>/dev/null && echo $each; done; true"

    places = stack.exec("worker-measure", "sh", "-c", write)

    assert places.split() == ["/srv/work", "/tmp"]  # noqa: S108


def test_the_first_page_comes(stack):
    assert json.loads(stack.page("/ready"))["status"] == "ok"
    link = stack.manage("sign_in_link", "--base-url", f"http://localhost:{stack.port}")

    page = stack.page(link.partition(str(stack.port))[2])

    assert "Which download_concurrency should be the default of a Pulp sync?" in page


LOOKS = """
id -u
ls /run/secrets 2>/dev/null
for place in /proc/[0-9]*; do tr "\\0" "\\n" <$place/environ 2>/dev/null; done | grep -c -e DATABASE_URL -e BROKER_URL -e KEYS
for place in / /srv/perfdash /srv/work /srv/static; do touch $place/x 2>/dev/null && echo writes $place; done
python - <<PROGRAM
import socket
for host, port in (("postgres", 5432), ("redis", 6379), ("web", 8000)):
    try:
        socket.create_connection((host, port), 3)
        print("reaches", host)
    except OSError:
        pass
print("rows=1 s")
PROGRAM
(setsid env -i sleep 300 &); sleep 0.5
echo waits >/tmp/waits; ls /tmp; cat /proc/[0-9]*/comm | grep -c "^sleep"; true
"""


def test_a_program_finds_no_key_and_no_way_to_the_services_and_leaves_nothing(stack):
    definition = {
        "name": "looks", "label": "Looks", "where": "worker", "seconds": 30,
        "arguments": ["sh", "-c", LOOKS], "reader": "plain_values",
    }  # fmt: skip
    draft = stack.api("POST", "programs", {"definition": definition})["id"]

    def tried():
        stack.api("POST", f"programs/{draft}/try", {})
        wait_for(lambda: not stack.api("GET", f"programs/{draft}")["trial_is_on"], "tried", 120)
        return stack.api("GET", f"programs/{draft}")["trial"]

    for _ in range(2):
        found = tried()
        assert found["failure"] == ""
        printed = {each["name"]: each["text"] for each in found["outputs"]}["stdout"].split("\n")
        assert printed[:-1] == ["998", "0", "rows=1 s", "waits", "1"]
    assert stack.exec("worker-programs", "sh", "-c", "ls -A /tmp /srv/program-work") == (
        "/srv/program-work:\n\n/tmp:"
    )


def test_a_campaign_survives_the_kill_of_a_worker_and_the_restart_of_the_broker(podman, stack):
    campaign = stack.launch("kills", repetitions=4)
    wait_for(lambda: stack.runs(campaign), "the first run has ended", 300)

    podman("kill", stack.container("worker-measure"))
    podman("start", stack.container("worker-measure"))
    podman("restart", "--time=10", stack.container("redis"))

    stack.finish(campaign, runs=8)


def test_a_newer_image_goes_on_with_the_same_data(podman, stack):
    newer = podman.home / "newer"
    newer.mkdir(exist_ok=True)
    text = (ROOT / "perfdash/__init__.py").read_text()
    (newer / "__init__.py").write_text(text.replace(f'"{__version__}"', f'"{NEWER}"'))
    (newer / "Dockerfile").write_text(
        "FROM localhost/perfdash\nCOPY __init__.py /srv/perfdash/perfdash/__init__.py\n"
    )
    before = [row["id"] for row in stack.api("GET", "campaigns")["results"]]

    podman(*BUILD, "--pull=never", "-t", "perfdash", newer)
    podman("rm", "--force", "--time=30", *map(stack.container, OURS))
    stack.migrate()
    stack.up(*OURS)

    told = ("python", "-c", "import perfdash; print(perfdash.__version__)")
    assert [stack.exec(service, *told) for service in OURS] == [NEWER] * len(OURS)
    assert [row["id"] for row in stack.api("GET", "campaigns")["results"]] == before
    stack.finish(stack.launch("upgrade", repetitions=1), runs=2)
