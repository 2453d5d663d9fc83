"""What keeps a message from a chat."""


class ChatFailed(Exception):
    """It was not sent; the message says why, and holds no secret of the address."""


class BadAddress(ValueError):
    """The address is none of a chat service that is offered; the message says what to give."""
