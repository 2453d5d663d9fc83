"""Errors of delivering a message. Their texts are shown to the channel's owner."""


class DeliveryFailed(Exception):
    """An attempt failed, and is repeated later. wait_seconds: the wait that the receiver requests."""

    def __init__(self, text: str, wait_seconds: float = 0.0) -> None:
        super().__init__(text)
        self.wait_seconds = wait_seconds


class Unwanted(DeliveryFailed):
    """The receiver wants no more messages: the channel is switched off."""
