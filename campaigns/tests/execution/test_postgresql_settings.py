"""Settings of a real PostgreSQL in a campaign: by SQL and by its file over SSH, through a worker that is killed."""

import os
import shlex
import signal

import pytest
from django.contrib.auth.models import User
from msgspec.structs import replace

from campaigns.execution import dispatch, restore_settings, set_levels, steps, try_settings
from campaigns.execution.running import execute
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.models import Attempt, EffectiveSetting, FoundSetting, SshLogin
from campaigns.planning import launch_checks, lifecycle
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.actions import fingerprint_of
from campaigns.targets.recipes.importing import import_recipe
from campaigns.targets.recipes.reading import shipped
from campaigns.targets.saving import save_target
from campaigns.tests.execution import own_process
from campaigns.tests.targets import postgresql_server, ssh_server

pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    place = tmp_path_factory.mktemp("database")
    for each in (place, place.parent):
        each.chmod(0o755)
    with postgresql_server.serving(place) as server:
        yield server


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    if ssh_server.SSHD:
        with ssh_server.openssh(tmp_path_factory.mktemp("sshd")) as found:
            yield found
        return
    with ssh_server.within() as found:
        yield found


@pytest.fixture
def admin(db):
    return User.objects.create_superuser("admin")


@pytest.fixture
def database(running, machine, controlled, settings, target, admin, monkeypatch):
    """The target of the campaigns is this database, with the login of its machine."""
    monkeypatch.setattr(controlled, "families", ("postgresql",), raising=False)
    running.value("ALTER SYSTEM RESET ALL")
    running.value("SELECT pg_reload_conf()")
    settings.OWNER_CONFIRMS = True
    settings.ALLOWED_ADDRESSES = f"127.0.0.1:{running.port}, 127.0.0.1:{machine.port}"
    data = {"name": "database", "family": "postgresql", "base_url": running.url}
    login = {"username": postgresql_server.USER, "password": running.password}
    save_target(data | login, target)
    ssh = {"host": "127.0.0.1", "port": machine.port, "username": machine.username}
    row = ssh_logins.save_ssh(ssh | {"key": machine.key}, target, admin)
    row.offered_key = machine.host_key
    ssh_logins.accept_host_key(row, fingerprint_of(row.offered_key), admin)
    return running


def by_sql(parameter, unit="", restart=(), **other):
    read = {"way": "sql", "parameter": parameter, "unit": unit}
    apply = read | ({"arguments": list(restart)} if restart else {})
    return {"name": parameter, "type": "integer", "apply": apply, "read_back": read} | other


def define(target, admin, **data):
    return target_settings.save_setting(data, target, admin)


def go(most=20):
    for _ in range(most):
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")
    raise AssertionError("it did not come to an end")


def execute_until_killed():
    """Execute the attempt that is queued in a process of its own; return the signal that ended it."""
    dispatch.dispatch()
    attempt = Attempt.objects.get(state=Attempt.State.QUEUED).pk
    ended = own_process.ended_by(own_process.begin(attempt))
    own_process.forget_lease()
    return ended


def killing(restart, place):
    """Restart as this program does; but the first time kill the worker that asks for it, and do nothing."""
    again = shlex.join(restart)
    text = f"if [ -e {place}/worker ]; then p=$(cat {place}/worker); rm {place}/worker; kill -9 $p; exit 0; fi; {again}"
    return ["sh", "-c", text]


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The worker writes down which process it is."""
    begin = set_levels.put_in_force

    def put_in_force(*arguments):
        if Attempt.objects.filter(state=Attempt.State.LOST).count() == 0:
            (tmp_path / "worker").write_text(str(os.getpid()))
        return begin(*arguments)

    monkeypatch.setattr(steps, "put_in_force", put_in_force)
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_by_sql_what_a_killed_worker_left_is_set_again_and_put_back(
    database, target, admin, launched, told
):
    define(target, admin, **by_sql("max_connections", restart=killing(database.restart, told)))
    campaign = launched(factors={"max_connections": [30]}, repetitions=1)

    assert execute_until_killed() == signal.SIGKILL
    assert database.automatic == "max_connections = '30'\n", "written, and not in force"
    assert database.shown("max_connections") == "20"
    go()

    assert [each.state for each in Attempt.objects.order_by("pk")] == ["lost", "accepted"]
    assert campaign.runs.get().state == "done"
    found = EffectiveSetting.objects.get(name="max_connections", attempt__state="accepted")
    assert (found.asked, found.in_force, found.ok) == (30, 30, True)
    assert FoundSetting.objects.get().value == 20
    restore_settings.restore(target.pk)
    assert FoundSetting.objects.get().restored_at
    assert database.shown("max_connections") == "20"
    assert database.automatic == ""


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_by_sql_a_cancelled_campaign_puts_back_what_a_killed_worker_left(
    database, target, admin, launched, told
):
    define(target, admin, **by_sql("max_connections", restart=killing(database.restart, told)))
    campaign = launched(factors={"max_connections": [30]}, repetitions=1)

    assert execute_until_killed() == signal.SIGKILL
    lifecycle.cancel(campaign, "enough")
    go()
    restore_settings.restore(target.pk)

    assert FoundSetting.objects.get().restored_at
    assert (database.shown("max_connections"), database.automatic) == ("20", "")


def of_recipe(name, database, restart):
    """The setting of a shipped recipe, adapted to this database."""
    program = next(each for each in database.restart if each.endswith("/pg_ctl"))
    where = (
        f"-h 127.0.0.1 -p {database.port} -U {postgresql_server.USER} -d {postgresql_server.USER}"
    )
    psql = f"env PGPASSWORD={database.password} {program.rpartition('/')[0]}/psql {where}"
    words = {
        "/var/lib/pgsql/data/postgresql.conf": str(database.cluster / "postgresql.conf"),
        "systemctl restart postgresql": shlex.join(restart),
        "runuser -u postgres -- psql": psql,
    }
    setting = dict(shipped()[name].setting)
    for action in ("apply", "read_back"):
        arguments = [words.get(each, each) for each in setting[action]["arguments"]]
        setting[action] = {**setting[action], "arguments": arguments}
    return setting


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_by_its_file_what_a_killed_worker_left_is_set_again_and_put_back(
    database, target, admin, launched, told
):
    restart = killing(database.restart, told)
    file = database.cluster / "postgresql.conf"
    before = file.read_text()
    define(target, admin, **of_recipe("postgresql-max-connections-file", database, restart))
    campaign = launched(factors={"max_connections": [30]}, repetitions=1)

    assert execute_until_killed() == signal.SIGKILL
    assert "max_connections = 30\n" in file.read_text(), "written, and not in force"
    assert database.shown("max_connections") == "20"
    go()

    assert [each.state for each in Attempt.objects.order_by("pk")] == ["lost", "accepted"]
    assert campaign.runs.get().state == "done"
    restore_settings.restore(target.pk)
    assert FoundSetting.objects.get().restored_at
    assert (database.shown("max_connections"), database.automatic) == ("20", "")
    assert file.read_text() == before


def test_levels_are_set_by_sql_and_put_back_at_the_end(database, target, admin, launched):
    define(target, admin, **by_sql("work_mem", "MB"))
    campaign = launched(factors={"work_mem": [8, 16]}, repetitions=1)
    go()
    restore_settings.restore(target.pk)

    assert set(campaign.runs.values_list("state", flat=True)) == {"done"}
    seen = EffectiveSetting.objects.filter(name="work_mem").values_list("asked", "in_force", "ok")
    assert set(seen) == {(8, 8, True), (16, 16, True)}
    assert (database.shown("work_mem"), database.automatic) == ("4MB", "")


def test_a_value_that_breaks_the_server_ends_the_run_and_says_what_is_left(
    database, target, admin, launched
):
    setting = by_sql("shared_buffers", "GB", database.restart)
    define(target, admin, **setting)
    database.value("ALTER SYSTEM SET shared_buffers = '1GB'")
    postgresql_server.run(database.restart[:-1], "restart")
    campaign = launched(factors={"shared_buffers": [8000]}, repetitions=1)
    try:
        dispatch.dispatch()
        execute(Attempt.objects.get().pk, "measure@here", "here")
        reason = Attempt.objects.get().reason
        assert "“shared_buffers = 1048576000” is left in its postgresql.auto.conf" in reason
        lifecycle.cancel(campaign, "enough")
        for _ in range(restore_settings.MOST_TRIES):
            FoundSetting.objects.update(claimed_until=None)
            dispatch.dispatch()
            restore_settings.restore(target.pk)
        assert "PostgreSQL gave no connection" in FoundSetting.objects.get().given_up
        line = campaign.log.filter(text__contains="could not be set back to 1, tried 3 times").get()
        assert line.text.endswith("Set it back manually.")
    finally:
        (database.cluster / "postgresql.auto.conf").write_text("")
        postgresql_server.run(database.restart[:-1], "start")


@pytest.fixture
def weak(database, target):
    """The login of the target may change nothing."""
    secret = "a-long-password"  # noqa: S105
    database.value("DROP ROLE IF EXISTS weak")
    database.value(f"CREATE ROLE weak LOGIN PASSWORD '{secret}'")
    target.refresh_from_db()
    save_target(
        {
            "name": target.name,
            "family": target.family,
            "base_url": target.base_url,
            "username": "weak",
            "password": secret,
        },
        target,
    )


def test_a_login_without_the_right_is_told_when_it_is_tried(database, target, admin, weak):
    row = define(target, admin, **by_sql("work_mem", "MB"))

    try_settings.look_at_settings(target.pk)

    row.refresh_from_db()
    assert row.look_value == 4
    assert row.look_failure.startswith(
        "The setting work_mem cannot be set: The login “weak” may not set “work_mem”. A superuser grants it"
    )


@pytest.mark.parametrize(
    ("level", "words"),
    [(8, "The login “weak” may not set “work_mem”"), (None, None)],
    ids=["a level", "as it is"],
)
def test_a_login_without_the_right_launches_nothing(
    database, target, admin, weak, draft, level, words
):
    define(target, admin, **by_sql("work_mem", "MB"))
    campaign = draft(factors={"work_mem": [level]} if level else {"level": [1]})
    planned = launch_checks.planned_by(campaign)

    if words is None:
        launch_checks.require_there(planned, "", anyway=False)
        return
    with pytest.raises(NotPossible, match=words):
        launch_checks.require_there(planned, "", anyway=False)
    launch_checks.require_there(planned, "", anyway=True)


def test_a_level_that_the_parameter_does_not_take_launches_nothing(database, target, admin, draft):
    define(target, admin, **by_sql("work_mem", "kB"))
    planned = launch_checks.planned_by(draft(factors={"work_mem": [4096, 1]}))

    with pytest.raises(NotPossible, match="takes 64 to 2147483647 kB; 1 kB is not between them"):
        launch_checks.require_there(planned, "", anyway=False)


def test_a_value_that_could_not_be_restored_launches_nothing(database, target, admin, draft):
    define(target, admin, **by_sql("work_mem", "MB"))
    database.value("ALTER SYSTEM SET work_mem = '4500kB'")
    database.value("SELECT pg_reload_conf()")
    planned = launch_checks.planned_by(draft(factors={"work_mem": [8]}))

    with pytest.raises(NotPossible, match=r"cannot be read back: It reads back '4\.39"):
        launch_checks.require_there(planned, "", anyway=False)


def test_a_machine_whose_login_lacks_rights_launches_nothing(database, target, admin, draft):
    read = ["sh", "-c", "echo there is no /etc/x.conf that operator may write >&2; exit 1"]
    setting = {
        "name": "workers",
        "apply": {"way": "command", "arguments": ["set", "{value}"]},
        "read_back": {"way": "command", "arguments": read},
    }
    define(target, admin, **setting)
    planned = launch_checks.planned_by(draft(factors={"workers": [8]}))

    with pytest.raises(
        NotPossible, match=r"workers cannot be read back: .* that operator may write"
    ):
        launch_checks.require_there(planned, "", anyway=False)


def test_a_host_key_that_nobody_accepted_stops_an_import_and_is_kept_to_be_compared(
    database, machine, target, admin
):
    SshLogin.objects.update(host_key="", offered_key="")
    recipe = shipped()["postgresql-work-mem-file"]
    recipe = replace(recipe, families=[])

    with pytest.raises(Invalid, match=r"is not known: SHA256:.*Nothing was imported\."):
        import_recipe(recipe, recipe.setting, target, admin)

    kept = SshLogin.objects.get().offered_key
    assert fingerprint_of(kept) == fingerprint_of(machine.host_key)
    assert not target.setting_rows.exists()


def test_a_recipe_that_the_login_may_not_set_is_not_imported(database, target, admin, weak):
    recipe = shipped()["postgresql-work-mem-sql"]

    with pytest.raises(Invalid, match=r"The login “weak” may not set “work_mem”\. A superuser"):
        import_recipe(recipe, recipe.setting, target, admin)

    assert not target.setting_rows.exists()
    login = {"username": postgresql_server.USER, "password": database.password}
    data = {"name": target.name, "family": target.family, "base_url": target.base_url}
    save_target(data | login, target)
    assert import_recipe(recipe, recipe.setting, target, admin).name == "work_mem"
