"""Run our load engine and wrk, wrk2, k6, oha, hey and Locust in turn against nginx, and compare them.

Which of them are there is said at the start, with how to get the others: wrk and nginx come from Debian
(`apt-get install wrk nginx-light`). The load goes to a server on loopback that this program starts.
"""

import argparse
import os
import platform
import sys
from collections import defaultdict
from collections.abc import Sequence
from time import monotonic

from bench.generators import own, report
from bench.generators.peers import PEERS, Failed, Found, Load, Peer, find, get_locust
from bench.generators.server import Server, serving
from bench.publishing import add_write, publish, written_by
from campaigns.kit import kernel

CONNECTIONS = (10, 100, 1000)
RATES = (500, 1000, 2000, 4000)
STALL_CONNECTIONS, STALL_SECONDS = 50, 10.0
SERVICE = "perfdash, its service time (omits)"
BEGUN = monotonic()


def main() -> int:
    """Measure, and print the page, or write it."""
    options = arguments()
    kernel.raise_open_files()
    if options.get_locust:
        get_locust()
    nginx = find("nginx") or find("/usr/sbin/nginx")
    if nginx is None:
        print("nginx was not found: apt-get install nginx-light.", file=sys.stderr)
        return 1
    peers = {name: kind(path) for name, kind in PEERS.items() if (path := find(name))}
    for name, kind in PEERS.items():
        tell(f"{name}: {peers[name].version()}" if name in peers else f"no {name}: {kind.get}")
    chosen = [peer for name, peer in peers.items() if name not in options.without]
    load = f"load average {os.getloadavg()[0]:.1f}"
    with serving(nginx) as server:
        closed = run_closed(server, chosen, options)
        stalled = run_stalled(server, chosen, options)
    page = markdown(closed, stalled, chosen, options, load)
    publish(page, options.write)
    return 0


Taken = dict[tuple[str, float], list[Found]]


def run_closed(server: Server, peers: Sequence[Peer], options: argparse.Namespace) -> Taken:
    """Let each load as fast as it can; its place in the turn changes from round to round."""
    used: Taken = defaultdict(list)
    for round_ in range(options.rounds):
        for connections in options.connections:
            load = Load(server.url, connections, options.seconds)
            everyone: list[Peer | None] = [None, *(peer for peer in peers if peer.name != "wrk2")]
            turn = round_ % len(everyone)
            for peer in everyone[turn:] + everyone[:turn]:
                name = peer.name if peer else own.NAME
                result = peer.run(load) if peer else own.run(load)[0]
                used[name, connections].append(result)
                cpu = report.per_10_000(result)
                tell(f"{connections:5} connections  {name:8} {result.rate:9,.0f}/s {cpu:6.3f} CPU")
    return used


def run_stalled(server: Server, peers: Sequence[Peer], options: argparse.Namespace) -> Taken:
    """Hold a constant rate against a server that stalls."""
    used: Taken = defaultdict(list)
    for _ in range(options.stall_rounds):
        for rate in options.rates:
            load = Load(server.url, STALL_CONNECTIONS, STALL_SECONDS, rate)
            with server.stalling():
                intended, service = own.run(load)
                used[own.NAME, rate].append(intended)
                used[SERVICE, rate].append(service)
                tell(f"{rate:5}/s with stalls  {own.NAME:8} p99 {intended.p99:.1f} ms")
                for peer in peers:
                    if peer.constant:
                        stalled_peer(used, peer, load)
    return used


def stalled_peer(taken: Taken, peer: Peer, load: Load) -> None:
    """Leave a generator out of a rate that it cannot hold."""
    try:
        result = peer.run(load)
    except Failed as failed:
        tell(f"{load.rate:5}/s with stalls  {peer.name}: {failed}")
        return
    taken[peer.name, load.rate].append(result)
    tell(f"{load.rate:5}/s with stalls  {peer.name:8} p99 {result.p99:.1f} ms")


def markdown(
    closed: Taken, stalled: Taken, peers: Sequence[Peer], options: argparse.Namespace, load: str
) -> str:
    """Write the page."""
    names = [own.NAME, *(peer.name for peer in peers)]
    missing = [f"{kind.name} ({kind.get})" for name, kind in PEERS.items() if not find(name)]
    parts = [
        report.INTRODUCTION.format(
            written_by=written_by("load"),
            machine=f"{own.processor()}, {platform.machine()}, {os.cpu_count()} cores",
            load=load,
            rounds=options.rounds,
            seconds=options.seconds,
            versions=", ".join(peer.version() for peer in peers),
            missing=f" Not found: {', '.join(missing)}." if missing else "",
        ),
        "## Goals\n",
        *report.goals(closed, stalled, options.rates),
        "\n## As fast as it goes",
        *report.closed(closed, names, options.connections),
        "\n## A server that stands still for 200 ms every 5 s\n",
        f"p99 in ms at a constant rate, {STALL_CONNECTIONS} connections, {STALL_SECONDS:g} s. Of all requests 4 % "
        "should begin during a stall, so\nthe honest answer is about 150 ms. Who counts from the moment a request "
        "was sent omits those that a stall kept from\nbeing sent.\n",
        *report.stalls(stalled, [own.NAME, SERVICE, *names[1:]], options.rates),
        "",
        "The same runs, *CPU*: what a generator sleeps between two requests costs it two wakes a request; who sends in bursts,\n"
        "as wrk2 each millisecond, wakes less and sends later (its p50 is that of its timer).\n",
        *report.cpu_at_rates(stalled, names, options.rates),
        "",
    ]
    ways = [f"{peer.name} `{peer.constant}`" for peer in peers if peer.constant]
    return "\n".join([*parts, f"The rate is held by: {'; '.join(ways)}.", ""])


def tell(what: str) -> None:
    print(f"{monotonic() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench load", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of all generators in turn")
    parser.add_argument("--seconds", type=int, default=2, help="of each run")
    parser.add_argument("--stall-rounds", type=int, default=1, help="of 10 s at each rate")
    parser.add_argument("--connections", type=int, nargs="*", default=CONNECTIONS)
    parser.add_argument("--rates", type=int, nargs="*", default=RATES)
    parser.add_argument("--without", nargs="*", default=(), choices=PEERS, help="leave these out")
    parser.add_argument("--get-locust", action="store_true", help="install Locust first, apart")
    add_write(parser, "load")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
