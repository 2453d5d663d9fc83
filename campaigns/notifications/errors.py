"""What keeps a message from being delivered; the words are shown to the channel's owner."""


class DeliveryFailed(Exception):
    """A try failed; it is made again later."""


class Unwanted(DeliveryFailed):
    """The receiver wants nothing more, ever: the channel is switched off."""
