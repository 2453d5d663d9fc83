"""The command line of a local start: `serve`, and `run` for tests."""

import argparse
import sys
from pathlib import Path

from perfdash.local.directory import AlreadyRunning, DataDirectory, DirectoryRefused
from perfdash.local.ports import PortTaken
from perfdash.local.postgres import ClusterFailed
from perfdash.local.serve import greet_again, run, serve
from perfdash.local.services import ROOT


def main(arguments: list[str]) -> int:
    """Run one subcommand and give the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.subcommand == "run":
            return run(options.command)
        return _serve(options)
    except (DirectoryRefused, PortTaken, ClusterFailed) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _serve(options: argparse.Namespace) -> int:
    directory = DataDirectory(options.data)
    try:
        directory.lock()
    except AlreadyRunning:
        if options.reset:
            sys.stderr.write("perfdash is running; stop it before --reset.\n")
            return 1
        return greet_again(directory, sys.stdout)
    if options.reset:
        if not (options.yes or _confirmed(directory)):
            sys.stderr.write("Nothing was deleted. --yes confirms without a question.\n")
            return 1
        directory.delete()
        directory = DataDirectory(options.data)
        directory.lock()
    return serve(directory, options.port)


def _confirmed(directory: DataDirectory) -> bool:
    if not sys.stdin.isatty():
        return False
    question = f"Delete {directory.path} with all campaigns and results? [y/N] "
    return input(question).strip().lower() in {"y", "yes"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perfdash.local", description=__doc__)
    commands = parser.add_subparsers(dest="subcommand", required=True)
    server = commands.add_parser(
        "serve",
        prog="script/server",
        help="start perfdash and everything that it needs",
        description="Starts perfdash and everything that it needs. With DATABASE_URL or BROKER_URL"
        " set it uses that server and starts none of its own.",
    )
    server.add_argument("--port", type=_port, help="of the web server (default: 8000, or the next)")
    server.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=ROOT / ".perfdash",
        help="where everything is kept (default: .perfdash)",
    )
    server.add_argument("--reset", action="store_true", help="delete all data and start anew")
    server.add_argument("--yes", action="store_true", help="confirm --reset without a question")
    runner = commands.add_parser("run", help="run a command beside a database and a broker")
    runner.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def _port(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not within 1 to 65535")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
