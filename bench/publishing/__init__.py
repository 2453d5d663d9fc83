"""The pages of docs/ that benchmarks write. No Django."""

import argparse
from pathlib import Path

PAGES = {
    "api": "docs/reference/api-speed.md",
    "charts": "docs/reference/chart-speed.md",
    "downloader": "docs/reference/downloader-speed.md",
    "http": "docs/reference/http-speed.md",
    "load": "docs/reference/load-speed.md",
    "pages": "docs/reference/page-speed.md",
    "registration": "docs/reference/registration-speed.md",
    "scale": "docs/how-to/scale.md",
    "starved": "docs/reference/starved-generators.md",
    "statistics": "docs/reference/self-check.md",
    "values": "docs/reference/stored-values.md",
}
"""The page of each benchmark that has one."""


def add_write(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the option `--write` of a benchmark; without a file it names the benchmark's page."""
    parser.add_argument(
        "--write",
        nargs="?",
        const=PAGES[name],
        type=Path,
        metavar="FILE",
        help=f"write {PAGES[name]}, or another file",
    )


def written_by(name: str, *options: str) -> str:
    """Return the line at the head of a benchmark's page."""
    command = " ".join(["script/bench", name, *options, "--write"])
    return f"Written by `{command}`. Do not edit it by hand."


def publish(page: str, file: Path | None) -> None:
    """Write a page to a file, or print it if there is none."""
    if file is None:
        print(page)
        return
    file.write_text(page, encoding="utf-8")
    print(f"{file} is written.")
