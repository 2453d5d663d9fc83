"""Each shipped recipe on what is real here: it is set, read back and restored over a real sshd.

Paths and commands are adapted as an operator would: a file of the test's directory, and a program that stands in for systemd,
the installer or tuned. Apache, HAProxy and PostgreSQL are real ones.
"""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from campaigns.kinds.base import Cancelled
from campaigns.kit.http.credentials import Login, Tls
from campaigns.kit.network import parse_rules
from campaigns.models import Setting
from campaigns.targets.actions import (
    ActionFailed,
    Endpoint,
    Role,
    Server,
    SshAccess,
    parse,
    perform,
    read_value,
)
from campaigns.targets.recipes.reading import shipped
from campaigns.targets.variables import as_read
from campaigns.tests.kinds.sql import servers
from campaigns.tests.ports import free_port
from campaigns.tests.targets import postgresql_server, ssh_server

pytestmark = pytest.mark.system

PLACES = "/usr/sbin:/usr/bin:/sbin:/bin"
APACHE = shutil.which("apache2", path=PLACES)
HAPROXY = shutil.which("haproxy", path=PLACES)
NOW = "date -Is"


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    if ssh_server.SSHD:
        place = tmp_path_factory.mktemp("sshd")
        with ssh_server.openssh(place, search_path=f"{programs(place)}:{PLACES}") as found:
            yield found
        return
    with ssh_server.within() as found:
        yield found


def programs(place):
    """The folder of programs that stand in for others on the machine."""
    folder = place / "programs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def server(machine):
    rules = parse_rules(f"127.0.0.1:{machine.port}")
    access = SshAccess(
        "127.0.0.1", machine.port, machine.username, key=machine.key, host_key=machine.host_key
    )
    return Server(Endpoint("http://127.0.0.1:9", rules, Login(), Tls()), access)


class Tried:
    """A shipped recipe, adapted to a server."""

    def __init__(self, name, server, **adapted):
        recipe = shipped()[name]
        self.server, self.setting = server, Setting(**recipe.setting)
        text = {"apply": Role.APPLY, "read_back": Role.READ}
        self.actions = {
            each: parse(self._adapted(recipe.setting[each], adapted), role)
            for each, role in text.items()
        }

    @staticmethod
    def _adapted(action, adapted):
        if "arguments" not in action:
            return action
        changed = [adapted.get(each, each) for each in action["arguments"]]
        return {**action, "arguments": changed}

    def put(self, value):
        return perform(self.actions["apply"], self.server, lambda: None, value=value)

    def read(self):
        raw = read_value(self.actions["read_back"], self.server, lambda: None)
        return as_read(self.setting, raw)

    def goes_round(self, *values):
        """Set each value, read it back, and set the first one again."""
        before = self.read()
        for value in (*values, before):
            self.put(value)
            assert self.read() == value


def adapted(name, **words):
    """The arguments of a recipe that hold a word, each with what an operator writes there."""
    known = {
        each
        for action in ("apply", "read_back")
        for each in shipped()[name].setting[action].get("arguments", ())
    }
    found = {}
    for word, other in words.items():
        hits = [each for each in known if word in each and len(each) < 300]
        assert len(hits) == 1, (word, hits)
        found[hits[0]] = other
    return found


def path_of(name):
    """The file of a recipe."""
    return next(
        each for each in shipped()[name].setting["apply"]["arguments"] if each.startswith("/")
    )


LINES = {
    "db-pool": ("production:\n  adapter: postgresql\n  pool: 9\n", 9, "  pool: 20\n"),
    "mqtt-rate-limit": ("---\n:mode: pull-mqtt\n:mqtt_rate_limit: 100\n", 100, ":mqtt_rate_limit: 20\n"),
    "mqtt-resend-interval": ("---\n:mqtt_resend_interval: 900\n", 900, ":mqtt_resend_interval: 20\n"),
    "mqtt-ttl": ("---\n:mqtt_ttl: 2_000\n:mqtt_ttl: 1800 # s\n", 1800, ":mqtt_ttl: 20\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_line_of_a_file_is_set_and_put_back(name, server, tmp_path):
    text, before, line = LINES[name]
    file, restarts = tmp_path / "settings.yml", tmp_path / "restarts"
    file.write_text(text)
    recipe = shipped()[name].setting
    restart = next(each for each in recipe["apply"]["arguments"] if each.startswith("systemctl"))
    since = next(each for each in recipe["read_back"]["arguments"] if "ActiveEnter" in each)
    tried = Tried(
        name, server, **{path_of(name): str(file), restart: f"echo x >> {restarts}", since: NOW}
    )
    assert tried.read() == before
    tried.put(20)
    assert tried.read() == 20
    assert line in file.read_text()
    tried.put(before)
    assert tried.read() == before
    assert restarts.read_text() == "x\n" * 2
    assert {each.name for each in tmp_path.iterdir()} == {"settings.yml", "restarts"}


WITHOUT_A_LINE = {
    "db-pool": 5,
    "mqtt-rate-limit": 0,
    "mqtt-resend-interval": 900,
    "mqtt-ttl": 5,
    "apache-serverlimit": 16,
    "apache-maxrequestworkers": 400,
    "proxy-timeout": 60,
}
"""What each program takes where its file says nothing."""


@pytest.mark.parametrize("name", WITHOUT_A_LINE)
def test_without_a_line_the_value_of_the_program_itself_is_read(name, server, tmp_path):
    file = tmp_path / "file"
    recipe = shipped()[name].setting
    since = next(each for each in recipe["read_back"]["arguments"] if "ActiveEnter" in each)
    tried = Tried(name, server, **{path_of(name): str(file), since: NOW})
    assert tried.read() == WITHOUT_A_LINE[name], "no file"
    file.write_text("# nothing\n")
    assert tried.read() == WITHOUT_A_LINE[name]
    assert WITHOUT_A_LINE[name] >= recipe["minimum"], "or it could not be put back"


@pytest.mark.parametrize("name", WITHOUT_A_LINE)
@pytest.mark.parametrize("has_file", [True, False])
def test_of_a_service_that_is_not_there_nothing_is_read(name, has_file, server, tmp_path):
    file = tmp_path / "file"
    if has_file:
        file.write_text("pool: 9\n")
        os.utime(file, (1e9, 1e9))
    recipe = shipped()[name].setting
    since = next(each for each in recipe["read_back"]["arguments"] if "ActiveEnter" in each)
    tried = Tried(name, server, **{path_of(name): str(file), since: "echo"})
    with pytest.raises(ActionFailed, match=f"the service of {file} does not run"):
        tried.read()


def test_no_line_is_no_limit_and_setting_that_takes_the_line_away(server, tmp_path):
    name, file = "mqtt-rate-limit", tmp_path / "settings.yml"
    file.write_text("---\n:mode: pull-mqtt\n")
    recipe = shipped()[name].setting
    since = next(each for each in recipe["read_back"]["arguments"] if "ActiveEnter" in each)
    words = {path_of(name): str(file), "systemctl restart foreman-proxy": "true", since: NOW}
    tried = Tried(name, server, **words)
    tried.goes_round(50)
    assert file.read_text() == "---\n:mode: pull-mqtt\n"


def line_recipe(server, file, restart, since=NOW):
    name = "db-pool"
    recipe = shipped()[name].setting
    started = next(each for each in recipe["read_back"]["arguments"] if "ActiveEnter" in each)
    words = {path_of(name): str(file), "systemctl restart foreman": restart, started: since}
    return Tried(name, server, **words)


def test_a_value_that_breaks_the_service_is_put_back(server, tmp_path):
    file = tmp_path / "database.yml"
    file.write_text("  pool: 9\n")
    tried = line_recipe(
        server, file, f"grep -q 'pool: 9' {file} || {{ echo no such pool >&2; false; }}"
    )
    with pytest.raises(ActionFailed) as failed:
        tried.put(20)
    assert str(failed.value) == (
        f"“sh” ended with exit code 1: no such pool; {file} is put back, and the service runs again"
    )
    assert tried.read() == 9
    assert list(tmp_path.iterdir()) == [file]


def test_a_service_that_stays_down_is_told(server, tmp_path):
    file = tmp_path / "database.yml"
    file.write_text("  pool: 9\n")
    with pytest.raises(ActionFailed, match="is put back, but the service does not start"):
        line_recipe(server, file, "false").put(20)
    assert file.read_text() == "  pool: 9\n"


def test_a_file_that_was_changed_after_the_start_is_not_in_force(server, tmp_path):
    file = tmp_path / "database.yml"
    file.write_text("  pool: 9\n")
    with pytest.raises(ActionFailed, match="was changed after the service started: restart it"):
        line_recipe(server, file, "true", "echo 1970-01-02").read()


def test_a_login_that_may_not_write_the_file_is_told(server, tmp_path):
    file = tmp_path / "database.yml"
    file.write_text("  pool: 9\n")
    file.chmod(0o444)
    tmp_path.chmod(0o555)
    tried = line_recipe(server, file, "true")
    if os.geteuid() == 0:
        other = ["setpriv", "--reuid=65534", "--clear-groups"]
        for name, role in (("apply", Role.APPLY), ("read_back", Role.READ)):
            sent = tried.actions[name].to_json()
            sent["arguments"] = [*other, *sent["arguments"]]
            tried.actions[name] = parse(sent, role)
    for action in (tried.read, lambda: tried.put(9)):
        with pytest.raises(ActionFailed, match=r"may write|cannot reach|may not make"):
            action()


OPTIONS = {
    "dynflow-workers": ("--foreman-dynflow-worker-instances", 3),
    "dynflow-threads": ("--foreman-dynflow-worker-concurrency", 10),
    "installer-profile": ("--tuning", "extra-large"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_what_the_installer_sets_is_read_back_and_put_back(name, server, tmp_path):
    option, value = OPTIONS[name]
    state = tmp_path / "state"
    state.write_text("medium" if name == "installer-profile" else "1")
    installer = tmp_path / "installer"
    installer.write_text(
        f'#!/bin/sh\n[ "$1" = {option} ] && [ "$2" != large ] && echo "$2" > {state}\n'
    )
    installer.chmod(0o755)
    show = shipped()[name].setting["apply"]["arguments"][-2]
    words = {show: f"cat {state}", "foreman-installer": str(installer)}
    tried = Tried(name, server, **words | {"/etc/foreman-installer": str(tmp_path)})
    tried.goes_round(value)
    with pytest.raises(ActionFailed, match=f"{option} is {tried.read()} again"):
        tried.put("large")


UNITS = ["orchestrator", "worker-1", "worker-2", "worker-hosts-queue-1"]
"""Of a Katello with two workers: it has a pool of its own for events of hosts."""


def test_the_pool_for_events_of_hosts_is_no_worker(server, tmp_path):
    program = tmp_path / "systemctl"
    program.write_text(
        f"""#!/bin/sh
for unit in {" ".join(UNITS)}; do
  unit=dynflow-sidekiq@$unit.service
  for last; do :; done
  case $unit in $last) echo "$unit loaded active running";; esac
done
"""
    )
    program.chmod(0o755)
    show = shipped()["dynflow-workers"].setting["apply"]["arguments"][-2]
    words = {show: show.replace("systemctl", str(program)), "foreman-installer": "sh"}
    tried = Tried("dynflow-workers", server, **words | {"/etc/foreman-installer": str(tmp_path)})
    assert tried.read() == 2


def test_the_threads_of_the_pool_for_events_of_hosts_are_its_own(server, tmp_path):
    for name, threads in (("worker-1", 5), ("worker-hosts-queue-1", 1), ("orchestrator", 1)):
        (tmp_path / f"{name}.yml").write_text(f":concurrency: {threads}\n")
    show = shipped()["dynflow-threads"].setting["apply"]["arguments"][-2]
    words = {show: show.replace("/etc/foreman/dynflow", str(tmp_path)), "foreman-installer": "sh"}
    tried = Tried("dynflow-threads", server, **words | {"/etc/foreman-installer": str(tmp_path)})
    assert tried.read() == 5


PROFILES = ":facts:\n  tuning: default\n:answer_file: /etc/x.yaml\n"


def test_the_profile_in_force_stands_in_the_scenario_of_the_installer(server, tmp_path):
    file = tmp_path / "last_scenario.yaml"
    file.write_text(PROFILES)
    show = shipped()["installer-profile"].setting["apply"]["arguments"][-2]
    there = show.replace("/etc/foreman-installer/scenarios.d/last_scenario.yaml", str(file))
    words = {show: there, "foreman-installer": "sh", "/etc/foreman-installer": str(tmp_path)}
    assert Tried("installer-profile", server, **words).read() == "default"


@pytest.mark.parametrize("name", ["transparent-huge-pages", "power-mode"])
def test_a_choice_of_the_kernel_is_set_and_put_back(name, server, tmp_path):
    file = tmp_path / "enabled"
    file.write_text("always [madvise] never\n" if name.startswith("trans") else "powersave\n")
    tried = Tried(name, server, **{path_of_kernel(name): str(file)})
    assert tried.read() in ("madvise", "powersave")
    tried.goes_round(tried.setting.choices[0])


def test_a_profile_of_tuned_is_set_and_put_back(server, tmp_path):
    state, program = tmp_path / "state", tmp_path / "tuned-adm"
    state.write_text("balanced")
    program.write_text(
        f'#!/bin/sh\n[ "$1" = profile ] && echo "$2" > {state}\n'
        f'[ "$1" != active ] || echo "Current active profile: $(cat {state})"\n'
    )
    program.chmod(0o755)
    read = shipped()["tuned-profile"].setting["read_back"]["arguments"][-1]
    words = {"tuned-adm": str(program), read: read.replace("tuned-adm", str(program))}
    Tried("tuned-profile", server, **words).goes_round("throughput-performance")


def test_a_machine_without_tuned_is_told(server):
    read = shipped()["tuned-profile"].setting["read_back"]["arguments"][-1]
    with pytest.raises(ActionFailed, match="there is no tuned-adm-of-nobody on this machine"):
        Tried(
            "tuned-profile", server, **{read: read.replace("tuned-adm", "tuned-adm-of-nobody")}
        ).read()


def test_the_governor_of_each_cpu_is_set_and_put_back(server, tmp_path):
    cpus = [tmp_path / f"cpu{number}" for number in (0, 1)]
    for file in cpus:
        file.write_text("powersave")
    place = path_of_kernel("power-mode")
    tried = Tried("power-mode", server, **{place: f"{tmp_path}/cpu*"})
    tried.put("performance")
    assert [file.read_text() for file in cpus] == ["performance"] * 2
    assert tried.read() == "performance"
    with pytest.raises(ActionFailed, match=r"there is no .*/no-such"):
        Tried("power-mode", server, **{place: f"{tmp_path}/no-such"}).put("powersave")
    with pytest.raises(ActionFailed, match=r"there is no .*/no-such"):
        Tried("power-mode", server, **{place: f"{tmp_path}/no-such"}).read()


def path_of_kernel(name):
    """The files of the kernel that a recipe writes."""
    recipe = shipped()[name].setting
    return next(each for each in recipe["apply"]["arguments"] if each.startswith("/sys/"))


def cancelled_after(seconds):
    """What a campaign calls that somebody cancels then."""
    ends = time.monotonic() + seconds

    def check():
        if time.monotonic() > ends:
            raise Cancelled

    return check


def test_a_cancelled_run_of_the_installer_is_awaited_before_the_value_is_read_or_set(
    server, tmp_path
):
    state, installer = tmp_path / "state", tmp_path / "installer"
    state.write_text("1\n")
    installer.write_text(f'#!/bin/sh\nsleep 1\necho "$2" > {state}\n')
    installer.chmod(0o755)
    show = shipped()["dynflow-workers"].setting["apply"]["arguments"][-2]
    words = {show: f"cat {state}", "foreman-installer": str(installer)}
    tried = Tried("dynflow-workers", server, **words | {"/etc/foreman-installer": str(tmp_path)})
    with pytest.raises(Cancelled):
        perform(tried.actions["apply"], server, cancelled_after(0.7), value=3)
    with pytest.raises(ActionFailed, match=f"an option of {installer} is being set"):
        tried.read()
    tried.put(1)
    assert tried.read() == 1, "it was set again after the first one had ended"


@pytest.mark.parametrize(
    "name", ["db-pool", "puma-workers", "apache-limitnofile", "postgresql-work-mem-file"]
)
def test_while_a_value_is_set_it_is_not_read(name, server, tmp_path):
    folder = tmp_path / "etc"
    folder.mkdir()
    file = folder / "file"
    file.write_text("pool: 9\n")
    with file_lock(folder), pytest.raises(ActionFailed, match=f"{file} is being set"):
        Tried(name, server, **{path_of(name): str(file)}).read()


@contextmanager
def file_lock(folder):
    """Held as the scripts do that set a value."""
    place = os.open(folder, os.O_RDONLY)
    fcntl.flock(place, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(place)


def test_a_cancelled_restart_is_awaited_before_the_value_is_read_or_set(server, tmp_path):
    file = tmp_path / "database.yml"
    file.write_text("  pool: 9\n")
    tried = line_recipe(server, file, "sleep 1")
    with pytest.raises(Cancelled):
        perform(tried.actions["apply"], server, cancelled_after(0.7), value=20)
    with pytest.raises(ActionFailed, match=f"{file} is being set"):
        tried.read()
    quick = line_recipe(server, file, "true")
    quick.put(9)
    assert quick.read() == 9


@contextmanager
def service(tmp_path, file):
    """A real process that a command starts again with what its file says, as systemd does: its limit and its variables."""
    start = tmp_path / "start"
    start.write_text(
        f"""#!/bin/sh
[ -e {tmp_path}/pid ] && kill "$(cat {tmp_path}/pid)" 2> /dev/null
limit=$(sed -n 's/^LimitNOFILE=//p' {file} 2> /dev/null | tail -n 1)
[ -z "$limit" ] || ulimit -n "$limit"
env -i $(sed -n 's/^Environment=//p' {file} 2> /dev/null) sleep 600 > /dev/null 2>&1 &
echo $! > {tmp_path}/pid
"""
    )
    start.chmod(0o755)
    subprocess.run([str(start)], check=True)
    try:
        yield str(start), f"cat {tmp_path}/pid"
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("name", ["apache-limitnofile", "mqtt-limitnofile"])
def test_the_limit_of_a_process_is_set_and_put_back(name, server, tmp_path):
    file = tmp_path / "service.d" / "limits.conf"
    with service(tmp_path, file) as (restart, pid):
        words = adapted(name, **{"daemon-reload": restart, "MainPID": pid})
        tried = Tried(name, server, **words | {path_of(name): str(file)})
        before = limits_of(tmp_path)
        assert tried.read() == 0, "as the service has it"
        tried.put(5000)
        assert (tried.read(), limits_of(tmp_path)) == (5000, ["5000", "5000"])
        tried.put(0)
        assert (tried.read(), limits_of(tmp_path)) == (0, before)
        assert not file.exists()


def limits_of(tmp_path):
    """The soft and the hard limit of open files of the service."""
    lines = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/limits").read_text().splitlines()
    return next(line for line in lines if line.startswith("Max open files")).split()[3:5]


def test_what_else_is_in_a_file_stays_there(server, tmp_path):
    file = tmp_path / "limits.conf"
    text = "[Service]\nNice=5\n"
    file.write_text(text)
    with service(tmp_path, file) as (restart, pid):
        words = adapted("apache-limitnofile", **{"daemon-reload": restart, "MainPID": pid})
        tried = Tried(
            "apache-limitnofile", server, **words | {path_of("apache-limitnofile"): str(file)}
        )
        tried.goes_round(5000)
        assert file.read_text() == text


@pytest.mark.parametrize("name", ["apache-limitnofile", "puma-workers"])
def test_what_a_killed_command_left_in_a_file_is_not_in_force(name, server, tmp_path):
    file = tmp_path / "installer.conf"
    file.write_text("[Service]\nEnvironment=FOREMAN_PUMA_WORKERS=2\n")
    os.utime(file, (1e9, 1e9))
    with service(tmp_path, file) as (_, pid):
        words = adapted(name, **{"daemon-reload": "kill -9 $PPID", "MainPID": pid})
        tried = Tried(name, server, **words | {path_of(name): str(file)})
        before = tried.read()
        file.write_text("[Service]\nEnvironment=FOREMAN_PUMA_WORKERS=3\nLimitNOFILE=4096\n")
        later = file.stat().st_mtime + 5
        os.utime(file, (later, later))
        with pytest.raises(ActionFailed, match="was changed after the service started"):
            tried.read()
        os.utime(file, (1e9, 1e9))
        if name == "puma-workers":
            assert tried.read() == before


@pytest.mark.parametrize("name", ["puma-workers", "puma-threads-max", "puma-threads-min"])
def test_a_variable_of_a_process_is_set_and_put_back(name, server, tmp_path):
    file = tmp_path / "installer.conf"
    text = "[Service]\nEnvironment=FOREMAN_PUMA_THREADS_MIN=5\nEnvironment=FOREMAN_PUMA_THREADS_MAX=5\nEnvironment=FOREMAN_PUMA_WORKERS=2\n"
    file.write_text(text)
    with service(tmp_path, file) as (restart, pid):
        words = adapted(name, **{"daemon-reload": restart, "MainPID": pid})
        tried = Tried(name, server, **words | {path_of(name): str(file)})
        assert tried.read() == (2 if name == "puma-workers" else 5)
        tried.goes_round(16)
        assert file.read_text() == text


@pytest.mark.parametrize(
    ("name", "value"), [("puma-workers", 2), ("puma-threads-max", 16), ("puma-threads-min", 0)]
)
def test_without_a_variable_foreman_takes_its_own_value(name, value, server, tmp_path):
    file = tmp_path / "installer.conf"
    file.write_text("[Service]\nEnvironment=RAILS_ENV=production\n")
    with service(tmp_path, file) as (restart, pid):
        words = adapted(name, **{"daemon-reload": restart, "MainPID": pid})
        tried = Tried(name, server, **words | {path_of(name): str(file)})
        assert tried.read() == value


def test_a_process_whose_variables_cannot_be_seen_is_told(server, tmp_path):
    file = tmp_path / "installer.conf"
    file.write_text("[Service]\n")
    with service(tmp_path, file) as (restart, pid):
        words = adapted("puma-workers", **{"daemon-reload": restart, "MainPID": pid})
        tried = Tried("puma-workers", server, **words | {path_of("puma-workers"): str(file)})
        with pytest.raises(ActionFailed, match="has no variables"):
            tried.read()


APACHE_CONFIG = """
ServerRoot {place}
ServerName localhost
PidFile {place}/pid
ErrorLog {place}/error.log
Listen 127.0.0.1:{port}
DocumentRoot {place}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
{user}Include {place}/adapted.conf
"""


@pytest.fixture
def apache(tmp_path):
    if not APACHE:
        pytest.skip("Apache is not installed (Debian: apache2)")
    file = tmp_path / "adapted.conf"
    file.write_text("ThreadsPerChild 25\nServerLimit 32\nMaxRequestWorkers 400\nProxyTimeout 60\n")
    user = "User nobody\nGroup nogroup\n" if os.geteuid() == 0 else ""
    config = tmp_path / "apache.conf"
    config.write_text(APACHE_CONFIG.format(place=tmp_path, port=free_port(), user=user))
    control = f"{APACHE} -f {config}"
    stop = f"if [ -e {tmp_path}/pid ]; then p=$(cat {tmp_path}/pid); kill $p; while kill -0 $p 2> /dev/null; do sleep 0.05; done; fi"
    subprocess.run(shlex.split(f"{control} -k start"), check=True)
    restart = f"{stop}; {control} -k start; while ! [ -s {tmp_path}/pid ]; do sleep 0.05; done"
    try:
        yield file, f"{control} -t", restart, f"stat -c @%Y {tmp_path}/pid"
    finally:
        subprocess.run(["/bin/sh", "-c", stop], check=True)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("apache-serverlimit", 64, "ServerLimit 64"),
        ("apache-maxrequestworkers", 800, "MaxRequestWorkers 800"),
        ("proxy-timeout", 600, "ProxyTimeout 600"),
    ],
)
def test_a_directive_of_a_real_apache_is_set_and_put_back(name, value, line, server, apache):
    file = apache[0]
    tried = of_apache(name, server, apache)
    before = tried.read()
    tried.put(value)
    assert line in file.read_text().splitlines()
    assert tried.read() == value
    tried.put(before)
    assert tried.read() == before


def test_the_name_of_a_directive_may_be_in_small_letters(server, apache):
    file = apache[0]
    text = "ThreadsPerChild 25\nserverlimit 64\nmaxrequestworkers 1024\n"
    file.write_text(text)
    subprocess.run(["/bin/sh", "-c", apache[2]], check=True)
    tried = of_apache("apache-maxrequestworkers", server, apache)
    assert tried.read() == 1024
    tried.put(800)
    assert file.read_text() == text.replace("maxrequestworkers 1024", "MaxRequestWorkers 800")


def of_apache(name, server, apache):
    file, test, restart, since = apache
    recipe = shipped()[name].setting
    command = next(each for each in recipe["apply"]["arguments"] if "systemctl" in each)
    started = next(each for each in recipe["read_back"]["arguments"] if "ActiveEnter" in each)
    own = command.replace("apachectl configtest", test).replace("systemctl restart httpd", restart)
    return Tried(name, server, **{path_of(name): str(file), command: own, started: since})


def test_what_apache_would_take_less_of_is_refused_and_put_back(server, apache):
    tried = of_apache("apache-maxrequestworkers", server, apache)
    with pytest.raises(ActionFailed) as failed:
        tried.put(1000)
    assert "MaxRequestWorkers of 1000 would require 40 servers" in str(failed.value)
    assert str(failed.value).endswith("adapted.conf is put back, and the service runs again")
    assert tried.read() == 400


@pytest.mark.skipif(not HAPROXY or not shutil.which("socat"), reason="needs haproxy and socat")
def test_maxconn_of_a_real_haproxy_is_set_and_put_back(server, database, tmp_path):
    with servers.haproxy(tmp_path, database, 7):
        words = {"/run/haproxy/admin.sock": str(tmp_path / "admin.sock")}
        tried = Tried("haproxy-maxconn", server, **words)
        assert tried.read() == 7
        tried.goes_round(3, 0)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    place = tmp_path_factory.mktemp("database")
    for each in (place, place.parent):
        each.chmod(0o755)
    with postgresql_server.serving(place) as found:
        yield found


POSTGRESQL = {
    "max-connections": (20, 30),
    "shared-buffers": (16, 32),
    "work-mem": (4096, 8192),
    "autovacuum": (200, 2000),
}


@pytest.mark.parametrize("name", POSTGRESQL)
def test_a_parameter_of_a_real_postgresql_is_set_by_sql_and_put_back(name, server, database):
    before, value = POSTGRESQL[name]
    rules = parse_rules(f"127.0.0.1:{database.port}, 127.0.0.1:{server.ssh.port}")
    endpoint = Endpoint(
        database.url, rules, Login(postgresql_server.USER, database.password), Tls()
    )
    tried = Tried(f"postgresql-{name}-sql", Server(endpoint, server.ssh))
    apply = tried.actions["apply"]
    if apply.arguments:
        sent = apply.to_json() | {"arguments": database.restart}
        tried.actions["apply"] = parse(sent, Role.APPLY)
    assert tried.read() == before
    tried.goes_round(value)
    assert database.automatic == ""


@pytest.mark.parametrize("name", POSTGRESQL)
def test_a_parameter_of_a_real_postgresql_is_set_by_its_file_and_put_back(name, server, database):
    before, value = POSTGRESQL[name]
    in_kib = "4096kB" if name == "work-mem" else "4MB"
    file = database.cluster / "postgresql.conf"
    text = file.read_text()
    tried = by_file(f"postgresql-{name}-file", server, database)
    assert tried.read() == before
    tried.put(value)
    assert tried.read() == value
    assert SHOWN.get(name, str(value)) == told_by(
        database, shipped()[f"postgresql-{name}-file"].name
    )
    tried.put(before)
    assert tried.read() == before
    assert file.read_text() == text.replace("\nwork_mem = 4MB", f"\nwork_mem = {in_kib}")
    assert database.automatic == ""


SHOWN = {"work-mem": "8MB", "shared-buffers": "32MB"}


def told_by(database, parameter):
    """What PostgreSQL itself says of a parameter."""
    return str(database.shown(parameter))


def by_file(name, server, database):
    restart = next(
        each for each in shipped()[name].setting["apply"]["arguments"] if "systemctl" in each
    )
    control = shlex.join(database.restart)
    return Tried(name, server, **{
        path_of(name): str(database.cluster / "postgresql.conf"),
        restart: control if "restart" in restart else f"{control.removesuffix('restart')}reload; sleep 0.2",
        "runuser -u postgres -- psql": client(database),
    })  # fmt: skip


def client(database):
    program = next(each for each in database.restart if each.endswith("/pg_ctl"))
    psql = f"{program.rpartition('/')[0]}/psql"
    where = (
        f"-h 127.0.0.1 -p {database.port} -U {postgresql_server.USER} -d {postgresql_server.USER}"
    )
    return f"env PGPASSWORD={database.password} {psql} {where}"


def test_a_postgresql_that_does_not_start_is_put_back_by_its_file(server, database):
    tried = by_file("postgresql-shared-buffers-file", server, database)
    with pytest.raises(ActionFailed, match="is put back, and the service runs again"):
        tried.put(8_000_000)
    assert tried.read() == 16


def test_each_recipe_is_tried_here():
    text = Path(__file__).read_text(encoding="utf-8")
    missing = [
        name
        for name in shipped()
        if name not in text
        and name.removeprefix("postgresql-").rpartition("-")[0] not in POSTGRESQL
    ]
    assert missing == []
