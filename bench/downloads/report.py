"""The page about the downloader's speed. Pure, but for what it reads of the machine."""

import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from statistics import median

from bench.downloads.contestants import ARIA2C, CURL, OPENSSL, SHA256SUM, Contestant, Found
from bench.downloads.server import Files
from bench.publishing import written_by

Rounds = Sequence[Mapping[str, Found]]
"""What each contestant took, round by round."""
GOALS = {
    ("small", ARIA2C): 0.35,
    ("large", ARIA2C): 0.40,
    ("small", SHA256SUM): 0.60,
    ("large", SHA256SUM): 0.40,
    ("small", OPENSSL): 0.90,
    ("large", OPENSSL): 1.00,
}
"""Wall time of the engine curl over that of others, at most (ENGINES.md gives where they come from)."""
WHOLE_GOALS = {"small": 0.50, "large": 0.45}
"""The same as a whole program, over aria2c."""
FEATURES = ("sha_ni", "avx2", "avx512f", "sha2")
VERSIONS = (
    ("nginx", "-v"),
    ("aria2c", "--version"),
    ("curl", "--version"),
    ("openssl", "version"),
    ("sha256sum", "--version"),
    ("wget2", "--version"),
)


def markdown(
    taken: Mapping[str, tuple[Files, Rounds]],
    missing: Mapping[str, Sequence[str]],
    file_system: str,
) -> str:
    """Write the page."""
    lines = [
        "# What downloading costs",
        "",
        written_by("downloader"),
        "",
        "Figures of one machine: compare rows, not machines.",
        "",
        *machine(file_system),
        "",
        "Rounds are interleaved: each contestant once a round, begun with another one each time, after one",
        "round that does not count. Figures are medians; ratios are medians of the ratios within each round. Every",
        "file is verified by SHA-256. CPU time is that of all processes of the client. There are two clocks. *Wall* and",
        "*CPU* of our engines begin when interpreter and libraries are loaded, as the value of a campaign does. *Whole* is",
        "from the start of the program to its end, imports included. Programs of others have only the second.",
        "",
    ]
    for name, (files, rounds) in taken.items():
        lines += [f"## {files.title}, 20 connections, {len(rounds)} rounds", ""]
        lines += [*_table(files, rounds), "", *_goals(name, rounds), ""]
    for name, programs in missing.items():
        lines.append(f"{name} was not measured: there is no {' and no '.join(programs)} here.")
    return "\n".join(lines).rstrip() + "\n"


def ratio(rounds: Rounds, ours: str, theirs: str, clock: str = "wall") -> float:
    """Give the median of the ratios of a clock within each round."""
    of = attrgetter(clock)
    return float(median(of(result[ours]) / of(result[theirs]) for result in rounds))


def machine(file_system: str) -> Iterator[str]:
    """Tell what was measured on, and with which programs."""
    parts = Path("/proc/cpuinfo").read_text().splitlines()
    of = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in parts}
    flags = of.get("flags", of.get("Features", "")).split()
    features = ", ".join(f"{name} {'yes' if name in flags else 'no'}" for name in FEATURES)
    yield f"- {os.cpu_count()} cores, {of.get('model name', platform.machine())}; {features}"
    yield f"- Linux {platform.release()}, load {os.getloadavg()[0]:.1f} at the end; files on {file_system}"
    yield f"- Python {platform.python_version()}; nginx with one worker, HTTP/1.1 on loopback"
    versions = [result for program, option in VERSIONS if (result := _version(program, option))]
    yield f"- {'; '.join(versions)}"


def found_here(contestants: Sequence[Contestant]) -> dict[str, list[str]]:
    """Give the programs that are missing, by contestant."""
    return {one.name: missing for one in contestants if (missing := one.missing())}


def _table(files: Files, rounds: Rounds) -> Iterator[str]:
    names = sorted(rounds[0], key=lambda name: median(result[name].wall for result in rounds))
    peers = [name for name in (ARIA2C, SHA256SUM, OPENSSL) if name in rounds[0]]
    yield (
        "| | wall s | from, to | CPU s | MB/s | whole s | its CPU s |"
        + "".join(f" wall / {name} |" for name in peers)
        + "".join(f" {word} / {name} |" for name in peers[:1] for word in ("whole", "its CPU"))
    )
    yield "|---|---|---|---|---|---|---|" + "---|" * (len(peers) + 2 * bool(peers))
    for name in names:
        walls = [value[name].wall for value in rounds]
        cpu = median(outcome[name].cpu for outcome in rounds)
        wall = median(walls)
        whole = median(value[name].whole for value in rounds)
        whole_cpu = median(value[name].whole_cpu for value in rounds)
        ratios = "".join(f" {ratio(rounds, name, peer):.2f} |" for peer in peers) + "".join(
            f" {ratio(rounds, name, peer, clock):.2f} |"
            for peer in peers[:1]
            for clock in ("whole", "whole_cpu")
        )
        yield (
            f"| {name} | {wall:.3f} | {min(walls):.3f} to {max(walls):.3f} | {cpu:.3f} "
            f"| {files.bytes / 1e6 / wall:.0f} | {whole:.3f} | {whole_cpu:.3f} |{ratios}"
        )


def _goals(name: str, rounds: Rounds) -> Iterator[str]:
    for (of, peer), most in GOALS.items():
        if of == name and peer in rounds[0]:
            yield _goal(f"{CURL} takes", most, peer, ratio(rounds, CURL, peer))
    if ARIA2C in rounds[0]:
        whole = ratio(rounds, CURL, ARIA2C, "whole")
        yield _goal(f"{CURL} as a whole program takes", WHOLE_GOALS[name], ARIA2C, whole)


def _goal(takes: str, most: float, peer: str, result: float) -> str:
    word = "reached" if result <= most else "**missed**"
    return f"- Goal: {takes} at most {most:.2f} of {peer}: {result:.2f}, {word}."


def _version(program: str, option: str) -> str:
    try:
        done = subprocess.run([program, option], capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError:
        return ""
    messages = (done.stdout or done.stderr).decode(errors="replace").splitlines()
    return " ".join(messages[0].split()[:4]) if messages else program
