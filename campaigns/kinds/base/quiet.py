"""Names of the proof that a target is quiet while another one of its campaign is measured.

They share a machine or an upstream, so work on the idle one would slow the measured one. The proof is stored with the run, and judges nothing: the
answer says where it is missing.
"""

from campaigns.kinds.base.values import Proof

QUIET = "quiet meanwhile: "
"""Begins the name of the proof; the name of the target follows."""
IS_QUIET = "quiet"
NO_TASK_LIST = "not proved: it answers, and has no list of tasks"
MOST_LETTERS = 100


def quiet_proof(name: str, why: str) -> Proof:
    """Return the proof of a target of this name. why: it is not quiet, or not proved to be; empty where it is."""
    return Proof(f"{QUIET}{name}"[:MOST_LETTERS], "any", why or IS_QUIET, "", ok=True)


def busy_text(tasks: int) -> str:
    """Return that tasks are at work; empty where there are none."""
    return f"not quiet: {tasks} {'task is' if tasks == 1 else 'tasks are'} at work" if tasks else ""
