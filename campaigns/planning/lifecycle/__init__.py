"""The life of a campaign and of its runs.

Each function changes rows in one transaction and sends nothing; the caller starts dispatch.
`campaigns` and `runs` hold the steps, `guards` what forbids one, `planning` what is planned, `rows`
what they share. `confirmed_name` is what a person typed as the name of a production server.
"""

from campaigns.planning.lifecycle.approval import takes_two, waiting_of
from campaigns.planning.lifecycle.campaigns import (
    cancel,
    extend,
    launch,
    pause,
    resume,
    try_one,
    try_or_request_approval,
)
from campaigns.planning.lifecycle.guards import name_to_confirm, production_server
from campaigns.planning.lifecycle.planning import design_of
from campaigns.planning.lifecycle.runs import cancel_run, exclude, include, run_again
from campaigns.planning.lifecycle.second_person import approve, refuse, withdraw

__all__ = [
    "approve",
    "cancel",
    "cancel_run",
    "design_of",
    "exclude",
    "extend",
    "include",
    "launch",
    "name_to_confirm",
    "pause",
    "production_server",
    "refuse",
    "resume",
    "run_again",
    "takes_two",
    "try_one",
    "try_or_request_approval",
    "waiting_of",
    "withdraw",
]
