"""Where content of a target is: a path below its base URL, or a whole URL on it. Pure but for the errors of a form."""

from urllib.parse import quote, urlsplit

from django.core.exceptions import ValidationError

from campaigns.kinds.programs.downloading import PATH_CHARACTERS
from campaigns.kit.network import BadUrl, parse_url


def check_place(value: str) -> None:
    """Raise ValidationError where the text is neither a path below the target nor a URL."""
    if not value.isprintable() or any(character in value for character in " ?#\\"):
        raise ValidationError("Give a plain path or URL, without blanks, ?, # or backslashes.")
    path = value
    if "://" in value:
        try:
            parse_url(value)
        except BadUrl as error:
            raise ValidationError(str(error)) from None
        path = urlsplit(value).path
    if ".." in path.split("/"):
        raise ValidationError("Give the path without `..`.")


def url_of(base_url: str, written: str) -> str:
    """Return the URL of a place: a whole URL as it is, a path below the base URL."""
    if "://" in written:
        return written
    path = quote(written.lstrip("/"), safe=PATH_CHARACTERS + "%")
    return f"{base_url.rstrip('/')}/{path}"
