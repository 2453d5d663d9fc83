"""What may be written in a comment."""

from django.core.exceptions import ValidationError

from campaigns.kit.errors import Invalid
from campaigns.kit.forms import Text

LONGEST = 5000
"""Letters: some texts of Markdown take time that grows with the square of their length."""


def checked(text: str) -> str:
    """Give the text as it is stored. Raise Invalid, of the field `text`."""
    try:
        return str(Text(max_length=LONGEST).clean(text.replace("\r\n", "\n").replace("\r", "\n")))
    except ValidationError as error:
        messages = [
            "Write something." if each.code == "required" else " ".join(each.messages)
            for each in error.error_list
        ]
        raise Invalid({"text": messages}) from None
