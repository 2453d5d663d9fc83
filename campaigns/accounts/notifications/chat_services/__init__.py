"""Chat services, through apprise, in a program of its own that keeps to the rules of addresses. No Django.

`services` says which there are and reads an address; `program` sends one message; `guard` is what keeps
it, and every library in it, to the rules; `running` starts it and ends it when its time is over.
"""

from campaigns.accounts.notifications.chat_services.errors import ChatFailed
from campaigns.accounts.notifications.chat_services.running import send
from campaigns.accounts.notifications.chat_services.services import LABELS, Place, place_of

__all__ = ["LABELS", "ChatFailed", "Place", "place_of", "send"]
