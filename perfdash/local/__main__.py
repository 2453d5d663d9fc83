"""The command line of a local start: `serve`, `status`, `manage`, `stop`, and `run` for tests."""

import argparse
import errno
import os
import sys
import traceback
from functools import partial
from itertools import islice
from pathlib import Path

from perfdash.local import ownership, running, status
from perfdash.local.archive import BackupRefused
from perfdash.local.backup import backup
from perfdash.local.directory import AlreadyRunning, DataDirectory, DirectoryRefused
from perfdash.local.machine import MachineRefused
from perfdash.local.ports import PortTaken
from perfdash.local.postgres import ClusterFailed
from perfdash.local.restore import restore
from perfdash.local.serve import FOUNDATIONS_FAILED, run, serve
from perfdash.local.services import ROOT
from perfdash.local.supervisor import StartFailed, Stopped

EXPECTED = (
    AlreadyRunning, BackupRefused, ClusterFailed, DirectoryRefused, MachineRefused, PortTaken,
    StartFailed, Stopped,
)  # fmt: skip


LATER = ("status", "stop", "manage")
"""Subcommands of script/server that may stand behind an option; without one it serves."""


def main(arguments: list[str]) -> int:
    """Run one subcommand and give the exit code."""
    options = _parser().parse_args(in_order(arguments))
    try:
        if options.subcommand == "run":
            return _run(options.command)
        if options.subcommand == "status":
            directory = DataDirectory.existing(options.data)
            return status.report(directory, sys.stdout, as_json=options.json)
        if options.subcommand == "manage":
            directory = DataDirectory.existing(options.data)
            return running.manage(directory, options.command, sys.stderr)
        if options.subcommand == "stop":
            return running.stop(DataDirectory.existing(options.data), sys.stdout)
        return _serve(options)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    except EXPECTED as error:
        sys.stderr.write(f"{error}\n")
        return running.NOT_RUNNING if options.subcommand == "status" else 1
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        sys.stderr.write(f"The disk is full ({error.filename or options.data}): make room there.\n")
        return 1


def in_order(arguments: list[str]) -> list[str]:
    """Return the arguments with the subcommand first and then `--data`, wherever these stood.

    What follows `--` is the command's alone.
    """
    if arguments[:1] == ["run"]:
        return arguments
    word, *rest = arguments or [""]
    end = rest.index("--") if "--" in rest else len(rest)
    words, data, last = iter(rest[:end]), list[str](), rest[end + 1 :]
    others = []
    for each in words:
        if each == "--data":
            data += [each, *islice(words, 1)]
        elif each.startswith("--data="):
            data.append(each)
        else:
            others.append(each)
    if word == "serve" and others[:1] and others[0] in LATER:
        word = others.pop(0)
    return [word, *data, *others, *last]


def _serve(options: argparse.Namespace) -> int:
    if options.backup:
        return backup(DataDirectory.existing(options.data), options.backup, sys.stdout)
    if options.restore:
        return restore(options.data, options.restore, partial(_confirmed, options), sys.stdout)
    directory = DataDirectory(options.data)
    try:
        directory.lock()
    except AlreadyRunning:
        if options.reset:
            sys.stderr.write("perfdash is running; stop it before --reset.\n")
            return 1
        return running.greet_again(directory, sys.stdout)
    if options.reset:
        question = f"Delete {directory.path} with all campaigns and results?"
        if not _confirmed(options, question):
            sys.stderr.write("Nothing was deleted. --yes confirms without a question.\n")
            return 1
        sys.stdout.writelines(f"{line}\n" for line in ownership.claim(directory))
        directory.delete()
        directory = DataDirectory(options.data)
        directory.lock()
    return serve(directory, options.port)


def _confirmed(options: argparse.Namespace, question: str) -> bool:
    if options.yes or not sys.stdin.isatty():
        return bool(options.yes)
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perfdash.local", description=__doc__)
    commands = parser.add_subparsers(dest="subcommand", required=True)
    server = commands.add_parser(
        "serve",
        prog="script/server",
        help="start perfdash and everything that it needs",
        description="Starts perfdash and everything that it needs. With DATABASE_URL or BROKER_URL"
        " set it uses that server and starts none of its own.",
        epilog="script/server status tells how it is, script/server stop ends it.",
    )
    server.add_argument("--port", type=_port, help="of the web server (default: 8000, or the next)")
    _add_data(server)
    others = server.add_mutually_exclusive_group()
    others.add_argument("--reset", action="store_true", help="delete all data and start anew")
    others.add_argument(
        "--backup",
        type=Path,
        metavar="FILE",
        help="save database and keys to a file, whether perfdash runs or not; starts nothing",
    )
    others.add_argument(
        "--restore",
        type=Path,
        metavar="FILE",
        help="replace all data by a backup's; what was there stays beside it; starts nothing",
    )
    server.add_argument(
        "--yes", action="store_true", help="confirm --reset or --restore without a question"
    )
    teller = commands.add_parser(
        "status",
        prog="script/server status",
        help="tell how a running perfdash is",
        description="Tells how perfdash is. Exit code: 0 where it runs, 3 where it does not.",
    )
    _add_data(teller)
    teller.add_argument("--json", action="store_true", help="for programs")
    stopper = commands.add_parser(
        "stop",
        prog="script/server stop",
        help="stop a running perfdash",
        description="Stops perfdash in order, and returns when it has ended.",
    )
    _add_data(stopper)
    manager = commands.add_parser(
        "manage",
        prog="script/server manage",
        help="run a command of manage.py on a running perfdash",
        description="Runs a command of manage.py with the settings of a running perfdash. Such as:"
        " script/server manage create_token owner --name laptop",
    )
    _add_data(manager)
    manager.add_argument("command", nargs=argparse.REMAINDER)
    runner = commands.add_parser("run", help="run a command beside a database and a broker")
    runner.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=ROOT / ".perfdash",
        help="where everything is kept (default: .perfdash)",
    )


def _port(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is not within 1 to 65535")
    return number


def _run(command: list[str]) -> int:
    """Give the command's exit code, and one that none of ours has where database or broker fail it.

    A caller may try what failed once more, but not what was never run.
    """
    try:
        return run(command)
    except EXPECTED as error:
        sys.stderr.write(f"{error}\n")
    except Exception:  # noqa: BLE001 - shown, and told apart by the code
        traceback.print_exc()
    return FOUNDATIONS_FAILED


def _let_go_of_output() -> None:
    """What a full disk does not take from us at the very end is no reason for another exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    code = main(sys.argv[1:])
    _let_go_of_output()
    sys.exit(code)
