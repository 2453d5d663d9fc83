"""Compare scenarios of the kind `http` with the load engine's own plain load, wrk, wrk2 and k6, also while the server stalls."""

import argparse
import json
import os
import platform
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import monotonic, process_time
from typing import Any

from bench.generators import own
from bench.generators.peers import K6, PEERS, Found, Load, find
from bench.generators.report import per_10_000, ratio
from bench.generators.server import STALL_EVERY_SECONDS, Server, serving
from bench.publishing import add_write, publish, written_by
from campaigns.kinds.http.form import HttpForm
from campaigns.kinds.http.importing.reading import read_sketch
from campaigns.kinds.http.importing.sketch import written
from campaigns.kinds.http.program.scenario import MOST_STEPS
from campaigns.kinds.programs.program import run_program
from campaigns.kit import histogram, kernel
from campaigns.kit.network import parse_rules

PLAYS = "campaigns.kinds.http.program"
NAME = "http"
LEAST_OF_PLAIN = 0.9
LEAST_OF_WRK = 0.6
LEAST_OF_K6 = 4.0
MOST_IMPORT_SECONDS = MOST_READ_SECONDS = 1.0
ENTRIES, ANSWER_BYTES = 500, 10_000
STALLED_P99 = (130.0, 190.0)
"""Milliseconds; of all requests 4 % begin during a stall of 200 ms, so that the 99th percentile is about 150."""
CLOSED_P99 = 50.0
NEAR_WRK2 = 0.05
OPEN = "open loop, 50 hosts"
RATE, STALLED_HOSTS, STALL_SECONDS, STALL_ROUNDS = 1000.0, 50, 10.0, 3
BEGUN = monotonic()
PLAIN = "steps: [{name: get, get: /answer.json}]"
THREE = """\
steps:
  - name: list
    get: /list.json
    expect: {status: 200, json: {count: 3}}
    take: {href: {json: results.1.href}}
  - name: read
    get: "{href}"
    expect: {status: 200}
  - name: again
    get: /answer.json?host={host}&round={round}
    expect: {status: 200}
"""
THINKS = "steps: [{{name: get, get: /answer.json, think: {{seconds: {seconds}}}}}]"
ITEM = {"name": "an item of a list", "state": "x" * 560}
K6_SCRIPT = """\
import http from "k6/http";
export const options = {{
  vus: {connections}, duration: "{seconds}s", summaryTrendStats: ["p(50)", "p(99)"],
}};
export default function () {{
  const list = http.get("{url}/list.json");
  const href = list.json("results.1.href");
  http.get("{url}" + href);
  http.get(`{url}/answer.json?host=${{__VU}}&round=${{__ITER}}`);
}}
"""
Rounds = dict[str, list[Found]]


@dataclass(frozen=True)
class Goal:
    """A goal with the figure that was found."""

    what: str
    found: float
    met: bool


def main() -> int:
    """Measure, and print the page, or write it. Return 1 where a goal is missed."""
    options = arguments()
    kernel.raise_open_files()
    nginx = find("nginx") or find("/usr/sbin/nginx")
    if nginx is None:
        print("nginx was not found: apt-get install nginx-light.", file=sys.stderr)
        return 1
    load = f"load average {os.getloadavg()[0]:.1f}"
    with serving(nginx, {"list.json": listing()}) as server:
        plain = run_plain(server, options)
        three = run_three(server, options)
        stalled = run_stalled(server)
    goals = list(goals_of(plain, three, stalled, run_import(), run_reading()))
    page = markdown(plain, three, stalled, goals, options, load)
    publish(page, options.write)
    return 0 if all(goal.met for goal in goals) else 1


def listing() -> bytes:
    """Give a list of 2 kB, whose items lead to the small file."""
    results = [{"href": "/answer.json", "number": number, **ITEM} for number in range(3)]
    return json.dumps({"count": 3, "results": results}).encode()


def run_plain(server: Server, options: argparse.Namespace) -> Rounds:
    """Let one plain GET be repeated by the kind, by the load engine alone, and by wrk, in turn."""
    used: Rounds = defaultdict(list)
    load = Load(server.url, options.connections, options.seconds)
    ways: list[tuple[str, Callable[[], Found]]] = [
        (NAME, lambda: play(server, PLAIN, closed(options))[0]),
        (own.NAME, lambda: own.run(load)[0]),
    ]
    if path := find("wrk"):
        wrk = PEERS["wrk"](path)
        ways.append(("wrk", lambda: wrk.run(load)))
    for round_ in range(options.rounds):
        turn = round_ % len(ways)
        for name, run in ways[turn:] + ways[:turn]:
            used[name].append(run())
            tell(f"plain GET, {name:9} {used[name][-1].rate:9,.0f}/s")
    return used


def run_three(server: Server, options: argparse.Namespace) -> Rounds:
    """Let three steps be done, one of which takes a value from JSON that the next one needs."""
    used: Rounds = defaultdict(list)
    k6 = find("k6")
    for _ in range(options.rounds):
        used[NAME].append(play(server, THREE, closed(options))[0])
        tell(f"three steps, {NAME:9} {used[NAME][-1].rate:9,.0f}/s")
        if k6:
            used["k6"].append(run_k6(k6, server, options))
            tell(f"three steps, k6        {used['k6'][-1].rate:9,.0f}/s")
    return used


def run_stalled(server: Server) -> Rounds:
    """Hold a rate while the server stands still for 200 ms every 5 s, beside wrk2; then with as many requests in a closed loop."""
    used: Rounds = defaultdict(list)
    offered = {"hosts": STALLED_HOSTS, "loop": "open", "rate_per_second": RATE}
    wrk2 = find("wrk2")
    for _ in range(STALL_ROUNDS):
        play_stalled(used, OPEN, server, PLAIN, offered)
        if wrk2:
            with server.stalling():
                load = Load(server.url, STALLED_HOSTS, STALL_SECONDS, RATE)
                used["wrk2"].append(PEERS["wrk2"](wrk2).run(load))
            tell(f"stalls, wrk2: p99 {used['wrk2'][-1].p99:.1f} ms")
    for hosts in (STALLED_HOSTS // 2, STALLED_HOSTS):
        text = THINKS.format(seconds=hosts / RATE)
        play_stalled(used, f"closed loop, {hosts} hosts", server, text, {"hosts": hosts})
    return used


def play_stalled(
    used: Rounds, name: str, server: Server, text: str, schedule: dict[str, Any]
) -> None:
    """Play a scenario while the server stalls, and add what was found under a name."""
    with server.stalling():
        found = play(server, text, {**schedule, "duration_seconds": STALL_SECONDS})[0]
    tell(f"stalls, {name}: {found.rate:,.0f}/s, p99 {found.p99:.1f} ms")
    used[name].append(found)


def closed(options: argparse.Namespace) -> dict[str, Any]:
    """Give the schedule of a closed loop."""
    return {"hosts": options.connections, "duration_seconds": options.seconds}


def play(server: Server, scenario: str, schedule: dict[str, Any]) -> tuple[Found, Any]:
    """Play a scenario as a measurement does; give what it measured from the intended start, and its result."""
    request = {
        "url": server.url,
        "rules": parse_rules("127.0.0.1:*").to_json(),
        "schedule": schedule,
        "scenario": scenario,
        "timeout_seconds": 10.0,
        "time_limit_seconds": schedule["duration_seconds"] + 20,
    }
    result = run_program(
        PLAYS,
        request,
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        deadline_seconds=schedule["duration_seconds"] + 60,
    ).result
    if result["failures"]:
        raise RuntimeError(f"Requests failed: {result['failures']} {result['examples']}")
    counts = histogram.counts_of(result["histograms"]["response"].encode())
    p50, p99 = (value / 1000 for value in counts.at([0.5, 0.99]))
    seconds = result["seconds"]
    return Found(counts.total, counts.total / seconds, result["cpu_seconds"], p50, p99), result


def run_k6(path: str, server: Server, options: argparse.Namespace) -> Found:
    """Let k6 do the three steps."""
    root = server.url.rpartition("/")[0]
    script = K6_SCRIPT.format(connections=options.connections, seconds=options.seconds, url=root)
    return K6(path).run_script(script)[0]


def recording() -> bytes:
    """Give a HAR file of 500 entries and 5 MB: lists whose items the next requests name, with a token."""
    entries = []
    for number in range(ENTRIES):
        items = [
            {"href": f"/items/{number:04}-{item:04}-aaaa/", "n": item, "text": "x" * 150}
            for item in range(ANSWER_BYTES // 210)
        ]
        path = f"/items/{number - 1:04}-0003-aaaa/" if number % 5 == 1 else f"/items/?page={number}"
        request = {
            "method": "GET",
            "url": f"http://target{path}",
            "headers": [{"name": "Authorization", "value": "Bearer t0k3n-of-all"}],
        }
        content = {
            "mimeType": "application/json",
            "text": json.dumps({"token": "t0k3n-of-all", "results": items}),
        }
        entries.append(
            {"request": request, "response": {"status": 200, "content": content}, "time": 5}
        )
    return json.dumps({"log": {"entries": entries}}).encode()


def run_import() -> float:
    """Import the file five times; give the median of the seconds of CPU."""
    data, seconds = recording(), []
    for _ in range(5):
        begun = process_time()
        sketch = read_sketch(data)
        written(sketch, range(MOST_STEPS), range(len(sketch.offers)))
        seconds.append(process_time() - begun)
    tell(f"import of a HAR file, {len(data):,} bytes: {median(seconds):.2f} s of CPU")
    return median(seconds)


def run_reading() -> float:
    """Check a form with 50 steps and 10,000 rows of data, and one with 20,000, which is refused; give the seconds of CPU."""
    steps = "".join(
        f"  - name: step {number}\n    post: /items/{{host}}\n    json: {{a: '{'x' * 3000}'}}\n"
        for number in range(MOST_STEPS)
    )
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
    initial = {name: field.initial for name, field in HttpForm.base_fields.items()}
    begun = process_time()
    for rows, errors in ((10_000, []), (20_000, ["data"])):
        data = "user,size\n" + "".join(f"user-{row},{row}\n" for row in range(rows))
        form = HttpForm(initial | {"scenario": f"steps:\n{steps}", "data": data})
        if list(form.errors) != errors:
            raise RuntimeError(f"The form says: {form.errors}")
    seconds = process_time() - begun
    tell(f"form with 50 steps, and 10,000 and 20,000 rows: {seconds:.2f} s of CPU")
    return seconds


def goals_of(
    plain: Rounds, three: Rounds, stalled: Rounds, imported: float, read: float
) -> Iterator[Goal]:
    """Give the goals with what was found."""
    least = f"import of a HAR file of {ENTRIES} entries and 5 MB, seconds of CPU: less than {MOST_IMPORT_SECONDS:g}"
    yield Goal(least, imported, imported < MOST_IMPORT_SECONDS)
    most = f"form with {MOST_STEPS} steps, and 10,000 and 20,000 rows, seconds of CPU: less than {MOST_READ_SECONDS:g}"
    yield Goal(most, read, read < MOST_READ_SECONDS)
    ours = plain[NAME]
    of_plain = ratio(ours, plain[own.NAME], lambda found: found.rate)
    least = f"at least {LEAST_OF_PLAIN}"
    yield Goal(
        f"plain GET, rate of the load engine's own: {least}", of_plain, of_plain >= LEAST_OF_PLAIN
    )
    if "wrk" in plain:
        of_wrk = ratio(ours, plain["wrk"], lambda found: found.rate)
        yield Goal(
            f"plain GET, rate of wrk: at least {LEAST_OF_WRK}", of_wrk, of_wrk >= LEAST_OF_WRK
        )
    if "k6" in three:
        of_k6 = ratio(three[NAME], three["k6"], lambda found: found.rate)
        yield Goal(f"three steps, rate of k6: at least {LEAST_OF_K6}", of_k6, of_k6 >= LEAST_OF_K6)
    low, high = STALLED_P99
    p99 = median(found.p99 for found in stalled[OPEN])
    yield Goal(f"stalls, p99 of the open loop: {low:g} to {high:g} ms", p99, low <= p99 <= high)
    if "wrk2" in stalled:
        of_wrk2 = ratio(stalled[OPEN], stalled["wrk2"], lambda found: found.p99)
        met = abs(of_wrk2 - 1) <= NEAR_WRK2
        yield Goal(f"stalls, p99 of the open loop, of wrk2's: within {NEAR_WRK2:.0%}", of_wrk2, met)
    p99 = stalled[f"closed loop, {STALLED_HOSTS // 2} hosts"][0].p99
    yield Goal(f"stalls, p99 of the closed loop: at most {CLOSED_P99:g} ms", p99, p99 <= CLOSED_P99)


def markdown(
    plain: Rounds,
    three: Rounds,
    stalled: Rounds,
    goals: Sequence[Goal],
    options: argparse.Namespace,
    load: str,
) -> str:
    """Write the page."""
    lines = [
        "# What scenarios of the kind http cost\n",
        written_by("http") + "\n",
        f"{own.processor()}, {platform.machine()}, {os.cpu_count()} cores, {load} when it began. "
        f"nginx with one worker on loopback; {options.connections} connections, {options.rounds} rounds of {options.seconds:g} s "
        "in turn; medians. *CPU* is seconds of the generator per 10,000 requests.\n",
        "## Goals\n",
        "| goal | found | |",
        "|---|--:|---|",
        *(
            f"| {each.what} | {each.found:.2f} | {'met' if each.met else '**missed**'} |"
            for each in goals
        ),
    ]
    if missing := [name for name in ("wrk", "wrk2", "k6") if find(name) is None]:
        lines.append(f"\nNot measured, as it is not installed: {', '.join(missing)}.")
    for title, rounds in (
        ("One plain GET", plain),
        ("Three steps, one take from JSON of 2 kB", three),
    ):
        lines += [
            f"\n## {title}\n",
            "| generator | requests/s | CPU | p50 ms | p99 ms |",
            "|---|--:|--:|--:|--:|",
        ]
        for name, found in rounds.items():
            cells = (
                f"{median(each.rate for each in found):,.0f}",
                f"{median(map(per_10_000, found)):.3f}",
                f"{median(each.p50 for each in found):.2f}",
                f"{median(each.p99 for each in found):.2f}",
            )
            lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        f"\n## A server that stands still for 200 ms every {STALL_EVERY_SECONDS:g} s, {RATE:,.0f} requests/s\n",
        f"Medians of {STALL_ROUNDS} rounds in turn of the open loop and wrk2. "
        "An open loop counts from the intended start: 4 % of the requests begin during a stall. In a closed loop each host waits once "
        "a stall, and asks for nothing meanwhile: with 50 hosts these are 1 % of the requests, so that p99 lies at the very edge.\n",
        "| loop | requests/s | p50 ms | p99 ms |",
        "|---|--:|--:|--:|",
        *(
            f"| {name} | {median(each.rate for each in found):,.0f} | {median(each.p50 for each in found):.2f} "
            f"| {median(each.p99 for each in found):.1f} |"
            for name, found in stalled.items()
        ),
        "",
    ]
    return "\n".join(lines)


def tell(what: str) -> None:
    print(f"{monotonic() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    """Read the arguments."""
    parser = argparse.ArgumentParser(prog="script/bench http", description=__doc__)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    add_write(parser, "http")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
