"""The kind on a PostgreSQL that runs, alone and behind HAProxy and PgBouncer."""

from dataclasses import replace

import pytest

from campaigns.kinds.base import (
    AddressRefused,
    DriverError,
    LevelNotInForce,
    NotClean,
    NotOurs,
    RemovedByOthers,
    TargetUnavailable,
)
from campaigns.kinds.sql import server
from campaigns.kinds.sql.driver import driver
from campaigns.kinds.sql.engine import pgbench
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.sql import other_make, servers
from campaigns.tests.kinds.sql.servers import INSTALLATION

pytestmark = pytest.mark.system
OURS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'perfdash %'"
SCHEMAS = "SELECT count(*) FROM pg_namespace WHERE nspname = 'perfdash_bench'"


SECRET = "a:b\\c"  # noqa: S105 - what a password file has to escape


def needs(program):
    return pytest.mark.skipif(not servers.program(program), reason=f"{program} is not installed")


def test_log_summary_and_database_count_the_same_transactions(place):
    measured = place.run(script="kv-mixed", read_percent=50)

    assert not measured.failure
    assert place.unproved == []
    assert place.proof("transactions in the log").measured == 200
    assert place.proof("transactions committed").measured >= 200
    assert place.proof("rows of kv").measured == 100
    assert (measured.units_done, measured.units_failed) == (200, 0)
    assert measured.values["clients_served"] == 4
    assert measured.values["fairness"] == 1.0
    assert measured.values["tps"] * measured.values["end_to_end_time"] == pytest.approx(4000)
    counts = {each.name: each.count for each in measured.distributions}
    assert counts["response"] == 200 == counts["response:read"] + counts["response:write"]
    assert place.level("way") == "direct"
    assert place.database.value(SCHEMAS) == 0
    assert place.database.value(OURS) == 0


def test_the_balances_of_pgbench_add_up(place):
    place.run(script="tpcb-like")

    assert place.unproved == []
    assert place.proof("transactions in the history").measured == 200
    assert place.proof("rows of pgbench_accounts").measured == 100_000


def test_an_offered_rate_has_lag_and_what_was_in_time(place):
    measured = place.run(loop="open", rate=2000.0, late_after_ms=10_000.0)

    assert place.unproved == []
    assert {"achieved", "goodput", "skipped"} <= measured.values.keys()
    assert measured.values["in_time"] == 100
    assert "end_to_end_time" not in measured.values
    assert {each.name for each in measured.distributions} == {"response", "lag", "service"}


def test_transactions_that_are_tried_again_and_fail_are_counted(place):
    conflict = "BEGIN ISOLATION LEVEL REPEATABLE READ;\nUPDATE perfdash_bench.kv SET v = v WHERE k = 1;\nEND;"

    measured = place.run(script="own", own_script=conflict, tries=2, transactions=200)

    assert place.proof("transactions in the log").ok
    assert measured.units_done + measured.units_failed == 800
    assert measured.failures.keys() <= {"serialization"}


def test_tables_and_variables_of_ones_own_script(place):
    place.run(
        script="own",
        initialise="CREATE TABLE perfdash_bench.t (c int, size int);\nINSERT INTO perfdash_bench.t VALUES (0, 0);",
        own_script="INSERT INTO perfdash_bench.t VALUES (:client_id, :size);",
        variables="size=7",
    )

    assert place.unproved == []


def test_a_script_that_the_server_refuses_is_told_before_the_load(place):
    with pytest.raises(
        DriverError, match=r"script own was refused before the load.*SQLSTATE 42601"
    ):
        place.run(script="own", own_script="SELEC 1;")
    with pytest.raises(DriverError, match="initialise in line 2"):
        place.run(script="own", own_script="SELECT 1;", initialise="SELECT 1;\nCREATE TABL x;")
    assert place.database.value(SCHEMAS) == 0


def test_an_error_in_the_middle_fails_the_run_with_the_servers_words(place):
    counts_down = "INSERT INTO perfdash_bench.kv SELECT 101 + count(*), '' FROM perfdash_bench.kv WHERE k > 100;"

    measured = place.run(script="own", own_script=counts_down, clients=4, transactions=500)

    assert "SQLSTATE 23505" in measured.failure
    assert "duplicate key value" in measured.failure


def test_copy_to_a_program_is_warned_of(place):
    place.run(
        script="own", own_script="COPY (SELECT 1) TO PROGRAM 'cat >/dev/null';", transactions=1
    )

    assert any("Line 1: COPY … PROGRAM" in line for line in place.keeper.lines)


def test_a_database_with_tables_of_others_is_refused_unless_it_is_ours_alone(place):
    place.database.run("CREATE TABLE theirs (a int)")
    try:
        with pytest.raises(
            NotOurs, match=r"bench holds 1 tables of others, in the schemas public \(1\)"
        ):
            place.run()
        place.run(place.database.target(dedicated=True))
        assert "belongs to perfdash alone" in place.proof("tables of others").measured
    finally:
        place.database.run("DROP TABLE theirs")


def test_somebody_at_work_in_the_database_makes_the_run_void(place, monkeypatch):
    monkeypatch.setattr("campaigns.kinds.sql.driver.QUIET_SECONDS", 0.1)
    with place.database.connect() as other:
        other.autocommit = False
        other.execute("SELECT 1")
        clean = driver.reset(place.database.target(), place.parameters(), place.keeper.context())

    assert [each.measured for each in clean if not each.ok] == [1]


def test_an_earlier_attempt_leaves_no_connection(place):
    with place.database.connect() as stale:
        stale.execute(f"SET application_name = 'perfdash attempt/99 of {INSTALLATION}'")
        place.run()

        assert place.database.value(OURS) == 0


def test_a_connection_of_another_perfdash_is_left_alone(place):
    with place.database.connect() as other:
        other.execute("SET application_name = 'perfdash attempt/99 of 4e5f6071'")
        place.run()

        assert place.database.value(OURS) == 1


def test_the_schema_of_another_perfdash_is_told_before_the_launch_and_never_touched(place):
    other = place.database.target(installation="4e5f6071")
    values, context = place.parameters(), place.keeper.context()
    driver.reset(other, values, context)
    told = r"Another perfdash has made the schema .*perfdash-4e5f6071-schema.*perfdash-0a1b2c3d-"

    with pytest.raises(NotOurs, match=told):
        driver.look(place.database.target(), values, context.rules)
    with pytest.raises(NotOurs, match=told):
        place.run()

    assert place.database.value("SELECT count(*) FROM perfdash_bench.kv") == 100
    driver.clean_up(other, values, context)
    place.run()
    proofs = driver.probe(place.database.target(), context.rules)
    assert proofs[-1].measured == f"perfdash-{INSTALLATION}-…"


def test_the_schema_of_an_earlier_version_is_dropped(place):
    place.database.run("CREATE SCHEMA perfdash_bench CREATE TABLE theirs (a int)")

    place.run()

    assert place.unproved == []


def test_a_schema_that_somebody_drops_in_the_middle_makes_the_run_void(place):
    target, values, context = place.database.target(), place.parameters(), place.keeper.context()
    driver.reset(target, values, context)
    driver.apply(target, values, context)
    place.database.run("DROP SCHEMA perfdash_bench CASCADE")

    with pytest.raises(RemovedByOthers, match="Somebody else dropped the schema"):
        driver.measure(target, values, context)


def test_a_run_by_another_address_of_the_database_is_left_alone(place, monkeypatch):
    with place.database.connect() as other:
        other.execute("SET application_name = 'perfdash attempt/99'")
        monkeypatch.setattr(
            place.keeper.cancelled, "wait", lambda seconds: other.execute("SELECT 1") is None
        )
        with pytest.raises(NotClean, match=r"Another run \(perfdash attempt/99\) is at work"):
            driver.reset(place.database.target(), place.parameters(), place.keeper.context())


def test_a_user_without_rights_is_told_what_is_not_shown(place):
    place.database.run("CREATE ROLE weak LOGIN PASSWORD 'a:b\\c'")
    place.database.run("GRANT CREATE ON DATABASE bench TO weak")

    place.run(place.database.target(username="weak", password=SECRET))

    assert place.unproved == []
    assert place.proof("checkpoint").measured.startswith("not done: permission denied")
    assert place.proof("counters reset").measured.startswith("not done: permission denied")


def test_a_user_who_may_make_no_schema_is_told_before_a_run(place, modest):
    rules, proof = parse_rules("127.0.0.1:*"), "making a schema"
    probed = {each.name: each for each in driver.probe(modest, rules)}
    assert probed[proof].ok
    place.database.run("REVOKE CREATE ON DATABASE bench FROM modest")

    probed = {each.name: each for each in driver.probe(modest, rules)}
    assert (probed[proof].ok, probed[proof].measured) == (False, "refused")
    with pytest.raises(DriverError, match="GRANT CREATE ON DATABASE bench TO modest"):
        driver.look(modest, place.parameters(), rules)
    assert driver.lacks(modest, place.parameters()) == ""
    known = replace(modest, unproved=(proof,))
    assert "may not make a schema" in driver.lacks(known, place.parameters())


@pytest.fixture
def modest(place):
    """A login that may make its schema, and nothing else."""
    place.database.run("CREATE ROLE modest LOGIN PASSWORD 'a:b\\c'")
    place.database.run("GRANT CREATE ON DATABASE bench TO modest")
    yield place.database.target(username="modest", password=SECRET)
    place.database.run(
        "DROP FOREIGN DATA WRAPPER IF EXISTS nothing CASCADE; DROP ROLE IF EXISTS between;"
        "DROP OWNED BY modest CASCADE; DROP ROLE modest"
    )


def rights(target):
    return driver.rights(target, parse_rules("127.0.0.1:*"))


def test_rights_that_reach_beyond_the_database_are_told(place, modest):
    assert rights(place.database.target()) == ("superuser",)
    assert rights(modest) == ()

    place.database.run("GRANT pg_execute_server_program, pg_read_server_files TO modest")
    place.database.run("GRANT EXECUTE ON FUNCTION pg_read_file(text) TO modest")
    place.database.run(
        "CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER far FOREIGN DATA WRAPPER nothing"
    )
    place.database.run("GRANT USAGE ON FOREIGN SERVER far TO modest")

    assert rights(modest) == (
        *("pg_execute_server_program", "pg_read_server_files", "pg_read_file"),
        "the foreign server far",
    )


def test_a_role_that_a_script_can_take_counts(place, modest):
    place.database.run(f"CREATE ROLE between NOLOGIN; GRANT {servers.USER} TO between")
    place.database.run("GRANT between TO modest")
    assert rights(modest) == ("superuser",)

    place.database.run(f"REVOKE {servers.USER} FROM between; ALTER ROLE between CREATEROLE")
    assert rights(modest) == ("CREATEROLE",)


def test_a_role_that_is_set_for_a_login_hides_nothing(place, modest):
    place.database.run("ALTER ROLE modest SUPERUSER; CREATE ROLE between NOLOGIN")
    place.database.run("ALTER ROLE modest SET role = between")

    assert rights(modest) == ("superuser",)


def test_what_an_earlier_script_has_made_tells_no_other_rights(place, modest):
    """A role may set its own search path, and put a view of its own before that of the server."""
    place.database.run(
        "SET ROLE modest; CREATE SCHEMA mine; "
        "CREATE VIEW mine.pg_roles AS SELECT * FROM pg_catalog.pg_roles WHERE false; "
        "ALTER ROLE modest SET search_path = mine, pg_catalog; RESET ROLE"
    )
    place.database.run("ALTER ROLE modest SUPERUSER")

    assert rights(modest) == ("superuser",)


def test_what_a_server_of_another_make_does_not_tell_may_be_any_right(place, monkeypatch):
    monkeypatch.setattr(server, "RIGHTS", "SELECT no_such_function()")

    assert rights(place.database.target()) == (server.NOT_TOLD,)


def test_only_a_script_of_ones_own_is_executed(place):
    assert driver.executes(place.parameters(script="own", own_script="SELECT 1;")) == "SQL"
    assert driver.executes(place.parameters(script="tpcb-like")) == ""


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"password": "wrong"}, DriverError, "password authentication failed"),
        ({"database": "nix"}, DriverError, 'database "nix" does not exist'),
        ({"port": 1}, TargetUnavailable, "refused"),
    ],
)
def test_a_login_that_fails_is_told(place, changed, error, message):
    with pytest.raises(error, match=message):
        driver.probe(place.database.target(**changed), parse_rules("127.0.0.1:*"))


def test_network_rules_hold(place):
    place.keeper.rules = "127.0.0.1:1"
    with pytest.raises(AddressRefused):
        place.run()


def test_limits_of_the_owner_hold(place):
    place.keeper.most_per_second = 5.0
    with pytest.raises(LevelNotInForce, match="closed loop cannot be held to a rate"):
        place.run()
    with pytest.raises(LevelNotInForce, match="A rate of 10 was to be in force"):
        place.run(loop="open", rate=10.0)
    place.keeper.most_per_second, place.keeper.most_concurrent = None, 2
    place.run()
    assert [each.in_force for each in place.levels if not each.ok] == [2]


def test_more_clients_than_the_database_lets_in(place):
    with pytest.raises(TargetUnavailable, match=r"too many clients.*choose client_processes apart"):
        place.run(clients=40)

    measured = place.run(clients=40, client_processes="apart", transactions=2000)

    assert not measured.failure
    assert 1 <= measured.values["clients_served"] < 40
    assert measured.failures["connect"] == 40 - measured.values["clients_served"]
    assert measured.values["fairness"] < 1


def test_clients_with_a_few_slow_transactions_were_let_in(place):
    measured = place.run(
        script="own", own_script="SELECT pg_sleep(0.1);", client_processes="apart", clients=2, transactions=None,
        duration_seconds=1, warm_up_seconds=0,
    )  # fmt: skip

    assert measured.values["clients_served"] == 2
    assert measured.failures == {}
    assert "not let in" not in str(place.proof("clients in pg_stat_activity").measured)


STANDS = {
    "script": "own",
    "initialise": "CREATE SEQUENCE perfdash_bench.s;",
    "own_script": "SELECT CASE WHEN nextval('perfdash_bench.s') = 40 THEN pg_sleep(600)::text END;\n\\sleep 20 ms",
    "transactions": None,
    "duration_seconds": 2,
    "warm_up_seconds": 0,
}
"""The fortieth transaction is never answered. The log of so few stays in pgbench until it ends."""


@pytest.mark.usefixtures("hangs_up")
def test_a_transaction_that_is_under_way_when_the_time_is_over_has_failed(place):
    place.keeper.deadline_seconds = 5.0

    measured = place.run(client_processes="apart", clients=2, **STANDS)

    assert not measured.failure
    assert measured.failures == {"timeout": 1}
    assert measured.values["failed"] == measured.units_failed == 1
    assert measured.values["response_max"] > 1000
    assert "response_max" in measured.censored
    assert measured.values["clients_served"] == 2
    assert place.unproved == []
    assert place.proof("transactions in the log").measured >= measured.units_done >= 39


def test_a_run_that_waits_for_one_transaction_to_the_end_tells_it(place):
    place.keeper.deadline_seconds = 5.0

    measured = place.run(clients=4, loop="open", rate=200.0, **STANDS)

    assert measured.failure == "The run took longer than the 5 s that the campaign allows."
    assert measured.failures == {"timeout": 1}
    assert measured.units_done >= 39
    assert measured.values["clients_served"] == 4
    assert place.database.value(OURS) == 0


@pytest.mark.usefixtures("hangs_up")
def test_arrivals_of_a_server_that_stands_still_were_due(place):
    place.keeper.deadline_seconds = 5.0

    measured = place.run(
        client_processes="apart", clients=1, loop="open", rate=200.0, late_after_ms=5000.0, **STANDS
    )

    assert measured.values["in_time"] == pytest.approx(100 * measured.units_done / 400)
    assert measured.units_done < 50


@needs("haproxy")
def test_a_proxy_that_lets_in_three_connections_serves_three_clients(place, tmp_path):
    with servers.haproxy(tmp_path, place.database, most=3) as port:
        target = place.database.target(port=port)
        measured = place.run(
            target, clients=6, client_processes="apart", transactions=None, duration_seconds=1, warm_up_seconds=0
        )  # fmt: skip
        assert measured.values["clients_served"] == 3
        assert measured.values["served"] == 50
        assert measured.values["fairness"] < 0.6
        assert measured.failures == {"connect": 3}
        assert place.level("way") == "through a proxy"
        offered = place.run(
            target, clients=6, client_processes="apart", transactions=None, duration_seconds=1, warm_up_seconds=0,
            loop="open", rate=600.0, late_after_ms=1000.0,
        )  # fmt: skip
        assert offered.values["in_time"] < 75  # the others offered a half
        each = place.run(target, clients=6, connections="each", transactions=5)

    assert each.values["clients_served"] == 6
    assert place.unproved == []


QUEUE = {
    "script": "own",
    "initialise": (
        "CREATE TABLE jobs (id serial PRIMARY KEY, state text NOT NULL DEFAULT 'new', note jsonb);\n"
        "INSERT INTO jobs (note) SELECT jsonb_build_object('n', n) FROM generate_series(1, 200) n;\n"
        "CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END; $$;\n"
        "CREATE TRIGGER t BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION told(); -- the end"
    ),
    "own_script": (
        "BEGIN;\n"
        "SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED \\gset job_\n"
        "UPDATE jobs SET state = 'done' WHERE id = :job_id;\n"
        "COMMIT;"
    ),
}


def test_tables_of_ones_own_script_need_no_schema_and_nothing_of_them_stays(place):
    measured = place.run(**QUEUE, clients=2, transactions=50)

    assert measured.units_done == 100
    assert place.unproved == []
    assert place.database.value("SELECT count(*) FROM pg_tables WHERE tablename = 'jobs'") == 0


def test_tables_elsewhere_are_told_at_once(place):
    with pytest.raises(DriverError, match="made tables in the schema public, which stay there"):
        place.run(**QUEUE | {"initialise": "CREATE TABLE public.jobs (id int);"})
    place.database.run("DROP TABLE public.jobs")


@needs("pgbouncer")
def test_behind_a_pooler_the_tables_of_ones_own_script_are_named_with_their_schema(place):
    with servers.pgbouncer(place.database, pool=2) as port:
        target = place.database.target(port=port)
        with pytest.raises(DriverError, match='relation "jobs" does not exist'):
            place.run(target, **QUEUE, protocol="simple")
        named = QUEUE["own_script"].replace("jobs", "perfdash_bench.jobs")
        measured = place.run(
            target, **QUEUE | {"own_script": named}, protocol="simple", clients=2, transactions=20
        )

    assert measured.units_done == 40


@needs("pgbouncer")
def test_pgbouncer_serves_all_clients_of_transactions(place, tmp_path):
    with servers.pgbouncer(place.database, pool=2) as port:
        target = place.database.target(port=port)
        measured = place.run(
            target, clients=6, protocol="simple", script="tpcb-like", transactions=20
        )

    assert measured.values["clients_served"] == 6
    assert place.unproved == []


def test_a_server_of_another_make_says_what_it_does_not_have(place):
    with other_make.server(place.database) as port:
        target = place.database.target(port=port)
        measured = place.run(target, script="kv-mixed")
        facts = driver.environment(target, place.keeper.context())

    assert not measured.failure
    assert place.unproved == []
    assert measured.units_done == 200
    assert facts == {"database": other_make.VERSION}
    said = {name: place.proof(name).measured for name in ("vacuum", "checkpoint", "counters reset")}
    assert [text.rpartition("SQLSTATE ")[2] for text in said.values()] == [
        "42601)",
        "42601)",
        "42883)",
    ]
    assert place.proof("transactions committed").measured == "not counted by this server"
    assert place.proof("clients in pg_stat_activity").measured.startswith(
        "not looked: there is a proxy"
    )


def test_a_script_that_does_not_end_is_told(place, monkeypatch):
    monkeypatch.setattr("campaigns.kinds.sql.driver.TRY_SECONDS", 1.5)
    monkeypatch.setattr("campaigns.kinds.sql.driver.PGBENCH_CONNECT_SECONDS", 0.5)

    with pytest.raises((TargetUnavailable, DriverError), match=r"did not end within 1\.5 s"):
        place.run(script="own", own_script="SELECT pg_sleep(600);")

    assert place.database.value(OURS) == 0


@pytest.mark.parametrize(
    ("version", "message"),
    [("", "There is no pgbench"), ("14.9", "pgbench 14.9 .* is older than 15")],
)
def test_a_worker_without_pgbench_says_what_to_install(tmp_path, monkeypatch, version, message):
    path = tmp_path / "pgbench"
    path.write_text(f"#!/bin/sh\necho 'pgbench (PostgreSQL) {version}'\n")
    path.chmod(0o755)
    monkeypatch.setattr(pgbench, "candidates", lambda: [str(path)] if version else [])

    with pytest.raises(pgbench.NoPgbench, match=message):
        pgbench.find()
