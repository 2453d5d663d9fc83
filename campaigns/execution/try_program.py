"""Run the draft of a program once, so that its author sees what the reader finds in its output."""

import logging
import threading
from dataclasses import asdict
from pathlib import Path
from time import monotonic, perf_counter_ns
from typing import Any

from django.conf import settings

from campaigns.execution.parcels import opened_for_trial
from campaigns.execution.programs import TRIAL_SECONDS, driver_of_draft
from campaigns.execution.workplace import workplace
from campaigns.kinds.base import Cancelled, Context, DriverError
from campaigns.kinds.base import Target as TargetView
from campaigns.kinds.base.commanding import outputs_of, redacted, shown_of
from campaigns.kinds.program.driver import Program as ProgramDriver
from campaigns.kinds.program.driver import own_values
from campaigns.kinds.program.stored import secrets_of
from campaigns.kinds.programs.commands import why_failed
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.mappings import JsonObject
from campaigns.kit.own_services import installation_rules
from campaigns.kit.redaction import redact_all, storable
from campaigns.models import Program, Target
from campaigns.results.outputs import read_output
from campaigns.targets.reaching import as_driver_reaches_it, server_of

LEASE_SECONDS = 15.0
SHOWN_LETTERS = 4000
NOBODY = TargetView(name="no target", family="", base_url="")

log = logging.getLogger(__name__)


def try_program(pk: int, key: str = "") -> None:
    """Run it, and store what came out. key: of the secrets that it may use."""
    row = Program.objects.filter(pk=pk, state=Program.State.DRAFT).first()
    if row is None or row.trial_began_at is None or row.trial is None:
        return
    begun, asked = row.trial_began_at, dict(row.trial)
    try:
        with opened_for_trial(pk, key):
            result = _result(row, asked)
    except (DriverError, SecretUnreadable) as error:
        result = {"failure": str(error)}
    except Cancelled:
        result = {"failure": f"The trial took longer than {TRIAL_SECONDS:g} s."}
    except Exception as bug:
        log.exception("The trial of program %s broke.", pk)
        result = {"failure": f"An error of perfdash itself, see its log: {type(bug).__name__}."}
        raise
    finally:
        mine = Program.objects.filter(pk=pk, trial_began_at=begun)
        mine.update(trial=_stored({**asked, **result}), trial_began_at=None)


def _result(row: Program, asked: JsonObject) -> JsonObject:
    driver = driver_of_draft(row)
    target = Target.objects.filter(pk=asked["target"]).first() if asked["target"] else None
    until = monotonic() + TRIAL_SECONDS
    cancelled = threading.Event()
    timer = threading.Timer(TRIAL_SECONDS, cancelled.set)
    timer.daemon = True
    with workplace(Path(settings.WORK_DIRECTORY), 0) as directory:
        server = server_of(target) if target else None
        context = Context(
            cancelled=cancelled,
            lease_seconds=lambda: min(LEASE_SECONDS, until - monotonic()),
            progress=lambda values: None,
            say=lambda text: None,
            clock=perf_counter_ns,
            directory=directory,
            rules=server.endpoint.rules if server else installation_rules(),
            deadline_seconds=TRIAL_SECONDS,
            sender="perfdash trial of a program",
            read=read_output,
            secrets=secrets_of(row),
        )
        seen = as_driver_reaches_it(target, server=server) if target else NOBODY
        timer.start()
        try:
            driver.reset(seen, asked["parameters"], context)
            return _found(driver, seen, asked, context)
        finally:
            timer.cancel()


def _found(
    driver: ProgramDriver, target: TargetView, asked: JsonObject, context: Context
) -> JsonObject:
    settings_read = driver.apply(target, asked["parameters"], context)
    command, ran = driver.run(target, asked["parameters"], context)
    failure = why_failed(command, shown_of(ran, context.secrets))
    result: JsonObject = {
        "arguments": list(command.arguments),
        "exit_status": ran.exit_status,
        "seconds": ran.seconds,
        "left": ran.left,
        "left_names": [redacted(name, context.secrets) for name in ran.left_names],
        "version": next(
            (str(each.in_force) for each in settings_read if each.name == "version"), ""
        ),
        "own": own_values(ran),
        "outputs": [
            {
                "name": each.name,
                "size": len(each.content),
                "text": each.content[-SHOWN_LETTERS:].decode(errors="replace"),
            }
            for each in outputs_of(ran, context.secrets)
        ],
    }
    if not failure and driver.definition.reader:
        try:
            found = driver.find(ran, context)
        except DriverError as error:
            failure = str(error)
        else:
            failure = found.failure and f"The output says that the run failed: {found.failure}"
            result |= {
                "metrics": [asdict(each) for each in found.metrics],
                "primary": found.primary,
            }
    return {**result, "failure": redacted(failure, context.secrets)}


def _stored(value: Any) -> Any:
    """Return JSON without secrets, and without characters that the database does not take."""
    return _storable(redact_all(value))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {name: _storable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(each) for each in value]
    return value
