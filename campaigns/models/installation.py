"""The identifier of this perfdash."""

from secrets import token_hex

from django.db import models


def new_name() -> str:
    """Return an identifier that no other perfdash has made: eight hexadecimal digits."""
    return token_hex(4)


class Installation(models.Model):
    """The only row: the identifier that is in the names of all that this perfdash makes on targets.

    It is made once and never changed: under another one, perfdash does not remove what earlier runs left.
    """

    name = models.CharField(max_length=8, default=new_name, editable=False)

    def __str__(self) -> str:
        return self.name
