"""The command line of script/pulp: `start`, `switch`, `stop`, `status`."""

import argparse
import fcntl
import os
import re
import sys
import time
from pathlib import Path

from perfdash.local.directory import AlreadyRunning
from perfdash.local.pulp import running, status
from perfdash.local.pulp.choices import Wishes
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.state import State
from perfdash.local.pulp.switching import FAILURES, switch
from perfdash.local.services import ROOT

EXPECTED = (AlreadyRunning, *FAILURES)
DEFAULT = ROOT / ".perfdash-pulp"
BUSY_SECONDS = 120.0  # another start or stop is done by then


def main(arguments: list[str]) -> int:
    """Run one subcommand and give the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.subcommand == "start":
            return _start(options)
        if options.subcommand == "switch":
            return _switch(options)
        if not (options.data / PulpDirectory.marker).is_file():
            sys.stdout.write(f"No Pulp was ever started in {options.data}.\n")
            return status.NOT_READY if options.subcommand == "status" else 0
        if options.subcommand == "status":
            directory = PulpDirectory.existing(options.data)
            return status.report(directory, sys.stdout, as_json=options.json)
        return _stop(options)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; script/pulp stop ends what runs already.\n")
        return 130
    except EXPECTED as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _start(options: argparse.Namespace) -> int:
    directory = _locked(PulpDirectory(options.data))
    return _tell(running.start(directory, _wishes(options), _say))


def _switch(options: argparse.Namespace) -> int:
    """Wait for another switch, which may go on although whoever began it has left, and switch then."""
    home = options.data.absolute()
    home.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(home, os.O_RDONLY)
    end = time.monotonic() + BUSY_SECONDS
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise AlreadyRunning(f"Another script/pulp switch uses {home}.") from None
                time.sleep(0.1)
            else:
                return _tell(switch(home, options.version, _wishes(options), _say))
    finally:
        os.close(descriptor)


def _wishes(options: argparse.Namespace) -> Wishes:
    return Wishes(
        port=options.port,
        content_port=options.content_port,
        workers=options.workers,
        rpm=options.rpm,
        fast_auth=options.fast_auth,
        core=getattr(options, "core", None),
        password_file=options.password_file,
    )


def _tell(state: State) -> int:
    sys.stdout.write(
        f"Pulp is ready: {state.base_url}\n"
        f"  user {state.user}, password {state.password}\n"
        f"  content {state.content_url}/pulp/content/\n"
        f"  state   {PulpDirectory.existing(Path(state.data)).state}\n"
    )
    return 0


def _stop(options: argparse.Namespace) -> int:
    directory = _locked(PulpDirectory.existing(options.data))
    running.stop(directory, _say)
    if options.purge:
        directory.delete()
        _say(f"Deleted {directory.path}.")
    return 0


def _locked(directory: PulpDirectory) -> PulpDirectory:
    """Wait for another start or stop. Raise AlreadyRunning where it takes too long."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            directory.lock()
        except AlreadyRunning:
            if time.monotonic() > end:
                raise
        else:
            return directory


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="script/pulp", description="A real Pulp 3 on this machine, without containers."
    )
    commands = parser.add_subparsers(dest="subcommand", required=True)
    starter = commands.add_parser(
        "start",
        help="install and start what is missing, and return when Pulp is ready",
        description="Installs and starts what is missing. What no option names stays as it was.",
    )
    _add_data(starter)
    starter.add_argument(
        "--core",
        type=_version,
        metavar="VERSION",
        help="of pulpcore, such as 3.105.0 (default: the pinned one)",
    )
    _add_wishes(starter)
    switcher = commands.add_parser(
        "switch",
        help="run another version of pulpcore on the same ports",
        description="Stops the version that runs and starts another, which has a directory of its own in DIR: environment, "
        "database and files. Where it cannot be installed, the other goes on; where it cannot be started, the other is started again.",
    )
    switcher.add_argument("version", type=_version, help="of pulpcore, such as 3.105.0")
    _add_data(switcher)
    _add_wishes(switcher)
    stopper = commands.add_parser("stop", help="stop it, and leave no process behind")
    _add_data(stopper)
    stopper.add_argument("--purge", action="store_true", help="delete everything, too")
    teller = commands.add_parser(
        "status",
        help="tell how it is",
        description="Tells how Pulp is. Exit code: 0 where it is ready, 3 where it is not.",
    )
    _add_data(teller)
    teller.add_argument("--json", action="store_true", help="for programs")
    return parser


def _add_wishes(starter: argparse.ArgumentParser) -> None:
    starter.add_argument("--port", type=_port, help="of the API (default: 24817, or the next)")
    starter.add_argument(
        "--content-port", type=_port, help="of the content app (default: 24816, or the next)"
    )
    starter.add_argument("--workers", type=_workers, help="tasks at once, 1 to 16 (default: 1)")
    starter.add_argument(
        "--rpm", action="store_true", default=None, help="install pulp_rpm as well"
    )
    starter.add_argument(
        "--fast-auth",
        action=argparse.BooleanOptionalAction,
        help="hash admin's password with MD5: quick for tests, unlike a real server",
    )
    starter.add_argument(
        "--password-file", type=Path, metavar="FILE", help="with admin's password (default: random)"
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=DEFAULT,
        help=f"where everything is kept (default: {DEFAULT.name})",
    )


def _port(text: str) -> int:
    return _number(text, 1, 65535)


def _workers(text: str) -> int:
    return _number(text, 1, 16)


def _version(text: str) -> str:
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise argparse.ArgumentTypeError(f"{text} is no version of pulpcore, such as 3.105.0")
    return text


def _number(text: str, least: int, most: int) -> int:
    number = int(text)
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{number} is not within {least} to {most}")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
