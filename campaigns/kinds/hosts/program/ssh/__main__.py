"""The program itself: `python -m campaigns.kinds.hosts.program.ssh`."""

from campaigns.kinds.hosts.program.ssh.crew import SshCrew
from campaigns.kinds.load import generator
from campaigns.kinds.programs.lifeline import Lifeline, run
from campaigns.kit.mappings import ProgramResult


def main(lifeline: Lifeline) -> ProgramResult:
    """Hold the virtual hosts of the request."""
    return generator.run_work(
        lifeline, lambda part: SshCrew(part, lifeline.request), connections_a_host=2
    )


if __name__ == "__main__":
    run(main)
