"""An engine in a process whose name service answers otherwise each time. Run by `run_program`.

The request says so: `"rebinding": {"engine": module, "name": host, "answers": [[address, ...], ...]}`;
the last answer stays.
"""

import socket
from importlib import import_module
from typing import Any

from campaigns.kinds.programs import lifeline
from campaigns.kit.mappings import ProgramResult


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Replace the name service, and be the engine."""
    told = keeper.request["rebinding"]
    rebind(told["name"], told["answers"])
    result: ProgramResult = import_module(told["engine"]).main(keeper)
    return result


def rebind(name: str, answers: list[list[str]]) -> None:
    """Let `getaddrinfo` give one answer after the other for a name."""
    system = socket.getaddrinfo
    left = list(answers)

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if host != name:
            return system(host, port, *args, **kwargs)
        answer = left.pop(0) if len(left) > 1 else left[0]
        found: list[Any] = []
        for address in answer:
            found += system(address, port, type=socket.SOCK_STREAM)
        return found

    socket.getaddrinfo = getaddrinfo


if __name__ == "__main__":
    lifeline.run(main)
