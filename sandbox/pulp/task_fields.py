"""What can be sent about tasks."""

from datetime import datetime
from typing import Any

from sandbox.pulp import fields
from sandbox.pulp.fields import Invalid, Rejected, checked
from sandbox.pulp.tasks import FINAL, State

_WRONG_TIME = (
    "Datetime has wrong format. Use one of these formats instead:"
    " YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."
)


def check_cancel(body: object) -> None:
    """Want the one thing that a task can be told. Raise Invalid."""
    wanted = checked(body, {"state": fields.anything}, required=("state",))["state"]
    if wanted != State.CANCELED:
        raise Invalid({"state": ["The only acceptable value for 'state' is 'canceled'."]})


def moment(value: Any) -> datetime:
    """Want an instant."""
    try:
        return datetime.fromisoformat(value).astimezone()
    except (TypeError, ValueError):
        raise Rejected(_WRONG_TIME) from None


def final_states(value: Any) -> list[str]:
    """Want a list of states in which tasks end."""
    final = [state.value for state in FINAL]
    return [fields.choice(*final)(state) for state in fields.listing(value)]
