"""The error of a file that cannot be read."""

from typing import NoReturn

from campaigns.kit.errors import BadFile


def refuse(where: str, message: str) -> NoReturn:
    """Raise BadFile with one problem."""
    raise BadFile([(where, message)])
