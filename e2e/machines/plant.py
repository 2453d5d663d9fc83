"""perfdash installed on several machines as docs/how-to/machines.md says, block by block."""

import http.client
import json
import os
import re
import secrets
import shlex
import shutil
import ssl
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from cryptography.fernet import Fernet
from psycopg.rows import dict_row

from e2e.conftest import ROOT, ends_with_us, wait_for
from e2e.faults import processes
from e2e.faults.plant import FAST, Plant
from e2e.machines.network import Network

GUIDE = ROOT / "docs/how-to/machines.md"
PROGRAMS = Path(sys.executable).parent
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DATABASE, WEB, SECOND, PROXY, TARGET, WAY = (
    *("db.example", "web.example", "web-2.example", "perf.example"),
    *("target.example", "way.example"),
)
MEASURE = ("measure-1.example", "measure-2.example")
GENERATE = ("generate-1.example", "generate-2.example")
HOSTS = {
    DATABASE: 10, WAY: 11, WEB: 20, SECOND: 21, PROXY: 22,
    MEASURE[0]: 31, MEASURE[1]: 32, GENERATE[0]: 41, GENERATE[1]: 42, TARGET: 50,
}  # fmt: skip
NAMED = 'hostname "$0"; exec "$@"'


def blocks(start, language=r"\w*"):
    """Return the fenced blocks of the guide whose first line is a comment that begins so."""
    fenced = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    found = [text for text in fenced if text.partition("\n")[0].lstrip("#; ").startswith(start)]
    assert found, f"{GUIDE.name} has no block {start!r}"
    return found


class Target:
    """The sandbox on the machine of the target."""

    def __init__(self, network):
        self.network = network
        self.base_url = f"http://{network.address(TARGET)}:8099"

    def stats(self):
        with self.network.within(TARGET):
            connection = http.client.HTTPConnection(self.network.address(TARGET), 8099, timeout=10)
            connection.request("GET", "/stats")
            answer = json.load(connection.getresponse())
            connection.close()
        return answer


class Machines(Plant):
    """All of them; the tests' process is the parent of everything that runs on them."""

    def __init__(self, place, network, **environment):
        self.place, self.network = place, network
        self.data = place
        self.more = environment
        self.mark = f"/nonexistent/perfdash-{secrets.token_hex(8)}"
        self.environment = {"WORK_DIRECTORY": str(place / "nowhere")}  # each machine has its own
        self.secrets = {
            "POSTGRES_PASSWORD": secrets.token_hex(24),
            "REDIS_PASSWORD": secrets.token_hex(24),
            "=SECRET_KEY": f"={secrets.token_hex(32)}",
            "ENCRYPTION_KEY\n": f"{Fernet.generate_key().decode()}\n",
        }
        self.token = ""
        self.running = {}
        self._connection = None
        self._seen = set()
        self.target = Target(network)

    pid = property(lambda self: os.getpid())

    # What the guide says, here

    def here(self, text, host):
        """Replace what is of the guide's machines by what this one has."""
        for there, value in self.secrets.items():
            text = text.replace(there, value)
        replaced = {
            "/etc/perfdash": str(self.place / host / "etc"),
            "/var/lib/perfdash": str(self.place / host / "var"),
            "/srv/perfdash/venv/bin": str(PROGRAMS),
            "/etc/pgbouncer/": f"{self.place / host / 'etc'}/",
            "10.0.0.0/8:443": f"{self.network.address(TARGET)}:8099",
        }
        for there, value in replaced.items():
            text = text.replace(there, value)
        return text

    def file(self, host, name, text):
        path = self.place / host / "etc" / name
        path.write_text(self.here(text, host))
        return path

    def environment_of(self, host, pooled=False):
        """Return the variables of a service: the block of the guide, and what makes tests short."""
        first, pooling = blocks("/etc/perfdash/environment")
        lines = self.here(first + (pooling if pooled else ""), host).splitlines()
        written = dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")
        return {
            **written,
            **FAST,
            **self.more,
            "PATH": f"{PROGRAMS}:{SYSTEM}:{self.mark}",
            "PYTHONUNBUFFERED": "1",
            "LC_ALL": "C.UTF-8",
        }

    def services(self, host):
        """Return the commands of a machine's services by their names."""
        kind = re.sub(r"-\d+\.", "-1.", host) if host != SECOND else WEB
        (text,) = blocks(f"services of {kind}")
        title, *commands = self.here(text, host).strip().splitlines()
        names = title.partition(": ")[2].split(", ")
        return dict(zip(names, map(shlex.split, commands), strict=True))

    programs = PROGRAMS

    # Processes

    def on(self, host, command, account=""):
        """Return a command as it runs on a machine, under an account and with the machine's name."""
        drop = ["setpriv", "--reuid", account, "--regid", account, "--clear-groups"]
        drop = [*drop, "--pdeathsig", "TERM"] if account else []
        named = ["unshare", "--uts", "/bin/sh", "-c", NAMED, host]
        return self.network.command(host, [*named, *drop, *command])

    def do(self, host, command, account="", **options):
        """Run a command on a machine to its end."""
        options = {"cwd": ROOT, "env": self.environment_of(host), **options}
        done = subprocess.run(
            self.on(host, command, account), capture_output=True, text=True, **options
        )
        assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def run(self, host, name, command, account="", **options):
        """Start a service on a machine; `end` ends it."""
        options = {"cwd": ROOT, "env": self.environment_of(host), **options}
        with self.log_of(host, name).open("a") as output:
            self.running[host, name] = subprocess.Popen(
                self.on(host, command, account),
                stdout=output, stderr=subprocess.STDOUT, preexec_fn=ends_with_us(), **options,
            )  # fmt: skip
        return self.running[host, name]

    def terminate(self, host, name):
        """Let a service end in order, and do not wait for it."""
        self.running[host, name].terminate()

    def forget(self, host, name):
        """Wait for the end of a service that was told to."""
        self.end(host, name)

    def end(self, host, name):
        process = self.running.pop((host, name))
        process.terminate()
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise

    def log_of(self, host, name):
        return self.place / host / f"{name}.log"

    def tell(self):
        """What all services said last."""
        texts = []
        for path in sorted(self.place.glob("*/*.log")):
            with suppress(OSError):
                texts.append(f"== {path.parent.name} {path.name}\n{path.read_text()[-1500:]}")
        return "\n".join(texts)

    # The installation

    def start(self):
        """Install and start everything, in the order of the guide."""
        for host in HOSTS:
            (self.place / host / "etc").mkdir(parents=True)
            (self.place / host / "var" / "work").mkdir(parents=True)
            self.place.joinpath(host).chmod(0o755)
        self.make_certificates()
        self.start_database()
        self.start_broker()
        (migrate,) = blocks("migrate")
        for line in self.here(migrate, WEB).splitlines()[1:]:
            self.do(WEB, shlex.split(line))
        self.run(
            TARGET,
            "sandbox",
            [
                sys.executable,
                "-m",
                "sandbox",
                "--host",
                self.network.address(TARGET),
                "--port",
                "8099",
            ],
        )
        for host in (WEB, *MEASURE, *GENERATE):
            self.start_services(host)
        (proxy,) = blocks("/etc/haproxy/haproxy.cfg")
        self.run(
            PROXY, "haproxy", ["haproxy", "-db", "-f", str(self.file(PROXY, "haproxy.cfg", proxy))]
        )
        self.wait_until_present(4)
        return self

    def start_services(self, host, names=(), *, pooled=False, **variables):
        environment = self.environment_of(host, pooled) | variables
        for name, command in self.services(host).items():
            if not names or name in names:
                self.run(host, name, command, env=environment)

    def restart_services(self, hosts, *, pooled=False):
        """Start the services of machines anew, by the pool of connections or without it."""
        for host in hosts:
            for name in self.services(host):
                self.terminate(host, name)
        for host in hosts:
            for name in self.services(host):
                self.forget(host, name)
            self.start_services(host, pooled=pooled)
        self.wait_until_present(4)

    def make_certificates(self):
        (commands,) = blocks("certificates")
        authority = self.place / "authority"
        authority.mkdir()
        for host in (DATABASE, PROXY):
            script = commands.replace("db.example", host)
            if host == PROXY:
                script = script.partition("\n")[2].partition("\n")[2]  # the authority is there
            subprocess.run(
                ["/bin/sh", "-euc", script], cwd=authority, check=True, capture_output=True
            )
            etc = self.place / host / "etc"
            for name in ("server.pem", "server.key"):
                shutil.copy(authority / name, etc / name)
        for host in HOSTS:
            shutil.copy(authority / "ca.pem", self.place / host / "etc" / "ca.pem")
        etc = self.place / PROXY / "etc"
        pair = (etc / "server.pem").read_text() + (etc / "server.key").read_text()
        (etc / "haproxy.pem").write_text(pair)
        etc = self.place / DATABASE / "etc"
        for name, account in (("redis.key", "redis"), ("pgbouncer.key", "postgres")):
            shutil.copy(etc / "server.key", etc / name)
            shutil.chown(etc / name, account)
        shutil.chown(etc / "server.key", "postgres")

    def start_database(self):
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        home = self.place / DATABASE / "postgresql"
        home.mkdir()
        shutil.chown(home, "postgres", "postgres")
        options = {"account": "postgres", "cwd": home}
        options["env"] = {"PATH": f"{programs}:{SYSTEM}", "LC_ALL": "C.UTF-8", "PGHOST": str(home)}
        self.do(
            DATABASE, ["initdb", "-D", str(home / "data"), "--no-sync", "--auth=peer"], **options
        )
        (written,), (rules,) = (
            blocks(f"/etc/postgresql/15/main/{name}")
            for name in ("conf.d/perfdash.conf", "pg_hba.conf")
        )
        with (home / "data" / "postgresql.conf").open("a") as file:
            file.write(self.here(written, DATABASE))
            file.write(f"fsync = off\nunix_socket_directories = '{home}'\n")
        (home / "data" / "pg_hba.conf").write_text(rules)
        self.run(DATABASE, "postgres", ["postgres", "-D", str(home / "data")], **options)
        wait_for(
            lambda: subprocess.run([programs / "pg_isready", "-qh", home]).returncode == 0,
            "PostgreSQL",
        )
        (commands,) = blocks("database")
        self.do(DATABASE, ["/bin/sh", "-euc", self.here(commands, DATABASE)], **options)

    def start_broker(self):
        (written,) = blocks("/etc/redis/perfdash.conf")
        home = self.place / DATABASE / "redis"
        home.mkdir(exist_ok=True)
        shutil.chown(home, "redis", "redis")
        path = self.file(DATABASE, "redis.conf", written)
        path.chmod(0o644)
        command = ["redis-server", str(path), "--dir", str(home)]
        self.run(DATABASE, "redis", command, account="redis")

    def start_pool(self):
        """Start PgBouncer on the machine of the database."""
        (written,) = blocks("/etc/pgbouncer/pgbouncer.ini")
        password = self.secrets["POSTGRES_PASSWORD"]
        path = self.file(DATABASE, "pgbouncer.ini", written)
        self.file(DATABASE, "userlist.txt", f'"perfdash" "{password}"\n')
        self.run(DATABASE, "pgbouncer", ["pgbouncer", str(path)], account="postgres")
        (limits,) = blocks("limits of the role")
        home = self.place / DATABASE / "postgresql"
        environment = {"PATH": SYSTEM, "PGHOST": str(home), "LC_ALL": "C.UTF-8"}
        self.do(
            DATABASE, ["/bin/sh", "-euc", limits], account="postgres", env=environment, cwd=home
        )

    def stop(self):
        """Stop everything; nothing stays."""
        self.forget_connection()
        backing = {"postgres", "redis"}
        for host, name in self.running:
            if name not in backing:
                self.terminate(host, name)
        try:
            for host, name in sorted(self.running, key=lambda key: key[1] in backing):
                with suppress(subprocess.TimeoutExpired):
                    self.end(host, name)
        finally:
            left = self.orphans()
            for process in left:
                with suppress(Exception):
                    process.kill()
        assert not left, f"still there after the end: {left}"

    def orphans(self):
        """Processes of these machines that are not below the tests' process any more, or left over by a stop."""
        ours = set(processes.tree(self.pid)) if self.running else set()
        return [p for p in processes.marked(self.mark) if p not in ours]

    # Asking it

    def wait_until_present(self, workers, seconds=300):
        query = "SELECT name FROM campaigns_worker WHERE seen_at > now() - interval '15 s' AND name ~ '^(measure|generate)@'"
        wait_for(lambda: len(self.rows(query)) == workers, f"{workers} workers", seconds)

    def connection(self):
        if self._connection is None or self._connection.closed:
            url = self.environment_of(WEB)["DATABASE_URL"]
            with self.network.within(DATABASE):
                self._connection = psycopg.connect(
                    url, hostaddr=self.network.address(DATABASE),
                    autocommit=True, row_factory=dict_row, connect_timeout=5,
                )  # fmt: skip
        return self._connection

    def web_is_up(self, host):
        """Return whether the web server of a machine is ready, as HAProxy asks it."""
        with self.network.within(PROXY):
            connection = http.client.HTTPConnection(self.network.address(host), 8000, timeout=10)
            try:
                connection.request("GET", "/ready", headers={"Host": WEB})
                return connection.getresponse().status == 200
            except OSError:
                return False
            finally:
                connection.close()

    def ask(self, method, path, body=None, headers=()):
        """Send one request through HAProxy; return status and body."""
        trusted = ssl.create_default_context(cafile=self.place / PROXY / "etc" / "ca.pem")
        trusted.check_hostname = False  # it is asked by its address
        with self.network.within(PROXY):
            connection = http.client.HTTPSConnection(
                self.network.address(PROXY), timeout=60, context=trusted
            )
            try:
                connection.request(
                    method, path, None if body is None else json.dumps(body),
                    {"Host": "perf.example", "Content-Type": "application/json", **dict(headers)},
                )  # fmt: skip
                answer = connection.getresponse()
                return answer.status, answer.read()
            finally:
                connection.close()

    def manage(self, *arguments):
        return self.do(WEB, [sys.executable, "manage.py", *arguments]).strip()

    def api(self, method, path, body=None):
        if not self.token:
            self.token = self.manage("create_token", "owner", "--name", "tests").split()[-1]
        headers = {"Authorization": f"Bearer {self.token}"}
        status, content = self.ask(method, f"/api/v1/{path}", body, headers)
        if status >= 500:
            raise ConnectionError(f"{status} from {path}")
        assert status < 400, f"{status}: {content.decode()}"
        return json.loads(content)


@contextmanager
def machines(place, **environment):
    """Run an installation until the end of the block."""
    with Network(HOSTS) as network:
        plant = Machines(place, network, **environment)
        try:
            yield plant.start()
        except BaseException as error:
            error.add_note(plant.tell())
            raise
        finally:
            plant.stop()
