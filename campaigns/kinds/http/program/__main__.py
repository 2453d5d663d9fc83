"""The program that plays a scenario: `python -m campaigns.kinds.http.program`.

Besides the fields of `load.job`: `scenario`, `table`, `fixed` (texts, as `read_scenario` takes them), `taken` (values of the steps before
the load), `connections` (kept, each), `sender`, `attempt`, `may_be_overloaded` (an open loop is not judged by how much of it began in
time), and `user` and `password` of the target. A scenario of one plain request goes the way of `load.plain`, which costs less than half.
"""

from collections.abc import Mapping
from typing import Any

from campaigns.kinds.http.program.compiling import COOKIES, Compiled, Values
from campaigns.kinds.http.program.playing import Cast, compiled_of
from campaigns.kinds.http.program.reading import Loaded, read_scenario
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.generator import run_work
from campaigns.kinds.load.part import Part, Work
from campaigns.kinds.load.plain import Client, Crew, Link
from campaigns.kinds.programs import lifeline
from campaigns.kit import redaction
from campaigns.kit.mappings import ProgramRequest, ProgramResult

OF_A_HOST = frozenset({"host", "attempt", "target_user", "target_password"})
"""Names whose value a host keeps, besides columns that have a row a host."""


class PlainCrew(Crew):
    """Plain load for a scenario of one step whose request each host repeats."""

    def __init__(self, part: Part, request: ProgramRequest, loaded: Loaded, step: Compiled) -> None:
        def data(number: int) -> bytes:
            return step.build(_values(request, loaded, number))

        super().__init__(part, request, data, step.judge.statuses)
        self.step = step

    def failed(
        self,
        client: Client,
        failure: LoadFailed,
        *,
        retry: bool | None = None,
        link: Link | None = None,
    ) -> None:
        """Count a failure, and quote nothing of the answer to a secret."""
        if self.step.sends_secret:
            failure = failure.without_quotes()
        super().failed(client, failure, retry=retry, link=link)

    def result(self) -> ProgramResult:
        """Return what all scenarios return: numbers of rounds, and of requests by step."""
        ended = sum(client.todo - client.left for client in self.clients)
        answered = ended - self.unanswered
        failed = sum(client.failures for client in self.clients)
        name = self.step.name
        return {
            **super().result(),
            "is_plain": True,
            "hosts_done": max(0, ended - failed),
            "hosts_failed": failed,
            "rounds": ended + self.in_flight,
            "resends": 0,
            "steps_sent": {name: answered + self.lost},
            "steps_answered": {name: answered},
            "steps_unanswered": {name: self.unanswered + self.in_flight},
            "steps_failed": {name: failed},
            "steps_left_out": {name: 0},
            "steps_lacking": {name: 0},
        }


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Play the scenario of the request."""
    request = keeper.request
    for name in ("password", "token"):
        redaction.remember(str(request.get(name, "")))
    loaded = read_scenario(request["scenario"], request.get("table", ""), request.get("fixed", ""))

    def make(part: Part) -> Work:
        place = part.job.pinned()
        steps = compiled_of(loaded, request, place.host_header, place.scheme)
        if is_plain(loaded, request, steps):
            return PlainCrew(part, request, loaded, steps[0])
        return Cast(part, request, loaded)

    return run_work(keeper, make, one_request_a_host=True)


def is_plain(loaded: Loaded, request: ProgramRequest, steps: list[Compiled]) -> bool:
    """Return whether each host repeats one and the same request, and only the status of its answer counts."""
    only, scenario = steps[0], loaded.scenario
    constant = OF_A_HOST | set(request.get("taken", {}))
    if scenario.rows == "host":
        constant |= set(loaded.columns)
    return (
        len(steps) == 1
        and only.named <= constant
        and only.judge.only_status
        and (not only.judge.statuses or 200 in only.judge.statuses)
        and only.step.weight == 1
        and only.step.think is None
        and only.may_repeat
        and COOKIES not in only.named
        and request.get("connections", "kept") == "kept"
    )


def _values(request: ProgramRequest, loaded: Loaded, number: int) -> Values:
    taken: Mapping[str, Any] = request.get("taken", {})
    return {
        **{name: column[number % len(column)] for name, column in loaded.columns.items()},
        **taken,
        "host": number,
        "attempt": request.get("attempt", 0),
        "target_user": request.get("user", ""),
        "target_password": request.get("password", ""),
    }


if __name__ == "__main__":
    lifeline.run(main)
