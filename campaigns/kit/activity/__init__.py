"""Keeps the record of who did what: one row each, in the transaction of what it tells.

`actions` has the words, `acting` who acts and by which means, `recording` writes the rows,
`signing` and `tokens` record how people and programs come in.
"""

from campaigns.kit.activity.acting import by_means, by_request, set_means, token_means
from campaigns.kit.activity.actions import Action
from campaigns.kit.activity.recording import record

__all__ = ["Action", "by_means", "by_request", "record", "set_means", "token_means"]
