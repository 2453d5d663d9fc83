"""What is written down of a real Pulp: one function a case. Each leaves Pulp as clean as it was."""

import os
import signal
import time
from contextlib import contextmanager

CASES: dict = {}
NAME = "perfdash-recording"


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


@contextmanager
def made(pulp, url, **fields):
    """A remote and a repository that are gone afterwards, with what was synced; not written down."""
    body = {"name": NAME, "url": url, "policy": "immediate", **fields}
    remote = pulp.quietly("POST", "remotes/file/file/", body).json()["pulp_href"]
    body = {"name": NAME}
    repository = pulp.quietly("POST", "repositories/file/file/", body).json()["pulp_href"]
    try:
        yield remote, repository
    finally:
        tidy(pulp)


def tidy(pulp):
    """Take away whatever cases have made, also those that failed."""
    pulp.login()
    for kind in ("distributions", "publications", "repositories", "remotes"):
        listed = f"{kind}/" if kind == "publications" else f"{kind}/?name__startswith={NAME}"
        for found in pulp.quietly("GET", listed).json()["results"]:
            answer = pulp.quietly("DELETE", found["pulp_href"])
            if answer.status_code == 202:
                wait(pulp, answer)
    clean(pulp)


def wait(pulp, answer):
    href = answer.json()["task"]
    while pulp.quietly("GET", href).json()["state"] not in {"completed", "failed", "canceled"}:
        time.sleep(0.05)


def clean(pulp):
    wait(pulp, pulp.quietly("POST", "orphans/cleanup/", {"orphan_protection_time": 0}))


def sync(pulp, remote, repository, note="", **fields):
    """Begin a sync, written down."""
    return pulp.ask("POST", f"{repository}sync/", {"remote": remote, **fields}, note=note)


def failing_sync(pulp, url, **fields):
    pulp.login()
    with made(pulp, url, **fields) as (remote, repository):
        pulp.task(sync(pulp, remote, repository))


@case
def status(pulp):
    """The status needs no login, and does not look at a wrong one."""
    pulp.ask("GET", "status/")
    pulp.ask("GET", "status/", auth=("admin", "wrong"))


@case
def login(pulp):
    """A session's cookie; what is answered without, with a wrong password, without the CSRF token."""
    user = (pulp.state["user"], pulp.state["password"])
    pulp.ask("GET", "repositories/file/file/?limit=1", note="no credentials")
    pulp.ask("GET", "repositories/file/file/?limit=1", auth=("admin", "wrong"))
    pulp.ask("POST", "login/", note="no credentials")
    pulp.ask("POST", "login/", auth=("admin", "wrong"))
    pulp.ask("POST", "login/", auth=user)
    pulp.ask("GET", "login/", note="by the cookie")
    pulp.ask("GET", "repositories/file/file/?limit=1", note="by the cookie")
    body = {"name": NAME}
    pulp.ask("POST", "repositories/file/file/", body, token=False, note="no X-CSRFToken")
    pulp.ask("DELETE", "login/", note="logs out")
    pulp.ask("GET", "repositories/file/file/?limit=1", note="after the end of the session")
    pulp.session.cookies.set("sessionid", "expired")
    pulp.ask("GET", "repositories/file/file/?limit=1", note="a cookie of no session")


@case
def first_sync(pulp):
    """From remote to published and served, everything read back, and all of it deleted again."""
    pulp.login()
    url = pulp.feed.manifest(files=20, size=1000, latency=20)
    body = {"name": NAME, "url": url, "policy": "immediate", "download_concurrency": 5}
    remote = pulp.ask("POST", "remotes/file/file/", body).json()["pulp_href"]
    repository = pulp.ask("POST", "repositories/file/file/", {"name": NAME}).json()["pulp_href"]
    pulp.ask("GET", remote, note="what is not given is null: the plug-in's default")
    change = pulp.ask("PATCH", remote, {"download_concurrency": 3})
    if change.status_code == 202:
        pulp.task(change)
    task = pulp.task(sync(pulp, remote, repository, mirror=False, optimize=True))
    pulp.ask("GET", task["created_resources"][0])
    pulp.ask("GET", repository)
    for kind in ("artifacts", "content", "content/file/files"):
        pulp.ask("GET", f"{kind}/?limit=1")
    version = {"repository": repository}
    task = pulp.task(pulp.ask("POST", "publications/file/file/", version))
    publication = task["created_resources"][0]
    pulp.ask("GET", publication)
    body = {"name": NAME, "base_path": NAME, "publication": publication}
    task = pulp.task(pulp.ask("POST", "distributions/file/file/", body))
    distribution = task["created_resources"][0]
    pulp.ask("GET", distribution)
    pulp.ask("GET", f"distributions/file/file/?name__startswith={NAME}")
    pulp.task(pulp.ask("DELETE", distribution))
    pulp.ask("DELETE", publication)
    pulp.task(pulp.ask("DELETE", repository))
    pulp.task(pulp.ask("DELETE", remote))
    pulp.ask("GET", "artifacts/?limit=1", note="still there without a repository")
    pulp.task(pulp.ask("POST", "orphans/cleanup/", {"orphan_protection_time": 0}))
    pulp.ask("GET", "artifacts/?limit=1")
    pulp.ask("GET", "content/?limit=1")


@case
def orphans_are_protected(pulp):
    """Without a protection time the clean-up frees nothing that is younger than a day."""
    pulp.login()
    with made(pulp, pulp.feed.manifest(files=5)) as (remote, repository):
        wait(pulp, pulp.quietly("POST", f"{repository}sync/", {"remote": remote}))
        wait(pulp, pulp.quietly("DELETE", repository))
        pulp.task(pulp.ask("POST", "orphans/cleanup/", {}))
        pulp.ask("GET", "artifacts/?limit=1")
        pulp.task(pulp.ask("POST", "orphans/cleanup/", {"orphan_protection_time": 0}))
        pulp.ask("GET", "artifacts/?limit=1")


@case
def unchanged_resync(pulp):
    """The second sync is skipped with optimize, and downloads nothing without."""
    pulp.login()
    with made(pulp, pulp.feed.manifest(files=5)) as (remote, repository):
        pulp.task(sync(pulp, remote, repository))
        pulp.task(sync(pulp, remote, repository, note="optimize is true"))
        pulp.task(sync(pulp, remote, repository, optimize=False))


@case
def artifacts_were_there(pulp):
    """A new repository on the artifacts of another one: completed, and nothing was downloaded."""
    pulp.login()
    with made(pulp, pulp.feed.manifest(files=5)) as (remote, repository):
        wait(pulp, pulp.quietly("POST", f"{repository}sync/", {"remote": remote}))
        body = {"name": f"{NAME}-2"}
        second = pulp.quietly("POST", "repositories/file/file/", body).json()["pulp_href"]
        pulp.task(sync(pulp, remote, second))


@case
def on_demand(pulp):
    """Content without artifacts; streamed is answered alike."""
    pulp.login()
    for policy in ("on_demand", "streamed"):
        with made(pulp, pulp.feed.manifest(files=5), policy=policy) as (remote, repository):
            pulp.task(sync(pulp, remote, repository))
            pulp.ask("GET", "artifacts/?limit=1")
            pulp.ask("GET", "content/?limit=1")


@case
def several_at_once(pulp):
    """One worker: the sync of the second repository waits for the first one's."""
    pulp.login()
    url = pulp.feed.manifest(files=5, latency=1000)
    with made(pulp, url) as (remote, repository):
        body = {"name": f"{NAME}-2"}
        second = pulp.quietly("POST", "repositories/file/file/", body).json()["pulp_href"]
        first = sync(pulp, remote, repository)
        other = sync(pulp, remote, second)
        pulp.task(first, until={"running"})
        pulp.ask("GET", other.json()["task"])
        pulp.ask("GET", "tasks/?state__in=running,waiting&limit=10")
        pulp.task(first)
        pulp.task(other)


@case
def bad_requests(pulp):
    """What Pulp says to values that it does not take, and to addresses that it does not have."""
    pulp.login()
    remotes, url = "remotes/file/file/", pulp.feed.manifest(files=1)
    with made(pulp, url) as (remote, repository):
        pulp.ask("POST", remotes, {"name": NAME, "url": url}, note="the name is taken")
        pulp.ask("POST", remotes, {"name": f"{NAME}-2"})
        for field, value in (
            ("policy", "nope"),
            ("download_concurrency", 0),
            ("download_concurrency", "many"),
            ("max_retries", -1),
            ("rate_limit", -1),
            ("total_timeout", -1),
            ("nothing_like_it", 1),
        ):
            pulp.ask("POST", remotes, {"name": f"{NAME}-{field}-{value}", "url": url, field: value})
        pulp.ask("POST", f"{repository}sync/", {}, note="no remote")
        pulp.ask("POST", f"{repository}sync/", {"remote": f"{remote[:-8]}{'0' * 7}/"})
        pulp.ask("GET", "repositories/file/file/01900000-0000-7000-8000-000000000000/")
        pulp.ask("GET", "tasks/01900000-0000-7000-8000-000000000000/")
        pulp.ask("GET", "remotes/deb/apt/", note="a plug-in that is not installed")
        pulp.ask("GET", "/pulp/nothing/here/")
        pulp.ask("PUT", "status/")


@case
def cancel(pulp):
    """A sync that runs is canceled; what is said to tasks that are over, or are none."""
    pulp.login()
    with made(pulp, pulp.feed.manifest(files=5, latency=30000)) as (remote, repository):
        running = sync(pulp, remote, repository)
        waiting = sync(pulp, remote, repository)
        href = running.json()["task"]
        pulp.task(running, until={"running"})
        pulp.ask("PATCH", waiting.json()["task"], {"state": "canceled"}, note="it waits")
        time.sleep(2)
        pulp.ask("GET", waiting.json()["task"], note="2 s later: the only worker is busy")
        pulp.ask("PATCH", href, {"state": "canceled"}, note="it runs")
        pulp.task(running)
        pulp.task(waiting)
        pulp.ask("PATCH", href, {"state": "canceled"}, note="it is canceled already")
        pulp.ask("GET", repository, note="only version 0")
        pulp.ask("GET", "artifacts/?limit=1")
        pulp.ask("PATCH", href, {"state": "completed"})
        done = pulp.quietly("POST", "orphans/cleanup/", {"orphan_protection_time": 0})
        wait(pulp, done)
        pulp.ask("PATCH", done.json()["task"], {"state": "canceled"}, note="it is completed")
        none = "tasks/01900000-0000-7000-8000-000000000000/"
        pulp.ask("PATCH", none, {"state": "canceled"})
        pulp.ask("DELETE", href)


@case
def feed_manifest_missing(pulp):
    """The feed has no manifest: 404."""
    failing_sync(pulp, pulp.feed.manifest(manifest="missing"))


@case
def feed_manifest_error(pulp):
    """The feed answers 500."""
    failing_sync(pulp, pulp.feed.manifest(manifest="error"), max_retries=1)


@case
def feed_file_missing(pulp):
    """One of the feed's files is not there."""
    failing_sync(pulp, pulp.feed.manifest(files=10, missing=0.1))


@case
def feed_file_corrupt(pulp):
    """One of the feed's files has another digest than its manifest says."""
    failing_sync(pulp, pulp.feed.manifest(files=10, corrupt=0.1), max_retries=0)


@case
def feed_file_stalls(pulp):
    """One of the feed's files never ends."""
    failing_sync(pulp, pulp.feed.manifest(files=10, stalls=0.1), sock_read_timeout=1, max_retries=0)


@case
def feed_file_reset(pulp):
    """The connection is lost in one of the feed's files."""
    failing_sync(pulp, pulp.feed.manifest(files=10, resets=0.1), max_retries=0)


@case
def feed_refuses(pulp):
    """Nobody listens at the feed's address."""
    failing_sync(pulp, "http://127.0.0.1:9/PULP_MANIFEST", max_retries=0)


@case
def feed_host_unknown(pulp):
    """The feed's name has no address."""
    failing_sync(pulp, "http://feed.invalid/PULP_MANIFEST", max_retries=0)


@case
def feed_is_no_manifest(pulp):
    """What stands at the feed's address is a web page, or no text."""
    failing_sync(pulp, pulp.feed.manifest(manifest="html"))
    failing_sync(pulp, pulp.feed.manifest(manifest="notutf8"))


@case
def feed_is_no_url(pulp):
    """Pulp takes any text for a URL, and fails with the sync."""
    failing_sync(pulp, "not a url")


@case
def tasks_purge(pulp):
    """The list of finished tasks is purged by age and state."""
    pulp.login()
    clean(pulp)
    before = {"finished_before": "2026-01-01T00:00:00Z", "states": ["completed"]}
    pulp.task(pulp.ask("POST", "tasks/purge/", before))


def killing_the_worker(pulp, meanwhile):
    """Kill the worker in a sync, look, and have the worker brought back."""
    pulp.login()
    url = pulp.feed.manifest(files=5, latency=30000)
    with made(pulp, url) as (remote, repository):
        begun = sync(pulp, remote, repository)
        pulp.task(begun, until={"running"})
        os.kill(pulp.state["services"]["worker1"], signal.SIGKILL)
        time.sleep(5)
        pulp.ask("GET", begun.json()["task"], note="5 s after the kill")
        meanwhile(begun.json()["task"])
        pulp.restart()
        pulp.task(begun, note="after script/pulp start")


@case
def worker_killed(pulp):
    """The worker is killed with -9 in a sync: its task goes on being `running` until it is mended."""
    killing_the_worker(pulp, lambda task: pulp.ask("GET", "status/", note="still listed"))


@case
def worker_killed_task_canceled(pulp):
    """The task of a killed worker is canceled: it stays `canceling` until the worker is mended."""

    def cancel_it(task):
        pulp.ask("PATCH", task, {"state": "canceled"})
        time.sleep(2)
        pulp.ask("GET", task, note="2 s later")

    killing_the_worker(pulp, cancel_it)
