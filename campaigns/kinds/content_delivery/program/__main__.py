"""The program that fetches: `python -m campaigns.kinds.content_delivery.program`."""

from campaigns.kinds.content_delivery.program.crew import Crew
from campaigns.kinds.load.generator import TooManyHosts, run_work
from campaigns.kinds.load.job import Job
from campaigns.kinds.programs.lifeline import Lifeline, run
from campaigns.kit import kernel
from campaigns.kit.mappings import ProgramResult


def main(lifeline: Lifeline) -> ProgramResult:
    """Fetch what the request says."""
    request = lifeline.request
    parallel = int(request["parallel"])
    hosts = len(Job.from_request(request).schedule.numbers)
    if problem := lacking_ports(hosts * parallel):
        raise TooManyHosts(problem)
    return run_work(lifeline, lambda part: Crew(part, request), connections_a_host=parallel)


def lacking_ports(connections: int) -> str:
    """Return that this machine has too few local ports for so many connections; empty where it has enough."""
    ports = kernel.local_ports()
    if not ports or connections <= ports.every:
        return ""
    return (
        f"{connections:,} connections at a time need as many local ports, and this machine has {ports.every:,} for one address "
        "of a target: use more generators, fewer hosts, or fewer downloads at a time."
    )


if __name__ == "__main__":
    run(main)
