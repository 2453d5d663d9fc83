"""Set a parameter of a PostgreSQL by ALTER SYSTEM, and read it back. No Django.

What is read is in force: a change that waits for a restart, as after a worker that was killed between the two, is a failure.
A value that the server would have without ALTER SYSTEM is set by ALTER SYSTEM RESET, so that nothing of perfdash is left.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import psycopg
from psycopg import errors, sql

from campaigns.kit.http.credentials import BadCertificate
from campaigns.kit.sql_tls import AUTOMATIC, tls_options
from campaigns.kit.ssh.access import ActionFailed
from campaigns.targets.actions.http import Endpoint
from campaigns.targets.actions.parameters import Parameter
from campaigns.targets.actions.values import Action
from campaigns.targets.watches.base import Access, WatchFailed
from campaigns.targets.watches.polling import Missed
from campaigns.targets.watches.sql import bounded, connect, text_of

Check = Callable[[], None]
RELOAD_SECONDS = 10.0
"""In which a server reads its files again."""
LOOK_SECONDS = 0.02
AGAIN_SECONDS = 0.2
SINCE_15 = "pg_catalog.has_parameter_privilege(s.name, 'ALTER SYSTEM')"
BEFORE_15 = "pg_catalog.current_setting('is_superuser') = 'on'"
DESCRIBED = """
    SELECT s.name, s.setting, coalesce(s.unit, ''), s.vartype, s.context, coalesce(s.min_val, ''), coalesce(s.max_val, ''),
           coalesce(s.enumvals, '{{}}'), s.source, s.pending_restart, coalesce(s.boot_val, ''), session_user::text, {may},
           pg_catalog.has_function_privilege('pg_catalog.pg_reload_conf()', 'EXECUTE'),
           coalesce(pg_catalog.current_setting('allow_alter_system', true), 'on') = 'off'
    FROM pg_catalog.pg_settings s WHERE pg_catalog.lower(s.name) = %s
"""
LINES = """
    SELECT setting, sourcefile LIKE '%%/postgresql.auto.conf' FROM pg_catalog.pg_file_settings
    WHERE pg_catalog.lower(name) = %s ORDER BY seqno DESC
"""
LOADED_AT = "SELECT pg_catalog.pg_conf_load_time()"


def read(action: Action, endpoint: Endpoint, check: Check) -> Any:
    """Return the value of a parameter that is in force. Raise ActionFailed."""
    with _connected(endpoint, action.seconds, check) as connection:
        parameter = _described(connection, action.parameter)
    if parameter.pending:
        raise ActionFailed(_waits(parameter, action.unit))
    return parameter.value_in(action.unit)


def objection(action: Action, endpoint: Endpoint, check: Check, values: Iterable[Any] = ()) -> str:
    """Return why a parameter cannot be set, or not to one of these values; empty where it can. Nothing is changed.

    Raise ActionFailed where nobody answers.
    """
    with _connected(endpoint, action.seconds, check) as connection:
        parameter = _described(connection, action.parameter)
    why = parameter.why_not(restarts=bool(action.arguments))
    if why or parameter.pending:
        return why or _waits(parameter, action.unit)
    try:
        for value in values:
            parameter.text_of(value, action.unit)
    except ActionFailed as error:
        return str(error)
    return ""


def put(
    action: Action, value: Any, endpoint: Endpoint, check: Check, restart: Callable[[float], None]
) -> str:
    """Set a parameter, let the server read it, and restart it where that takes one; return what was done. Raise ActionFailed.

    restart: restarts it within so many seconds. Where that fails, the former line of postgresql.auto.conf is written again if
    the server still answers; else the message says what is left there.
    """
    until = monotonic() + action.seconds
    with _connected(endpoint, action.seconds, check) as connection:
        before = _described(connection, action.parameter)
        if why := before.why_not(restarts=bool(action.arguments)):
            raise ActionFailed(why)
        text = before.text_of(value, action.unit)
        statement, former = _statements(connection, before, text)
        after = _written(connection, before, statement)
    if not after.pending:
        return statement.as_string(None)
    try:
        restart(max(1.0, until - monotonic()))
        _await(endpoint, until, check)
    except ActionFailed as error:
        raise ActionFailed(f"{error} {_put_back(endpoint, before, former, text, check)}") from None
    return f"{statement.as_string(None)}, and restarted"


def _waits(parameter: Parameter, unit: str) -> str:
    now = f"{parameter.value_in(unit)} {unit}".rstrip()
    return f"A change of “{parameter.name}” waits for a restart of PostgreSQL; {now} is in force."


def _written(
    connection: psycopg.Connection[Any], parameter: Parameter, statement: sql.Composed
) -> Parameter:
    """Execute a statement, let the server read its files, and return the parameter as it is then."""
    loaded = _value(connection, LOADED_AT)
    _executed(connection, statement)
    _executed(connection, sql.SQL("SELECT pg_catalog.pg_reload_conf()"))
    until = monotonic() + RELOAD_SECONDS
    while _value(connection, LOADED_AT) == loaded and monotonic() < until:
        sleep(LOOK_SECONDS)
    return _described(connection, parameter.name)


def _statements(
    connection: psycopg.Connection[Any], parameter: Parameter, text: str
) -> tuple[sql.Composed, sql.Composed]:
    """Return the statement that sets a value, and the one that writes again what is there now.

    Where the login may not read pg_file_settings, a value is always written down.
    """
    try:
        lines = connection.execute(LINES, [parameter.name.lower()]).fetchall()
    except errors.InsufficientPrivilege:
        return _alter(parameter, text), _alter(parameter, parameter.setting)
    except psycopg.Error as error:
        raise ActionFailed(f"PostgreSQL: {text_of(error)}.") from None
    own = next((line for line, is_auto in lines if is_auto), None)
    below = next((line for line, is_auto in lines if not is_auto), parameter.usual)
    return _alter(parameter, None if parameter.is_same(below, text) else text), _alter(
        parameter, own
    )


def _alter(parameter: Parameter, text: str | None) -> sql.Composed:
    name = sql.Identifier(*parameter.name.split("."))
    if text is None:
        return sql.SQL("ALTER SYSTEM RESET {}").format(name)
    return sql.SQL("ALTER SYSTEM SET {} = {}").format(name, sql.Literal(text))


def _put_back(
    endpoint: Endpoint, parameter: Parameter, former: sql.Composed, text: str, check: Check
) -> str:
    """Write the former line of a parameter again; return what is there now."""
    try:
        with _connected(endpoint, RELOAD_SECONDS, check) as connection:
            _written(connection, parameter, former)
    except ActionFailed:
        return (
            f"PostgreSQL does not answer. “{parameter.name} = {text}” is left in its postgresql.auto.conf: "
            "remove that line and start PostgreSQL."
        )
    return f"“{parameter.name}” is put back in postgresql.auto.conf."


def _await(endpoint: Endpoint, until: float, check: Check) -> None:
    """Wait until a server that was restarted answers. Raise ActionFailed."""
    while True:
        try:
            with _connected(endpoint, max(1.0, until - monotonic()), check) as connection:
                _value(connection, LOADED_AT)
                return
        except ActionFailed as error:
            if monotonic() > until:
                raise ActionFailed(
                    f"PostgreSQL did not come back after the restart: {error}"
                ) from None
        check()
        sleep(AGAIN_SECONDS)


def _described(connection: psycopg.Connection[Any], name: str) -> Parameter:
    may = SINCE_15 if connection.info.server_version >= 150_000 else BEFORE_15
    try:
        row = connection.execute(DESCRIBED.format(may=may), [name.lower()]).fetchone()
    except psycopg.Error as error:
        raise ActionFailed(f"PostgreSQL: {text_of(error)}.") from None
    if row is None:
        raise ActionFailed(f"PostgreSQL has no parameter “{name}” that this login may see.")
    values = list(row)
    values[7] = tuple(values[7])
    parameter = Parameter(*values)
    return replace(parameter, pending=parameter.pending and _is_to_change(connection, parameter))


def _is_to_change(connection: psycopg.Connection[Any], parameter: Parameter) -> bool:
    """Return whether a restart would change a parameter of which pg_settings says that it waits for one.

    PostgreSQL says so until it is restarted if the line that changed it is taken away again, and no other line is left.
    """
    try:
        lines = connection.execute(LINES, [parameter.name.lower()]).fetchall()
    except errors.InsufficientPrivilege:
        return True
    except psycopg.Error as error:
        raise ActionFailed(f"PostgreSQL: {text_of(error)}.") from None
    newest = lines[0][0] if lines else parameter.usual
    return not parameter.is_same(newest, parameter.setting)


def _value(connection: psycopg.Connection[Any], statement: str) -> Any:
    try:
        row = connection.execute(statement.encode()).fetchone()
    except psycopg.Error as error:
        raise ActionFailed(f"PostgreSQL: {text_of(error)}.") from None
    return row[0] if row else None


def _executed(connection: psycopg.Connection[Any], statement: sql.SQL | sql.Composed) -> None:
    try:
        connection.execute(statement)
    except psycopg.Error as error:
        raise ActionFailed(f"PostgreSQL: {text_of(error)}.") from None


@contextmanager
def _connected(
    endpoint: Endpoint, seconds: float, check: Check
) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the database of a target with its own login, for so many seconds at most. Raise ActionFailed."""
    check()
    access = Access(
        endpoint.base_url,
        endpoint.rules,
        username=endpoint.login.username,
        password=endpoint.login.password,
    )
    with TemporaryDirectory(prefix="perfdash-") as directory:
        options = tls_options(endpoint.tls, AUTOMATIC, Path(directory)) | {
            "passfile": f"{directory}/none"
        }
        try:
            connection = connect(endpoint.base_url, access, endpoint.sender, **options)
        except (WatchFailed, Missed, BadCertificate) as error:
            raise ActionFailed(str(error)) from None
        except psycopg.Error as error:
            raise ActionFailed(f"PostgreSQL gave no connection: {text_of(error)}.") from None
        try:
            with bounded(connection, seconds):
                yield connection
        finally:
            with suppress(psycopg.Error):
                connection.close()
