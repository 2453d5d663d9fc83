"""Let 4000 virtual hosts answer a job at a mosquitto of their own, and report what that costs them and the broker."""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa

from bench.generators.own import processor
from bench.identities import Authority as Signer
from bench.identities import pem
from campaigns.kinds.base import Context, HostIdentity
from campaigns.kinds.hosts.answering import (
    Answered,
    answering,
    answering_request,
    unconnected,
)
from campaigns.kinds.load.judging import judge
from campaigns.kit import kernel
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.hosts.pull_mqtt import (
    MOSQUITTO,
    Broker,
    identities_of,
    mosquitto,
    smart_proxy,
)
from campaigns.tests.kinds.programs.certificates import Authority


def main() -> int:
    """Measure and print."""
    options = arguments()
    kernel.raise_open_files()
    if not MOSQUITTO:
        print("mosquitto was not found: apt-get install mosquitto.", file=sys.stderr)
        return 1
    print(f"{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="perfdash-bench-") as directory:
        return measure(Path(directory), options)


def measure(place: Path, options: argparse.Namespace) -> int:
    """Connect all hosts, publish a job for each, and wait until all have ended."""
    authority = Authority(place, "katello")
    identities = made(authority, options)
    context = context_of(place)
    with (
        mosquitto(place / "mosquitto", authority) as broker,
        smart_proxy(authority, broker.port) as proxy,
    ):
        request = answering_request(
            context, identities, ("127.0.0.1", broker.port), proxy.url,
            ca=authority.file.read_text(), timeout_seconds=300.0, tls_timeout_seconds=300.0,
            connect_seconds=300.0, processes=options.processes,
        )  # fmt: skip
        with answering(context, request) as hosts:
            connected = broker.usage()
            begun = time.monotonic()
            jobs = proxy.start([each.uuid for each in identities], "date")
            published = time.monotonic() - begun
            proxy.wait(jobs, 600.0)
            ended = time.monotonic() - begun
            answered = hosts.end()
            report(answered, broker, connected, published, ended)
    problem = unconnected(answered)
    print(problem or f"  all {options.hosts} picked up, failures: {dict(answered.failures)}")
    return bool(problem or answered.failures)


def made(authority: Authority, options: argparse.Namespace) -> list[HostIdentity]:
    """Return the hosts. With RSA all have one key, and a certificate each, as a simulated Katello gives them."""
    if not options.bits:
        return identities_of(authority, options.hosts)
    signer, key = Signer(), rsa.generate_private_key(65537, options.bits)
    authority.file.write_text(authority.file.read_text() + signer.pem)
    names = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(options.hosts)]
    return [HostIdentity(name, signer.signed(key, name), pem(key)) for name in names]


def report(
    answered: Answered,
    broker: Broker,
    connected: tuple[float, int],
    published: float,
    ended: float,
) -> None:
    """Print what it took."""
    hosts, cpu = answered.counts["hosts"], answered.cpu_seconds
    rows = answered.rows
    fetched = sorted(
        (fetch - notified) / 1e6
        for fetch, notified in zip(rows["fetched_us"], rows["notified_us"], strict=True)
        if fetch is not None and notified is not None
    )
    verdict = judge(answered.figures)
    seconds, peak = broker.usage()
    print(
        f"  {hosts} hosts connected in {answered.connect_seconds:.1f} s; published in {published:.1f} s, all ended after {ended:.1f} s\n"
        f"  from message to script: median {fetched[len(fetched) // 2]:.3f} s, most {fetched[-1]:.3f} s\n"
        f"  virtual hosts: {cpu:.1f} s CPU ({cpu / hosts * 1000:.2f} ms a host), {answered.peak_memory_bytes / 2**20:.0f} MiB at "
        f"most ({answered.peak_memory_bytes / hosts / 1000:.0f} KB a host)\n"
        f"  mosquitto: {connected[0]:.1f} s CPU until all were connected, {seconds:.1f} s in all, {peak / 2**20:.0f} MiB at most\n"
        f"  the generator: {verdict.word}. {' '.join(verdict.reasons)}"
    )


def context_of(place: Path) -> Context:
    """Return the context of an attempt."""
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        progress=lambda values: None,
        say=print,
        clock=time.perf_counter_ns,
        directory=place,
        rules=parse_rules("127.0.0.1:*"),
        deadline_seconds=1200.0,
    )


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="script/bench virtual_hosts", description=__doc__)
    parser.add_argument("--hosts", type=int, default=4000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--bits", type=int, default=0, help="of RSA keys; 0: keys of P-256")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
