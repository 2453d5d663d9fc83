"""Errors of delivering a message. Their texts are shown to the channel's owner."""


class DeliveryFailed(Exception):
    """A try failed; it is made again later. wait_seconds: not before, as the receiver asks."""

    def __init__(self, text: str, wait_seconds: float = 0.0) -> None:
        super().__init__(text)
        self.wait_seconds = wait_seconds


class Unwanted(DeliveryFailed):
    """The receiver wants nothing more, ever: the channel is switched off."""
