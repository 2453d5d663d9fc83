"""The load generators, each with its own command and report. All latencies are milliseconds, as each reports them."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LOCUST_ENVIRONMENT = HERE / ".locust"
"""Ignored by git."""
PLACES = ("go/bin", ".cargo/bin", ".local/bin")
LOCUST_SECONDS = 4
"""It takes some until it has begun."""
MOST_USERS = 1000
"""Of k6, that the constant rate does not depend on answers."""


@dataclass(frozen=True, slots=True)
class Load:
    """Closed with so many connections, or open at a rate with as many."""

    url: str
    connections: int
    seconds: float
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """What a generator reports; cpu_seconds of the whole process, start and end included."""

    requests: float
    rate: float
    cpu_seconds: float
    p50: float
    p99: float


class Failed(Exception):
    """A generator ended with an error, or its output was unexpected."""


class Peer:
    """A generator that was not written here."""

    name = ""
    get = ""
    constant = ""
    """How it holds a constant rate; empty where it cannot."""

    def __init__(self, program: str) -> None:
        self.program = program

    def version(self) -> str:
        """Return the version that it reports."""
        return _first_line([self.program, "--version"])

    def run(self, load: Load) -> Found:
        """Load, and give what it reports. Raise Failed."""
        raise NotImplementedError


class Wrk(Peer):
    name = "wrk"
    get = "apt-get install wrk"

    def version(self) -> str:
        return _first_line([self.program, "--version"]).partition(" [")[0]

    def run(self, load: Load) -> Found:
        text, cpu = _timed([self.program, *self.options(load), "--latency", load.url])
        return Found(
            requests=float(_number(r"(\d+) requests in", text)),
            rate=float(_number(r"Requests/sec:\s+([\d.]+)", text)),
            cpu_seconds=cpu,
            p50=_milliseconds(_number(r"\s50(?:\.000)?%\s+([\d.]+\w+)", text)),
            p99=_milliseconds(_number(r"\s99(?:\.000)?%\s+([\d.]+\w+)", text)),
        )

    def options(self, load: Load) -> list[str]:
        return ["-t1", f"-c{load.connections}", f"-d{load.seconds:g}s"]


class Wrk2(Wrk):
    name = "wrk2"
    get = "git clone https://github.com/giltene/wrk2 && make, as wrk2 in PATH"
    constant = "-R"

    def version(self) -> str:
        return f"wrk2 ({_first_line([self.program, '--version']).partition(' [')[0]})"

    def options(self, load: Load) -> list[str]:
        return [*super().options(load), f"-R{load.rate:g}"]


class Hey(Peer):
    name = "hey"
    get = "go install github.com/rakyll/hey@latest"
    constant = "-q (omits what a stall kept from being sent)"

    def version(self) -> str:
        return "hey"

    def run(self, load: Load) -> Found:
        rate = ["-q", f"{load.rate / load.connections:g}"] if load.rate else []
        command = [self.program, "-z", f"{load.seconds:g}s", "-c", str(load.connections), *rate]
        text, cpu = _timed([*command, load.url])
        rate_reached = float(_number(r"Requests/sec:\s+([\d.]+)", text))
        seconds = float(_number(r"Total:\s+([\d.]+) secs", text))
        return Found(
            requests=rate_reached * seconds,
            rate=rate_reached,
            cpu_seconds=cpu,
            p50=float(_number(r"50%+ in ([\d.]+) secs", text)) * 1000,
            p99=float(_number(r"99%+ in ([\d.]+) secs", text)) * 1000,
        )


class Oha(Peer):
    name = "oha"
    get = "cargo install oha --locked"
    constant = "-q --latency-correction"

    def run(self, load: Load) -> Found:
        rate = ["-q", f"{load.rate:g}", "--latency-correction"] if load.rate else []
        command = [self.program, "-z", f"{load.seconds:g}s", "-c", str(load.connections), *rate]
        text, cpu = _timed([*command, "--no-tui", "--output-format", "json", load.url])
        data = json.loads(text)
        reached, seconds = data["summary"]["requestsPerSec"], data["summary"]["total"]
        return Found(
            requests=reached * seconds,
            rate=reached,
            cpu_seconds=cpu,
            p50=data["latencyPercentiles"]["p50"] * 1000,
            p99=data["latencyPercentiles"]["p99"] * 1000,
        )


class K6(Peer):
    name = "k6"
    get = "go install go.k6.io/k6@latest"
    constant = "constant-arrival-rate"

    def version(self) -> str:
        return _first_line([self.program, "version"]).partition(" (")[0]

    def run(self, load: Load) -> Found:
        duration = f"{load.seconds:g}s"
        scenario: dict[str, object] = {
            "executor": "constant-vus",
            "vus": load.connections,
            "duration": duration,
        }
        if load.rate:
            scenario = {
                "executor": "constant-arrival-rate",
                "rate": int(load.rate),
                "timeUnit": "1s",
                "duration": duration,
                "preAllocatedVUs": MOST_USERS,
            }
        options = {
            "scenarios": {"load": scenario},
            "summaryTrendStats": ["p(50)", "p(99)"],
            "discardResponseBodies": True,
        }
        found, metrics = self.run_script(
            "import http from 'k6/http';\n"
            f"export const options = {json.dumps(options)};\n"
            f"export default function () {{ http.get({json.dumps(load.url)}); }}\n"
        )
        if metrics.get("dropped_iterations", {}).get("count"):
            raise Failed(f"k6 dropped iterations at {load.rate:g}/s")
        return found

    def run_script(self, text: str) -> tuple[Found, dict[str, Any]]:
        """Run a script, whose options ask for p(50) and p(99); give its metrics, too."""
        with tempfile.TemporaryDirectory() as place:
            summary, script = Path(place, "summary.json"), Path(place, "script.js")
            script.write_text(text)
            export = f"--summary-export={summary}"
            quiet = ["--quiet", "--no-usage-report"]
            _, cpu = _timed([self.program, "run", *quiet, export, str(script)])
            metrics = json.loads(summary.read_text())["metrics"]
        found = Found(
            requests=metrics["http_reqs"]["count"],
            rate=metrics["http_reqs"]["rate"],
            cpu_seconds=cpu,
            p50=metrics["http_req_duration"]["p(50)"],
            p99=metrics["http_req_duration"]["p(99)"],
        )
        return found, metrics


class Locust(Peer):
    name = "Locust"
    get = "script/bench load --get-locust"
    constant = "constant_throughput (omits what a stall kept from being sent)"

    def version(self) -> str:
        return " ".join(_first_line([self.program, "--version"]).split()[:2])

    def run(self, load: Load) -> Found:
        pace = (
            f"constant_throughput({load.rate / load.connections})" if load.rate else "constant(0)"
        )
        with tempfile.TemporaryDirectory() as place:
            Path(place, "locustfile.py").write_text(
                "from locust import FastHttpUser, constant, constant_throughput, task\n"
                "class User(FastHttpUser):\n"
                f"    host = {load.url.rpartition('/')[0]!r}\n"
                f"    wait_time = {pace}\n"
                "    @task\n"
                "    def ask(self):\n"
                f"        self.client.get('/{load.url.rpartition('/')[2]}')\n"
            )
            users = ["-u", str(load.connections), "-r", str(load.connections)]
            seconds = math.ceil(max(load.seconds, LOCUST_SECONDS))
            wanted = ["--headless", "--only-summary", "--csv", "out", "-t", f"{seconds}s"]
            _, cpu = _timed([self.program, *wanted, *users], place)
            header, *rows = Path(place, "out_stats.csv").read_text().splitlines()
        row = dict(zip(header.split(","), rows[-1].split(","), strict=True))
        if row["50%"] == "N/A":
            raise Failed(f"Locust got no answer in {seconds} s")
        return Found(
            requests=float(row["Request Count"]),
            rate=float(row["Requests/s"]),
            cpu_seconds=cpu,
            p50=float(row["50%"]),
            p99=float(row["99%"]),
        )


PEERS: dict[str, type[Peer]] = {
    "wrk": Wrk,
    "wrk2": Wrk2,
    "k6": K6,
    "oha": Oha,
    "hey": Hey,
    "locust": Locust,
}


def find(program: str) -> str | None:
    """Look for a program in PATH, and where Go, Rust and pip put theirs."""
    places = [str(Path.home() / place) for place in PLACES]
    places.append(str(LOCUST_ENVIRONMENT / "bin"))
    return shutil.which(program) or shutil.which(program, path=os.pathsep.join(places))


def get_locust() -> None:
    """Make Locust's own environment: its dependencies do not fit ours."""
    if not (LOCUST_ENVIRONMENT / "bin" / "locust").exists():
        subprocess.run([sys.executable, "-m", "venv", LOCUST_ENVIRONMENT], check=True)  # noqa: S603
        pip = [str(LOCUST_ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "locust==2.47.0"], check=True)  # noqa: S603


def _timed(command: Sequence[str], directory: str | None = None) -> tuple[str, float]:
    """Run a program; give what it prints, and its processor time with all that it started."""
    before = _children()
    done = subprocess.run(  # noqa: S603  programs of this list
        command, capture_output=True, text=True, cwd=directory, check=False
    )
    if done.returncode:
        raise Failed(f"{command[0]}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout, _children() - before


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _first_line(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return (done.stdout or done.stderr).strip().split("\n")[0]


def _number(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise Failed(f"no {pattern} in {text[-400:]}")
    return match[1]


def _milliseconds(written: str) -> float:
    value, unit = re.fullmatch(r"([\d.]+)([a-z]+)", written).groups()  # type: ignore[union-attr]
    return float(value) * {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}[unit]
