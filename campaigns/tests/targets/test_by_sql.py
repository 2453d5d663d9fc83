"""Parameters of a real PostgreSQL: set by ALTER SYSTEM, read back, put back; refused with what to do."""

import pytest

from campaigns.kit.http.credentials import Login, Tls
from campaigns.kit.network import parse_rules
from campaigns.targets.actions import (
    Action,
    ActionFailed,
    BadAction,
    Endpoint,
    Role,
    Server,
    SshAccess,
    objection,
    parse,
    perform,
    read_value,
)
from campaigns.tests.targets import postgresql_server, ssh_server

pytestmark = pytest.mark.system

AT_START = "ALTER SYSTEM RESET ALL"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    place = tmp_path_factory.mktemp("database")
    for each in (place, place.parent):
        each.chmod(0o755)
    with postgresql_server.serving(place) as server:
        yield server


@pytest.fixture(scope="module")
def machine():
    with ssh_server.within() as found:
        yield found


@pytest.fixture
def database(running):
    running.value(AT_START)
    running.value("SELECT pg_reload_conf()")
    return running


@pytest.fixture
def reach(database, machine):
    def server(user=postgresql_server.USER, password=""):
        rules = parse_rules(f"127.0.0.1:{database.port}, 127.0.0.1:{machine.port}")
        login = Login(user, password or database.password)
        access = SshAccess(
            "127.0.0.1",
            machine.port,
            machine.username,
            key=machine.key,
            host_key=machine.host_key,
        )
        return Server(Endpoint(database.url, rules, login, Tls()), access)

    return server


def by_sql(parameter, unit="", restart=(), seconds=30):
    sent = {"way": "sql", "parameter": parameter, "unit": unit, "seconds": seconds}
    return parse(sent | ({"arguments": list(restart)} if restart else {}), Role.APPLY)


def go_on():
    pass


def put(action, server, value):
    return perform(action, server, go_on, value=value)


def test_a_parameter_is_set_read_back_and_put_back(database, reach):
    action = by_sql("work_mem", "MB")
    assert read_value(action, reach(), go_on) == 4

    done = put(action, reach(), 8)

    assert str(done).startswith("done after ")
    assert done.output == """ALTER SYSTEM SET "work_mem" = '8192'"""
    assert database.shown("work_mem") == "8MB"
    assert read_value(action, reach(), go_on) == 8
    assert put(action, reach(), 4).output == 'ALTER SYSTEM RESET "work_mem"'
    assert database.shown("work_mem") == "4MB"
    assert database.automatic == "", "nothing of perfdash is left"


def test_what_somebody_has_set_by_alter_system_is_there_again(database, reach):
    database.value("ALTER SYSTEM SET work_mem = '6MB'")
    database.value("SELECT pg_reload_conf()")
    action = by_sql("work_mem", "kB")
    before = read_value(action, reach(), go_on)

    put(action, reach(), 8192)
    put(action, reach(), before)

    assert database.automatic == "work_mem = '6144'\n"


@pytest.mark.parametrize(
    ("parameter", "unit", "value", "shown"),
    [
        ("random_page_cost", "", 1.1, "1.1"),
        ("jit", "", "off", "off"),
        ("synchronous_commit", "", "remote_apply", "remote_apply"),
        ("checkpoint_timeout", "min", 15, "15min"),
        ("autovacuum_vacuum_cost_delay", "ms", 0.5, "500us"),
        ("autovacuum_vacuum_cost_limit", "", -1, "-1"),
    ],
)
def test_numbers_switches_and_choices_are_in_force_as_they_were_asked(
    database, reach, parameter, unit, value, shown
):
    action = by_sql(parameter, unit)

    put(action, reach(), value)

    assert database.shown(parameter) == shown
    assert str(read_value(action, reach(), go_on)) == str(value)


def test_a_parameter_that_takes_a_restart_is_in_force_after_it(database, reach):
    action = by_sql("max_connections", restart=database.restart)

    assert put(action, reach(), 30).output.endswith("= '30', and restarted")

    assert read_value(action, reach(), go_on) == 30
    put(action, reach(), 20)
    assert database.shown("max_connections") == "20"
    assert database.automatic == ""


def test_without_a_command_that_restarts_nothing_is_changed(database, reach):
    with pytest.raises(ActionFailed, match="only after a restart of PostgreSQL: give the command"):
        put(by_sql("max_connections"), reach(), 30)
    assert database.automatic == ""


def test_a_change_that_waits_for_a_restart_is_not_in_force(database, reach):
    database.value("ALTER SYSTEM SET max_connections = 40")
    database.value("SELECT pg_reload_conf()")
    action = by_sql("max_connections", restart=database.restart)

    with pytest.raises(ActionFailed, match="waits for a restart of PostgreSQL; 20 is in force"):
        read_value(action, reach(), go_on)
    assert "waits for a restart" in objection(action, reach(), go_on)
    assert put(action, reach(), 20).output == 'ALTER SYSTEM RESET "max_connections"', "no restart"
    assert read_value(action, reach(), go_on) == 20


def test_where_the_restart_fails_and_the_server_answers_the_line_is_put_back(database, reach):
    action = by_sql("max_connections", restart=["sh", "-c", "echo no such unit >&2; exit 5"])

    with pytest.raises(ActionFailed) as failed:
        put(action, reach(), 30)

    assert str(failed.value) == (
        "“sh” ended with exit code 5: no such unit “max_connections” is put back in postgresql.auto.conf."
    )
    assert database.automatic == ""
    assert read_value(action, reach(), go_on) == 20


def test_what_is_put_back_after_a_failed_restart_waits_for_nothing(database, reach):
    action = by_sql("max_worker_processes", restart=["sh", "-c", "exit 5"])
    before = read_value(action, reach(), go_on)
    with pytest.raises(ActionFailed, match=r"is put back in postgresql\.auto\.conf"):
        put(action, reach(), before + 4)
    assert (database.automatic, read_value(action, reach(), go_on)) == ("", before)
    assert objection(action, reach(), go_on, [before]) == ""
    put(action, reach(), before)


@pytest.mark.parametrize(
    "name",
    ["idle_session_timeout", "statement_timeout", "transaction_timeout", "ssl", "max_connections"],
)
def test_what_would_lock_perfdash_out_is_not_set(name, database, reach):
    value = {"ssl": "off"}.get(name, 1)
    why = objection(by_sql(name, restart=database.restart), reach(), go_on, [value])
    assert "set it back" in why
    with pytest.raises(ActionFailed):
        put(by_sql(name, restart=database.restart), reach(), value)
    assert database.automatic == ""


def test_where_the_server_does_not_start_what_is_left_is_told(database, reach):
    action = by_sql("shared_buffers", "GB", restart=database.restart)

    with pytest.raises(ActionFailed) as failed:
        put(action, reach(), 8000)

    left = "“shared_buffers = 1048576000” is left in its postgresql.auto.conf: remove that line and start PostgreSQL."
    assert f"PostgreSQL does not answer. {left}" in str(failed.value)
    assert database.automatic == "shared_buffers = '1048576000'\n"
    (database.cluster / "postgresql.auto.conf").write_text("")
    postgresql_server.run(database.restart[:-1], "start")
    assert database.shown("shared_buffers") == "16MB"


@pytest.mark.parametrize(
    ("parameter", "unit", "value", "words"),
    [
        ("work_mem", "kB", 1, "“work_mem” takes 64 to 2147483647 kB; 1 kB is not between them."),
        ("work_mem", "ms", 1, "“work_mem” has the unit kB; its values cannot be given in ms."),
        ("random_page_cost", "MB", 1, "“random_page_cost” has no unit; its values cannot be given"),
        ("work_mem", "B", 1025, "“work_mem” takes whole kB; 1025 B is none."),
        ("work_mem", "", "4MB'; DROP", "“work_mem” takes a number, not “4MB'; DROP”."),
        ("jit", "", "perhaps", "“jit” takes on, off, not “perhaps”."),
        ("wal_level", "", "most", "“wal_level” is in force only after a restart"),
        ("archive_command", "", "rm -rf /", "“archive_command” is a text, such as a command"),
        ("port", "", 1, "“port” is not set by SQL"),
        ("block_size", "", 1, "“block_size” is not set by SQL"),
        ("no_such", "", 1, "PostgreSQL has no parameter “no_such” that this login may see."),
    ],
)
def test_what_a_parameter_does_not_take_is_refused_with_what_it_takes(
    database, reach, parameter, unit, value, words
):
    action = by_sql(parameter, unit)
    with pytest.raises(ActionFailed) as failed:
        put(action, reach(), value)
    assert words in str(failed.value)
    assert database.automatic == ""


def test_a_login_without_the_right_is_told_which_and_may_once_it_is_granted(database, reach):
    secret = "a-long-password"  # noqa: S105
    database.value(f"CREATE ROLE tuner LOGIN PASSWORD '{secret}'")
    action, server = by_sql("work_mem", "MB"), reach("tuner", secret)

    told = objection(action, server, go_on)

    grants = "GRANT ALTER SYSTEM ON PARAMETER work_mem TO tuner; GRANT EXECUTE ON FUNCTION pg_reload_conf() TO tuner"
    assert told == (
        f"The login “tuner” may not set “work_mem”. A superuser grants it (PostgreSQL 15 or later): {grants}."
    )
    with pytest.raises(ActionFailed, match="may not set “work_mem”"):
        put(action, server, 8)
    for statement in grants.split("; "):
        database.value(statement)
    assert objection(action, server, go_on, [8]) == ""
    put(action, server, 8)
    assert read_value(action, server, go_on) == 8
    put(action, server, 4)
    assert database.automatic == "work_mem = '4096'\n", "it cannot see what the files have"
    database.value("ALTER ROLE tuner SET work_mem = '5MB'")
    assert "is set for this login (ALTER ROLE … SET), which goes before" in objection(
        action, server, go_on
    )


def test_a_server_that_is_not_there_is_told(database, reach):
    server = reach(password="wrong-password")  # noqa: S106
    with pytest.raises(ActionFailed, match=r"PostgreSQL gave no connection: .*authentication"):
        read_value(by_sql("work_mem"), server, go_on)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"parameter": "work_mem; DROP"}, "parameter", "Give the name of a parameter"),
        ({"parameter": ""}, "parameter", "Give the name of a parameter"),
        ({"unit": "MiB"}, "unit", "Choose one of B, kB, MB"),
        ({"arguments": ["restart", "{value}"]}, "arguments", "The value goes by SQL"),
        ({"arguments": "restart"}, "arguments", "as a list of texts"),
        ({"at": "a"}, "at", "An action by sql has no field “at”."),
    ],
)
def test_what_is_wrong_with_an_action_is_told_by_field(change, field, words):
    with pytest.raises(BadAction) as bad:
        parse({"way": "sql", "parameter": "work_mem"} | change, Role.APPLY)
    assert words in bad.value.errors[field]


@pytest.mark.parametrize("role", [Role.RESET, Role.READY])
def test_sql_neither_resets_nor_awaits(role):
    with pytest.raises(BadAction, match="take HTTP or a command here"):
        parse({"way": "sql", "parameter": "work_mem"}, role)


def test_reading_restarts_nothing():
    with pytest.raises(BadAction, match="leave the program out"):
        parse({"way": "sql", "parameter": "work_mem", "arguments": ["x"]}, Role.READ)


def test_an_action_is_stored_as_it_is_sent():
    sent = {"way": "sql", "parameter": "work_mem", "unit": "MB", "seconds": 60.0}
    assert parse(sent, Role.APPLY).to_json() == sent
    assert Action("sql", parameter="a", arguments=("r",)).to_json()["arguments"] == ["r"]
