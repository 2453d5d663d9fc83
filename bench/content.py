"""Let hosts fetch packages of 20 kB from an nginx, in turn with wrk and `curl -Z`, and compare what a package costs."""

import argparse
import hashlib
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bench.generators.own import processor
from bench.generators.peers import Load, Wrk, find
from bench.generators.server import running_nginx
from bench.identities import Authority, pem
from campaigns.kinds.base import Context, HostIdentity
from campaigns.kinds.content_delivery.requests import PROGRAM, Package, delivering
from campaigns.kinds.load.judging import CPU_SATURATES, judge
from campaigns.kinds.programs.program import run_program
from campaigns.kit import kernel
from campaigns.kit.mappings import ProgramResult
from campaigns.kit.network import parse_rules

FILES, BYTES = 600, 20_000
NAME = "package-{:05d}-1.0-1.noarch.rpm"
SCRIPT = """
local asked, at = {}, 0
function init()
  for number = 0, %d - 1 do asked[number + 1] = wrk.format("GET", string.format("/%s", number)) end
end
function request()
  at = at %% #asked + 1
  return asked[at]
end
"""
HOSTS, PARALLEL = 100, 3
MOST_OF_WRK, MOST_OF_CURL, LEAST_RATE_OF_WRK = 1.6, 0.9, 0.7
MOST_TLS_OF_PLAIN = 2.2
HALF = 10_000
"""Requests a second at which a generator that has one core should bound nothing."""
ALL = 600
"""Requests a second of a server that is slow enough for all hosts to be connected at once."""
MOST_PLAIN_MB, MOST_TLS_MB = 80.0, 450.0
CONFIGURATION = """
worker_processes 1; daemon off; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections 16384; multi_accept on; }}
http {{
  access_log off; keepalive_requests 1000000000; client_body_temp_path {place}/body;
  sendfile on; open_file_cache max=4000;
  client_header_timeout 600s; keepalive_timeout 600s;
  server {{ listen 127.0.0.1:{port} backlog=8192; root {place}/www; }}
  limit_req_zone $server_addr zone=half:1m rate={half}r/s;
  server {{
    listen 127.0.0.3:{port} backlog=8192; root {place}/www; limit_req zone=half burst=100000;
  }}
  limit_req_zone $server_addr zone=all:1m rate={all}r/s;
  server {{
    listen 127.0.0.4:{port} backlog=8192; root {place}/www; limit_req zone=all burst=100000;
  }}
  ssl_protocols TLSv1.2; ssl_verify_client on; ssl_client_certificate {place}/ca.pem;
  ssl_certificate {place}/server.pem; ssl_certificate_key {place}/server.pem;
  server {{ listen 127.0.0.2:{port} ssl backlog=8192; root {place}/www; }}
  server {{
    listen 127.0.0.5:{port} ssl backlog=8192; root {place}/www; limit_req zone=all burst=100000;
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Took:
    """What a run took: packages, processor seconds, seconds by the clock."""

    packages: int
    cpu_seconds: float
    seconds: float

    @property
    def microseconds(self) -> float:
        """Processor time of a package."""
        return self.cpu_seconds / self.packages * 1e6

    @property
    def rate(self) -> float:
        """Packages a second."""
        return self.packages / self.seconds


class Files(Wrk):
    """wrk with a script that says what is fetched."""

    def __init__(self, program: str, script: Path) -> None:
        super().__init__(program)
        self.script = script

    def options(self, load: Load) -> list[str]:
        return [*super().options(load), "-s", str(self.script)]


class Bench:
    """The server, its files, and who fetches them."""

    def __init__(self, place: Path, port: int, packages: Sequence[Package], authority: Authority):
        self.place, self.port, self.packages, self.authority = place, port, packages, authority
        self.url = f"http://127.0.0.1:{port}/"
        self.tls_url = f"https://127.0.0.2:{port}/"

    def own(self, verify: str, rounds: int) -> Took:
        """Let 100 hosts fetch all files, three at a time."""
        return took(self.result(verify=verify, rounds=rounds))

    def own_tls(self, identity: tuple[str, str], rounds: int) -> ProgramResult:
        """Let them fetch by TLS, all with one certificate."""
        certificate, key = identity
        return self.result(
            url=self.tls_url, rounds=rounds, certificate=certificate, key=key, ca=self.authority.pem
        )

    def result(self, url: str = "", hosts: int = HOSTS, **changes: object) -> ProgramResult:
        """Run the program, in one process."""
        values = {"packages": self.packages, "profile": "plain", "metadata": "none"} | changes
        request = delivering(
            context(self.place), url or self.url, hosts=hosts, parallel=PARALLEL, processes=1,
            **values,  # type: ignore[arg-type]
        )  # fmt: skip
        result = run_program(
            PROGRAM,
            request,
            cancelled=threading.Event(),
            lease_seconds=lambda: 30.0,
            deadline_seconds=900.0,
        ).result
        if result["failures"]:
            raise SystemExit(f"{result['failures']} {result['examples']}")
        return result

    def wrk(self, seconds: float) -> Took:
        """Let wrk fetch the files in turn on 300 connections: one file alone would stay in the caches of the processor."""
        script = self.place / "wrk.lua"
        script.write_text(SCRIPT % (FILES, NAME.replace("{:05d}", "%05d")))
        found = Files(str(find("wrk")), script).run(Load(self.url, HOSTS * PARALLEL, seconds))
        return Took(int(found.requests), found.cpu_seconds, found.requests / found.rate)

    def curl(self, times: int) -> Took:
        """Let curl fetch all files some times on three connections."""
        listed = self.place / "curl.txt"
        listed.write_text(
            "".join(
                f'url = "{self.url}{each.path}"\noutput = "/dev/null"\n'
                for each in [*self.packages] * times
            )
        )
        command = [
            str(find("curl")),
            "-q",
            "-s",
            "--no-progress-meter",
            "-Z",
            "--parallel-max",
            str(PARALLEL),
        ]
        before, begun = children_cpu(), time.perf_counter()
        subprocess.run(  # noqa: S603  Debian's curl
            [*command, "-K", str(listed)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ended = time.perf_counter()
        return Took(len(self.packages) * times, children_cpu() - before, ended - begun)


def took(result: ProgramResult) -> Took:
    """Return what a run of ours took."""
    return Took(result["counts"]["packages"], result["cpu_seconds"], result["seconds"])


def children_cpu() -> float:
    """Return the processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure, and print."""
    options = arguments()
    kernel.raise_open_files()
    for name in ("nginx", "wrk", "curl"):
        if not (find(name) or find(f"/usr/sbin/{name}")):
            print(f"{name} was not found: apt-get install nginx-light wrk curl.", file=sys.stderr)
            return 1
    print(f"{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="perfdash-bench-") as directory:
        place = Path(directory)
        place.chmod(0o755)  # nginx's worker may run as another user
        authority, packages = prepared(place)
        nginx = str(find("nginx") or find("/usr/sbin/nginx"))
        with running_nginx(nginx, place, configured()) as (port, _):
            return measure(Bench(place, port, packages, authority), options)


def configured() -> str:
    """Return the configuration with the rates of the slow servers."""
    return CONFIGURATION.replace("{half}", str(HALF)).replace("{all}", str(ALL))


def prepared(place: Path) -> tuple[Authority, list[Package]]:
    """Write the files and the certificates of the server."""
    chance, packages = random.Random(1), []
    (place / "www").mkdir()
    for number in range(FILES):
        body = chance.randbytes(BYTES)
        name = NAME.format(number)
        (place / "www" / name).write_bytes(body)
        packages.append(Package(name, BYTES, hashlib.sha256(body).hexdigest()))
    authority, key = Authority(), ec.generate_private_key(ec.SECP256R1())
    (place / "server.pem").write_text(pem(key) + authority.signed(key, "server", "127.0.0.2"))
    (place / "ca.pem").write_text(authority.pem)
    return authority, packages


def measure(bench: Bench, options: argparse.Namespace) -> int:
    """Run everybody in turn; return 1 where a goal is missed."""
    runs: dict[str, Callable[[], Took]] = {
        "perfdash, sizes": lambda: bench.own("size", 1),
        "wrk": lambda: bench.wrk(options.seconds),
        "perfdash, SHA-256 of 5 %": lambda: bench.own("sample", 1),
        "perfdash, SHA-256 of all": lambda: bench.own("all", 1),
        "curl -Z": lambda: bench.curl(options.times),
    }
    used: dict[str, list[Took]] = defaultdict(list)
    for _ in range(options.rounds):
        for name, run in runs.items():
            used[name].append(run())
            tell(name, used[name][-1])
    print()
    for name, every in used.items():
        print(
            f"{name:26} {middle(every):6.1f} µs CPU a package, {statistics.median(each.rate for each in every):8,.0f}/s"
        )
    cpu, rate = middle(used["perfdash, sizes"]), used["perfdash, sizes"]
    fastest = statistics.median(each.rate for each in rate)
    wrk = statistics.median(each.rate for each in used["wrk"])
    goals = [
        ("CPU a package, sizes, of wrk's", cpu / middle(used["wrk"]), MOST_OF_WRK, True),
        (
            "CPU a package, SHA-256 of all, of `curl -Z`",
            middle(used["perfdash, SHA-256 of all"]) / middle(used["curl -Z"]),
            MOST_OF_CURL,
            True,
        ),
        ("rate on 300 connections, of wrk's", fastest / wrk, LEAST_RATE_OF_WRK, False),
        ("TLS without handshakes, of plain", tls(bench, options) / cpu, MOST_TLS_OF_PLAIN, True),
        *judged(bench),
        *memory(bench, options),
    ]
    return report(goals)


def tls(bench: Bench, options: argparse.Namespace) -> float:
    """Return the microseconds of a package by TLS: of the second round of hosts, which makes no connection."""
    key = rsa.generate_private_key(65537, 4096)
    identity = bench.authority.signed(key, "host"), pem(key)
    found = []
    for _ in range(min(2, options.rounds)):
        one, two = (bench.own_tls(identity, rounds) for rounds in (1, 2))
        cpu = two["cpu_seconds"] - one["cpu_seconds"]
        found.append(cpu / (two["counts"]["packages"] - one["counts"]["packages"]) * 1e6)
        shaken = one["cpu_seconds"] - cpu
        connections = one["counts"]["connections"]
        print(
            f"TLS: {found[-1]:.1f} µs CPU a package, {shaken / connections * 1000:.1f} ms a connection"
        )
    return float(statistics.median(found))


def judged(bench: Bench) -> list[tuple[str, float, float, bool]]:
    """Return whether the generator counts as what bounds the values: as fast as it can, and held to HALF by the server."""
    found = []
    for url, what, is_most in (
        (bench.url, "as fast as it can", False),
        (f"http://127.0.0.3:{bench.port}/", f"at {HALF:,}/s", True),
    ):
        result = bench.result(url=url)
        cores = result["figures"]["busiest_process_cores"]
        verdict = judge(result["figures"])
        print(f"{what}: {took(result).rate:,.0f}/s, {verdict.word}. {' '.join(verdict.reasons)}")
        found.append((f"cores of the process, {what}", cores, CPU_SATURATES, is_most))
    return found


def memory(bench: Bench, options: argparse.Namespace) -> list[tuple[str, float, float, bool]]:
    """Return the most memory of many hosts, in MB."""
    few = bench.packages[:24]
    plain = bench.result(url=f"http://127.0.0.4:{bench.port}/", hosts=options.hosts, packages=few)
    key = rsa.generate_private_key(65537, 2048)
    identities = [
        HostIdentity(str(number), bench.authority.signed(key, f"host-{number}"), pem(key))
        for number in range(options.hosts)
    ]
    by_tls = bench.result(
        url=f"https://127.0.0.5:{bench.port}/",
        hosts=options.hosts,
        packages=few,
        identities=identities,
        insecure=True,
    )
    named = f"MB of {options.hosts} hosts x {PARALLEL}"
    return [
        (f"{named}, plain", plain["peak_memory_bytes"] / 1e6, MOST_PLAIN_MB, True),
        (
            f"{named}, TLS with a certificate each",
            by_tls["peak_memory_bytes"] / 1e6,
            MOST_TLS_MB,
            True,
        ),
    ]


def report(goals: Sequence[tuple[str, float, float, bool]]) -> int:
    """Print the goals; return 1 where one is missed."""
    print("\nGoals")
    missed = False
    for what, value, limit, is_most in goals:
        reached = value <= limit if is_most else value >= limit
        missed |= not reached
        print(
            f"  {what}: {value:.2f}, {'at most' if is_most else 'at least'} {limit:g}: {'reached' if reached else 'MISSED'}"
        )
    print(f"load average {os.getloadavg()[0]:.1f}")
    return int(missed)


def middle(every: Sequence[Took]) -> float:
    """Return the median of the microseconds of a package."""
    return float(statistics.median(each.microseconds for each in every))


def tell(name: str, run: Took) -> None:
    print(
        f"  {name:26} {run.microseconds:6.1f} µs  {run.rate:8,.0f}/s  {run.packages:,}", flush=True
    )


def context(place: Path) -> Context:
    """Return the context of an attempt."""
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        progress=lambda values: None,
        say=print,
        clock=time.perf_counter_ns,
        directory=place,
        rules=parse_rules("127.0.0.0/8:*"),
        deadline_seconds=900.0,
    )


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="script/bench content", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of everybody in turn")
    parser.add_argument("--seconds", type=float, default=5.0, help="of wrk")
    parser.add_argument(
        "--times", type=int, default=20, help="how often curl fetches the 600 files"
    )
    parser.add_argument("--hosts", type=int, default=1000, help="whose memory is looked at")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
