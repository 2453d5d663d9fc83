"""Register 4,000 hosts with the simulated Katello, and report what the generator took for each."""

import argparse
import os
import sys
import threading
from time import monotonic
from typing import Any

from bench.generators.own import processor
from bench.publishing import add_write, publish, written_by
from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.program import run_program
from campaigns.kit import histogram, kernel
from campaigns.kit.network import parse_rules
from sandbox.katello.process import SimulatedKatello
from sandbox.process import running

REGISTERS = "campaigns.kinds.registration.program"
GOAL_KB = 120.0
"""Memory of the generator for a host, at most; thousands of bytes."""
FEW = 50
"""Hosts of the run that tells what a program needs before it has hosts."""
PATIENCE_SECONDS = 1800.0


def main() -> int:
    """Measure, and print the page, or write it."""
    options = arguments()
    kernel.raise_open_files()
    load = f"load average {os.getloadavg()[0]:.1f}"
    with running(katello={}) as sandbox:
        few = register(sandbox.katello, FEW, options)
        tell(f"{FEW} hosts: {few['peak_memory_bytes'] / 1e6:.0f} MB")
        sandbox.katello.renew()
        many = register(sandbox.katello, options.hosts, options)
        registered = sandbox.katello.told()["hosts"]
    page = markdown(options, few, many, registered, load)
    publish(page, options.write)
    return 0


def register(server: SimulatedKatello, hosts: int, options: argparse.Namespace) -> Any:
    """Let all hosts register once, and give the result of the program."""
    server.set("time_scale", options.time_scale)
    timeouts = ("timeout_seconds", "connect_timeout_seconds", "tls_timeout_seconds")
    request = {
        "url": f"{server.tls_url}/",
        "rules": parse_rules("127.0.0.1:*").to_json(),
        "ca": server.ca(),
        "insecure": False,
        "place": "/rhsm",
        "directory": "",
        "schedule": {
            "hosts": hosts,
            "iterations": 1,
            "ramp_seconds": options.ramp * hosts / options.hosts,
        },
        "processes": options.processes,
        "profile": options.profile,
        "organization": "ACME",
        "activation_keys": "bench-ak",
        "packages": 500,
        "prefix": "perfdash-bench-",
        "domain": "perfdash.example",
        "time_limit_seconds": PATIENCE_SECONDS,
        **dict.fromkeys(timeouts, PATIENCE_SECONDS),
    }
    return run_program(
        REGISTERS,
        request,
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        deadline_seconds=PATIENCE_SECONDS + 60,
        progress=lambda values: tell(f"{values.get('hosts_done')} of {hosts} are registered"),
    ).result


def markdown(options: argparse.Namespace, few: Any, many: Any, registered: int, load: str) -> str:
    """Write the page."""
    hosts, done, failed = options.hosts, many["hosts_done"], many["hosts_failed"]
    memory = (many["peak_memory_bytes"] - few["peak_memory_bytes"]) / (hosts - FEW) / 1000
    verdict = judge(many["figures"] | {"target_is_here": 1.0})
    counts = histogram.counts_of(many["histograms"]["host_response"].encode())
    p50, p99 = (value / 1e6 for value in counts.at([0.5, 0.99]))
    start = f"over {options.ramp:g} s" if options.ramp else "at one instant"
    figures = many["figures"]
    all_of_them = done == registered == hosts
    lines = [
        f"# What registering {hosts:,} hosts costs",
        "",
        written_by("registration"),
        "",
        f"{processor()}, {os.cpu_count()} cores,",
        f"{load} when it began. {hosts:,} hosts begin {start}, in {options.processes} processes, and register with the",
        f"simulated Katello on the same machine, {speed(options.time_scale)}. Each host has three TLS connections, one",
        "after the other, the last two with its own certificate.",
        "",
        "| goal | found | |",
        "|---|--:|---|",
        f"| hosts registered: all | {registered:,} of {hosts:,} | {word(all_of_them)} |",
        f"| memory of the generator for a host: at most {GOAL_KB:g} KB | {memory:.0f} KB | {word(memory <= GOAL_KB)} |",
        f"| the generator is healthy | {verdict.word} | {word(verdict.word == 'healthy')} |",
        "",
        "| | |",
        "|---|--:|",
        f"| time for all | {many['seconds']:.1f} s |",
        f"| a host, p50 and p99 | {p50:.2f} s, {p99:.2f} s |",
        f"| hosts that failed | {failed:,} {many['host_failures'] or ''} |",
        f"| memory of all processes together, at the most | {many['peak_memory_bytes'] / 1e6:.0f} MB |",
        f"| the same with {FEW} hosts | {few['peak_memory_bytes'] / 1e6:.0f} MB |",
        f"| processor time for a host | {many['cpu_seconds'] / hosts * 1000:.1f} ms |",
        f"| cores of the busiest process | {figures.get('busiest_process_cores', 0.0):.2f} |",
        f"| descriptors of a process, of those allowed | {figures['descriptors']:.0f} of {figures['descriptor_limit']:.0f} |",
        f"| the loop's delay, p99 | {figures.get('loop_lag_p99_seconds', 0.0) * 1000:.1f} ms |",
        "",
        *(f"- {reason}" for reason in verdict.reasons),
    ]
    return "\n".join(lines).rstrip() + "\n"


def speed(time_scale: float) -> str:
    """Tell how fast the simulated server is."""
    return (
        f"{1 / time_scale:g} times as fast as a real one" if time_scale else "which answers at once"
    )


def word(reached: bool) -> str:
    return "reached" if reached else "**missed**"


def tell(what: str) -> None:
    print(f"{monotonic() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


BEGUN = monotonic()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench registration", description=__doc__)
    parser.add_argument("--hosts", type=int, default=4000)
    parser.add_argument(
        "--ramp",
        type=float,
        default=240.0,
        help="seconds over which hosts begin; 0: all at one instant",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--time-scale",
        type=float,
        default=0.05,
        help="seconds that the simulated server takes for one of a real one; 0: it answers at once",
    )
    parser.add_argument("--profile", default="rhsm-1.30")
    add_write(parser, "registration")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
