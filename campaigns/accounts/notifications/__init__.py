"""Tells people what happened, by the ways that they chose.

`announcing` has put a row into the outbox, in the transaction of what it tells. `outbox` makes one
delivery of it for each channel that wants it; `claiming` hands deliveries out, one a channel at a time,
and notes how they ended; `delivering` looks whether the person may still know, and sends; `beside` does
so in threads of the control worker. `messages` writes the text, `mail` and `webhook` carry it.
`channels` is what people change.

Nothing is lost, whoever is killed: what was claimed and neither delivered nor given up is tried again
when its claim is over. It may come twice where somebody is killed between the receiver's answer and the
note of it; every try of a delivery bears the same id.
"""

from campaigns.accounts.notifications.delivery_threads import deliver_in_threads
from campaigns.accounts.notifications.outbox import forget_old

__all__ = ["deliver_in_threads", "forget_old"]
