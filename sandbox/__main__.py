"""`python -m sandbox`: serves until SIGTERM, SIGINT, or, with --until-eof, the end of its input."""

import argparse
import asyncio
import json
import os
import signal
import ssl
import sys
from pathlib import Path

import uvloop

from sandbox.katello import server as katello_server
from sandbox.katello.authority import Authority
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.control import split
from sandbox.katello.machine import Machine
from sandbox.pulp import server as pulp_server
from sandbox.pulp.behaviour import Behaviour
from sandbox.server import GRACE_SECONDS, start


def _behaviour(text: str) -> Behaviour:
    try:
        return Behaviour.of(json.loads(text))
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def _katello(text: str) -> tuple[KatelloBehaviour, Machine]:
    try:
        return split(json.loads(text), KatelloBehaviour(), Machine())
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox",
        description="A simulated server of file and RPM repositories; its page / explains the paths.",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099, help="0 takes a free one")
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="certificate, PEM")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, PEM")
    parser.add_argument(
        "--grace", type=float, default=GRACE_SECONDS, metavar="SECONDS",
        help="how long answers under way may last after a signal",
    )  # fmt: skip
    parser.add_argument(
        "--until-eof", action="store_true", help="also stop at the end of the input, a pipe"
    )
    parser.add_argument(
        "--pulp-port", type=int, metavar="PORT",
        help="also simulate Pulp 3 there; 0 takes a free port",
    )  # fmt: skip
    parser.add_argument(
        "--pulp", type=_behaviour, default=Behaviour(), metavar="JSON",
        help='how it behaves, as in {"workers": 2}',
    )  # fmt: skip
    parser.add_argument(
        "--katello-port", type=int, metavar="PORT",
        help="also simulate Katello there; 0 takes a free port",
    )  # fmt: skip
    parser.add_argument(
        "--katello-tls-port", type=int, metavar="PORT",
        help="and there over TLS, where hosts register; 0 takes a free one",
    )  # fmt: skip
    parser.add_argument(
        "--katello-ca", type=Path, metavar="FILE",
        help="where its CA is kept, PEM with the key; made at the first start",
    )  # fmt: skip
    parser.add_argument(
        "--katello", type=_katello, default=(KatelloBehaviour(), Machine()), metavar="JSON",
        help='how it behaves, as in {"sync_seconds": 5}',
    )  # fmt: skip
    arguments = parser.parse_args()
    if (arguments.tls_cert is None) != (arguments.tls_key is None):
        parser.error("--tls-cert and --tls-key belong together: give both or none")
    for option, file in (("--tls-cert", arguments.tls_cert), ("--tls-key", arguments.tls_key)):
        if file is not None and not file.is_file():
            parser.error(f"{option}: {file} is not a file")
    ports = {"--port": arguments.port, "--pulp-port": arguments.pulp_port,
             "--katello-port": arguments.katello_port,
             "--katello-tls-port": arguments.katello_tls_port}  # fmt: skip
    if arguments.katello_tls_port is not None and arguments.katello_port is None:
        parser.error("--katello-tls-port needs --katello-port, where it is steered")
    for option, port in ports.items():
        if port is not None and not 0 <= port <= 65535:
            parser.error(f"{option}: a number from 0 to 65535")
    return arguments


def _stop_at_eof(stopped: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        asyncio.get_running_loop().remove_reader(sys.stdin)
        stopped.set()


async def _serve(arguments: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    tls = (arguments.tls_cert, arguments.tls_key) if arguments.tls_cert else None
    server = await start(arguments.host, arguments.port, tls=tls)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if arguments.until_eof:
        loop.add_reader(sys.stdin, _stop_at_eof, stopped)
    sys.stdout.write(f"sandbox listening on {server.base_url}\n")
    pulp = None
    if arguments.pulp_port is not None:
        pulp = await pulp_server.start(arguments.host, arguments.pulp_port, arguments.pulp)
        sys.stdout.write(f"simulated Pulp listening on {pulp.base_url}\n")
    katello = None
    authority = Authority.kept(arguments.katello_ca) if arguments.katello_ca else None
    if arguments.katello_port is not None:
        behaviour, machine = arguments.katello
        katello = await katello_server.start(
            arguments.host, arguments.katello_port, behaviour, machine=machine,
            tls_port=arguments.katello_tls_port, authority=authority,
        )  # fmt: skip
        addresses = " and ".join(filter(None, (katello.base_url, katello.tls_url)))
        sys.stdout.write(f"simulated Katello listening on {addresses}\n")
    sys.stdout.flush()
    await stopped.wait()
    if katello:
        await katello.stop()
    if pulp:
        await pulp.stop()
    await server.stop(arguments.grace)


def main() -> None:
    """Serve; exit 1 with a sentence where that is impossible."""
    arguments = _arguments()
    try:
        uvloop.run(_serve(arguments))
    except ssl.SSLError as error:
        files = f"{arguments.tls_cert} and {arguments.tls_key}"
        sys.exit(f"sandbox: {files} are no certificate and key in PEM that fit: {error}")
    except OSError as error:
        ports = [
            str(p)
            for p in (
                arguments.port,
                arguments.pulp_port,
                arguments.katello_port,
                arguments.katello_tls_port,
            )
            if p is not None
        ]
        address = f"{arguments.host}:{' or '.join(ports)}"
        sys.exit(f"sandbox: cannot listen on {address}: {error}; try another --host or --port")


if __name__ == "__main__":
    main()
