"""Notify people of what happened, through the channels that they chose.

A function that changes something announces it with a row in the outbox, in the same transaction. `recipients` turns the row into one
delivery for each channel that subscribes to it; `claiming` claims deliveries, one per channel at a
time, and records how they ended; `delivering` checks that the person may still see the subject, and
sends; `delivery_threads` runs it in threads of the control worker. `messages` writes the text, `mail`
and `webhook` carry it. `channels` is what people change.

No message is lost when a process is killed: a claimed delivery without a recorded end is tried again when
its claim expires. It may arrive twice where a process is killed between the
receiver's answer and the record of it; every attempt at a delivery has the same id.
"""

from campaigns.accounts.notifications.delivery_threads import deliver_in_threads
from campaigns.accounts.notifications.recipients import forget_old

__all__ = ["deliver_in_threads", "forget_old"]
