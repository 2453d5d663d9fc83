"""The tiers of the tests, and what each worker of a parallel run has of its own."""

import fcntl
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import asyncssh  # noqa: F401  looks for libraries by starting programs: not within a quick test
import hypothesis
import msgspec
import pytest
from django.core.handlers.base import BaseHandler
from django.core.management.color import Style
from django.core.management.commands import flush
from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import override_settings

from campaigns.kit import apart
from suite import nightly, sharing
from suite.tiers import QUICK, TIERS, tier_of

KEPT = {"django_content_type", "auth_permission"}
"""Tables that migrations fill, and no test changes."""

hypothesis.settings.register_profile(
    "of no clock", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("of no clock")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take what `script/test` chooses by."""
    group = parser.getgroup("tiers")
    group.addoption("--quick", action="store_true", help="the tiers unit and db alone")
    group.addoption(
        "--own",
        action="append",
        default=[],
        metavar="PATH",
        help="with --quick: the tier system of PATH, too",
    )
    group.addoption(
        "--keep-durations",
        action="store_true",
        help="write the seconds of each file into suite/seconds.json",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier, so that `-m` chooses by it."""
    for item in items:
        tier = tier_of(item)
        item.add_marker(tier)
        item.user_properties.append(("tier", tier))
    nightly.require_guards(items)
    if config.getoption("quick"):
        own = config.getoption("own")
        chosen = {item for item in items if _is_quick(item, own)}
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


def _is_quick(item: pytest.Item, own: list[str]) -> bool:
    tier = dict(item.user_properties)["tier"]
    return tier in QUICK or (tier == "system" and sharing.below(sharing.file_of(item.nodeid), own))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from all that stays until the end: the modules and the tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep the quick tiers quick: what starts a program fails in them."""
    global programs_allowed
    programs_allowed = tier_of(item) not in QUICK
    try:
        return (yield)
    finally:
        programs_allowed = True


programs_allowed = True


def start_program(process: Any, *arguments: Any, **options: Any) -> None:
    """Start a program, as `Popen` does; fail where a test of a quick tier does so."""
    if not programs_allowed and not _looks_for_a_library():
        pytest.fail(f"{arguments} is started in a quick tier: mark the test `system`")
    start_unasked(process, *arguments, **options)


def _looks_for_a_library() -> bool:
    """Whether `ctypes.util.find_library` asks the linker, as asyncssh does when it is imported."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "ctypes.util":
        frame = frame.f_back
    return frame is not None


def work_here(
    function: Callable[..., bytes], content: Any, arguments: Any, limits: apart.Limits
) -> bytes:
    """Work in a process of its own, as `apart.work` does; within this one for a test of a quick tier."""
    if programs_allowed:
        return work_apart(function, content, arguments, limits)
    with apart.as_file(content) as file:
        return function(file, msgspec.json.decode(msgspec.json.encode(arguments)))


work_apart = apart.work
apart.work = work_here
start_unasked = subprocess.Popen.__init__
subprocess.Popen.__init__ = start_program  # type: ignore[assignment,method-assign]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[Any]) -> None:
    """Give each worker, and what it starts, a database of the broker of its own."""
    url = os.environ.get("BROKER_URL", "")
    for number, spec in enumerate(specs, start=1):
        spec.env = {"BROKER_URL": url.replace("virtual_host=0", f"virtual_host={number}")}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> sharing.ByFile:
    """Share out files of tests by the durations of the last run."""
    return sharing.ByFile(config, log)


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


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell how many tests each tier had and how long they took, one after another; remember the durations."""
    reports = [
        (report, outcome)
        for outcome, found in terminalreporter.stats.items()
        for report in found
        if isinstance(report, pytest.TestReport)
    ]
    terminalreporter.section("tiers")
    for tier in TIERS:
        own = [
            report for report, _ in reports if ("tier", tier) in map(tuple, report.user_properties)
        ]
        if own:
            items = len({report.nodeid for report in own})
            minutes = sum(report.duration for report in own) / 60
            terminalreporter.write_line(f"{tier:8}{items:7} items {minutes:7.1f} min")
    seconds = sharing.seconds_by_file(report for report, _ in reports)
    sharing.remember(config, seconds)
    if config.getoption("keep_durations"):
        sharing.keep(sharing.known_seconds(config))
    nightly.write_counts((report.nodeid, outcome, report.duration) for report, outcome in reports)
