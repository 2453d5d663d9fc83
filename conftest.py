"""The tiers of the tests, and what each worker of a parallel run has of its own."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import asyncssh  # noqa: F401  looks for libraries by starting programs: not within a quick test
import pytest
from django.core.handlers.base import BaseHandler
from django.core.management.color import Style
from django.core.management.commands import flush
from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import override_settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

TIERS = ("unit", "db", "system", "e2e")
PROGRAMS = {
    *("sandbox", "process", "process_with_pulp", "registering", "running_stand_in"),
    *("feed", "machine", "provider"),
}
"""Fixtures that start a program: a test that asks for one is of the tier `system`."""
KEPT = {"django_content_type", "auth_permission"}
"""Tables that migrations fill, and no test changes."""
PULP = "e2e/pulp/"
"""Tests of one real Pulp, which takes a minute to start: one worker has them all."""
USUAL_SECONDS = 5.0
"""Of a test of the tier e2e."""
LONG_SECONDS = {
    "e2e/browser/test_every_page.py": 60.0,
    "e2e/browser/test_review.py": 60.0,
    "e2e/faults/": 20.0,
    "e2e/machines/": 40.0,
    "e2e/test_builds.py": 40.0,
    "e2e/test_burst.py": 60.0,
    "e2e/test_search.py": 90.0,
    "e2e/test_secrets.py": 70.0,
    "e2e/test_several_targets.py": 60.0,
    "e2e/test_survival.py": 60.0,
}
"""Of a test of files of few, long tests."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier, so that `-m` chooses by it."""
    for item in items:
        item.add_marker(tier_of(item))


def tier_of(item: pytest.Item) -> str:
    """Return what the test needs: nothing, a database, programs of its own, or a whole perfdash."""
    names = {marker.name for marker in item.iter_markers()}
    fixtures = set(getattr(item, "fixturenames", ()))
    if "e2e" in names:
        return "e2e"
    if "system" in names or fixtures & PROGRAMS:
        return "system"
    return "db" if "django_db" in names or fixtures & {"db", "django_db_setup"} else "unit"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep the quick tiers quick: what starts a program fails in them."""
    global programs_allowed
    programs_allowed = not {"unit", "db"} & {marker.name for marker in item.iter_markers()}
    try:
        return (yield)
    finally:
        programs_allowed = True


programs_allowed = True


def refuse_programs(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise where a test of a quick tier starts a program."""
    if event == "subprocess.Popen" and not programs_allowed and not _looks_for_a_library():
        pytest.fail(f"{arguments[0]} is started in a quick tier: mark the test `system`")


def _looks_for_a_library() -> bool:
    """Whether `ctypes.util.find_library` asks the linker, as asyncssh does when it is imported."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "ctypes.util":
        frame = frame.f_back
    return frame is not None


sys.addaudithook(refuse_programs)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[Any]) -> None:
    """Give each worker, and what it starts, a database of the broker of its own."""
    url = os.environ.get("BROKER_URL", "")
    for number, spec in enumerate(specs, start=1):
        spec.env = {"BROKER_URL": url.replace("virtual_host=0", f"virtual_host={number}")}


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker whole files, and what is of one Pulp together, the longest first.

    By the number of tests, as without this, few long tests would come last, and the other workers wait for them.
    """

    def _split_scope(self, nodeid: str) -> str:
        return PULP if nodeid.startswith(PULP) else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: Any) -> None:
        longest = max(self.workqueue, key=lambda scope: _seconds_of(scope, self.workqueue[scope]))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)


def _seconds_of(scope: str, tests: Sized) -> float:
    each = (seconds for start, seconds in LONG_SECONDS.items() if scope.startswith(start))
    return len(tests) * next(each, USUAL_SECONDS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """Share out the tests of whole programs."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: Any,
    django_db_keepdb: bool,
    django_db_createdb: bool,
) -> Iterator[None]:
    """Migrate one database for all workers of a parallel run; each of them gets a copy."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    patch = pytest.MonkeyPatch()
    patch.setattr(type(connection.ops), "sql_flush", delete_rows)
    patch.setattr(flush, "emit_post_migrate_signal", lambda *_: None)  # what it makes is in KEPT
    creation = connection.creation
    with django_db_blocker.unblock():
        before = connection.settings_dict["NAME"]
        with made_once("database") as there:
            keep = there or (django_db_keepdb and not django_db_createdb)
            if there:
                test_settings = connection.settings_dict["TEST"]
                connection.settings_dict["NAME"] = test_settings["NAME"] or f"test_{before}"
            else:
                creation.create_test_db(verbosity=0, autoclobber=True, serialize=False, keepdb=keep)
            if worker:
                creation.clone_test_db(worker, verbosity=0)
        migrated = connection.settings_dict["NAME"]
        connection.settings_dict.update(
            creation.get_test_db_clone_settings(worker) if worker else {}
        )
    yield
    if not django_db_keepdb:
        with django_db_blocker.unblock():
            connection.settings_dict["NAME"] = migrated
            creation.destroy_test_db(before, verbosity=0, suffix=worker or None)


@contextmanager
def made_once(what: str) -> Iterator[bool]:
    """Let one worker after another through, and say whether an earlier one has been here."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    place = Path(tempfile.gettempdir()) / f"perfdash-tests-{run}-{what}"
    with place.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield place.stat().st_size > 0
        file.write("made")


def delete_rows(
    operations: BaseDatabaseOperations, style: Style, tables: Iterable[str], **options: Any
) -> list[str]:
    """Empty the tables after a test that commits: of few rows, much faster than TRUNCATE.

    Triggers stay quiet meanwhile, also those that keep the audit log and decisions.
    """
    emptied = (operations.quote_name(table) for table in tables if table not in KEPT)
    rows = (f"DELETE FROM {table};" for table in emptied)  # noqa: S608
    return ["SET LOCAL session_replication_role = replica;", *rows]


@pytest.fixture(scope="session", autouse=True)
def passwords_are_hashed_fast(django_test_environment: None) -> Iterator[None]:
    """Spend no time on what makes guessing slow."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def static_files_are_found_when_asked_for(django_test_environment: None) -> Iterator[None]:
    """Spend no time on listing the static files again for each client."""
    with override_settings(WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(scope="session", autouse=True)
def every_answer_is_as_documented() -> Iterator[None]:
    """Compare what the API answers with its OpenAPI document, whichever test and client asks."""
    from campaigns.tests.validated import require_documented  # once Django is set up

    unchecked = BaseHandler.get_response

    def checked(self: BaseHandler, request: HttpRequest) -> HttpResponseBase:
        response = unchecked(self, request)
        require_documented(request, response)
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseHandler, "get_response", checked)
        yield


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell how many tests each tier had, and how long they took, one after another."""
    reports = [
        report
        for outcome in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
        if hasattr(report, "keywords")
    ]
    terminalreporter.section("tiers")
    for tier in TIERS:
        own = [report for report in reports if tier in report.keywords]
        items = len({report.nodeid for report in own})
        if items:
            minutes = sum(report.duration for report in own) / 60
            terminalreporter.write_line(f"{tier:8}{items:7} items {minutes:7.1f} min")
