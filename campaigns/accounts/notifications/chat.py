"""Sends messages to chat services."""

from campaigns.accounts.notifications import chat_services
from campaigns.accounts.notifications.errors import DeliveryFailed
from campaigns.accounts.notifications.messages import Message
from campaigns.accounts.notifications.rules import notification_rules
from campaigns.kit.encryption import decrypt
from campaigns.models import Delivery


def send(delivery: Delivery, message: Message) -> None:
    """Send it. Raise DeliveryFailed where it was not taken."""
    address = decrypt(delivery.channel.address)
    try:
        chat_services.send(
            address, harmless(message.subject), harmless(message.text), notification_rules()
        )
    except chat_services.ChatFailed as failure:
        raise DeliveryFailed(str(failure)) from None


def harmless(text: str) -> str:
    """Let nothing that somebody wrote call a whole channel together, as @everyone or <!here> would."""
    return text.replace("@", "@\u200b").replace("<", "<\u200b")
